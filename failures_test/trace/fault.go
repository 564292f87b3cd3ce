package trace

// ServerFault is an event of the server itself.
type ServerFault string

// The faults of Redis.
const (
	MemoryFull       ServerFault = "memory-full"
	Evicted          ServerFault = "evicted"           // the lock's key
	Flushed          ServerFault = "flushed"           // every key
	ScriptsFlushed   ServerFault = "scripts-flushed"   // every script
	Restarted        ServerFault = "restarted"         // without keys and scripts; connections break
	FailedOver       ServerFault = "failed-over"       // to a replica without the lock's keys; connections break
	Stopped          ServerFault = "stopped"           // it has lost its keys and does not answer
	Started          ServerFault = "started"           // without its keys
	ClockJumped      ServerFault = "clock-jumped"      // by the event's Bound
	SubscriptionLost ServerFault = "subscription-lost" // its connection stays open
	Gone             ServerFault = "gone"              // it does not answer
	ReplicaDelayed   ServerFault = "replica-delayed"   // each write takes the event's Bound to a replica
	ReplicaCut       ServerFault = "replica-cut"       // a replica has lost its link
	ReplicaHealed    ServerFault = "replica-healed"    // it has it back
	Promoted         ServerFault = "promoted"          // a replica takes over with what it has; connections break
)
