package oracle

// Rule is what the monitor asks for, in one sentence for readers.
func (m Monitor) Rule() string { return sentences[m] }

var sentences = map[Monitor]string{
	Exclusion:    "no two live clients believe at once that they hold the lock; one whose key was taken away has a third of a lease to be told.",
	Damage:       "the ledger never takes two orders of one name.",
	WrongDelete:  "no client removes or overwrites what another one installed, nor an earlier call what a later call installed.",
	WrongExtend:  "no process gives a new lease to what another one installed.",
	Watchdog:     "where a watchdog renews, the key of a living holder does not expire, and nothing renews a hold that is over.",
	RenewalCount: "a process renews its lock at most four times in a lease, however often its owner has taken it.",
	EndlessHold:  "no hold that keeps somebody waiting lasts beyond every bound.",
	Leak:         "no key stays without a lease, none outlives a failed or finished hold by more than a moment, and none its dead owner by more than a lease.",
	Deadlock:     "nobody waits to the end of his patience for a lock that nobody alive holds, or that only he himself holds.",
	Truth:        "what a call answers agrees with what it did in Redis.",
	LossNoticed:  "a client that lost its lock learns it, at the latest when it unlocks.",
	LostWakeUp:   "nobody waits for more than a moment while the lock is free.",
	BoundedWait:  "no waiter is overtaken by a later one of its own process.",
	HoldCount:    "a client's count in Redis is how often it has taken the lock and not given it back.",
	CommandCount: "who waits for a message sends a few commands to begin with, a few when the lock comes free, a few each lease, and nothing else.",
}
