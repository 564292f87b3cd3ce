package catalogue

// Variant is a way to set up a lock.
type Variant string

// The variants. A lock without the variant runs in its default form, with no limit or with a
// lease that is not renewed. The failure does not apply to a lock that has a watchdog and no
// fixed lease, or no second lock.
const (
	Default Variant = ""
	// The lease is not renewed. It may have another length than renewed leases.
	FixedLease Variant = "fixed lease"
	// The lease is twenty times as long as one that is renewed, and is not renewed.
	LongLease Variant = "long fixed lease"
	Limited   Variant = "max hold" // a hold ends after three leases, renewed or not
	// The process also holds a second lock, of another name, with a long lease that is not renewed.
	Beside Variant = "fixed lease beside it"
	// The second lock's lease is renewed. That of the lock itself is fixed.
	BesideRenewed Variant = "renewed lease beside it"
	// The process also takes some locks of other names, each with a long lease, or waits for them in
	// the background if another process has them.
	Crowded Variant = "waiters of other names beside it"
	// The client takes a lock of another name first, and releases it last. This works with any lock.
	Nested Variant = "nested in another"
	// Each client takes two locks, in the order in which its name lists them. This works with any lock.
	Both Variant = "two locks"
)

// Feature is something that a lock may have, and that a failure may need.
type Feature string

// The features.
const (
	Scripts  Feature = "scripts"  // it runs Lua scripts
	Watchdog Feature = "watchdog" // it renews its lease
	Reentry  Feature = "re-entry" // its owner may take it again; a [world.Counting] reports the count
	PubSub   Feature = "pub/sub"  // waiters are woken by messages
	Fencing  Feature = "fencing"  // it hands out fencing tokens
	Force    Feature = "force"    // it can be freed from outside: a [world.Forcing]
	Closing  Feature = "close"    // it has goroutines and has to be closed: an [io.Closer]
	Waits    Feature = "WAIT"     // it asks how many replicas have its key

	HoldContext Feature = "context"     // a hold has a context, which ends with it
	FixedValue  Feature = "fixed value" // all holds write one value
)
