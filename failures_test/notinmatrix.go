package failures

// NotInMatrix are the failures that no [Locker] can show, since they need more than a lock
// of one name and one owner at a time. A test of the last stage's own judges each.
var NotInMatrix = []struct {
	ID    string
	Title string
	Test  string // in stage6_reentrant_pubsub
}{
	{"dog-starts-late", "the watchdog begins only after Lock has returned", "TestNoRenewalAfterUnlockReturned"},
	{"hold-shared-by-children", "goroutines that were handed one held context are inside together, by design", "TestGoroutinesWithOneHeldContextAreInsideTogether"},
	{"lease-reuse", "the next hold inherits a fixed lease", "TestNextHoldDoesNotInheritAFixedLease"},
	{"shared-dog-stall", "the renewal of one lock hangs, and another lock expires", "TestRenewalThatHangsDelaysNoOther"},
	{"string-meets-hash", "a lock of another kind has the same name", "TestKeyThatIsNoHashIsExplained"},
}
