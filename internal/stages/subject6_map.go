package stages

import "lockkata/internal/i18n"

// Part describes a file of a lock by what it adds to the lock before.
type Part struct {
	File string
	Adds i18n.Text
	// Failures break the lock before and not this one. The lock's own tests show the rest, which
	// needs several locks or a larger world.
	Failures []string
	Tests    []string
	Skip     i18n.Text // may be skipped on a first reading
}

// map6 describes all files of stage 6, in reading order.
var map6 = []Part{
	{
		File:  "service.go",
		Adds:  "One service for all locks of a process: what they share, the clients that it refuses, and Close, which frees what is held and ends every wait.",
		Tests: []string{"TestCloseDuringLocksAndUnlocks", "TestNewServiceRefusesAClientOnWhichALockWouldNotWork"},
		Skip:  "the checks of NewService",
	},
	{
		File:  "mutex.go",
		Adds:  "The rest of the API: waiting for a limited time, Do, and the queries of a lock.",
		Tests: []string{"TestTryLockForIsErrLockedAfterTheWaitAndNotBefore", "TestPanicInDoReleasesAndGoesOn", "TestQuestionsAboutALock"},
		Skip:  "all below Do",
	},
	{
		File:  "acquire.go",
		Adds:  "A lease too short for the way to Redis is an error, a slot of a Cluster that moves is asked again, and one goroutine frees what acquires of unknown outcome got. The rest is TryLock of 6.5.",
		Tests: []string{"TestLeaseThatIsTooShortForTheWayToRedisIsAnError", "TestCommandIsSentAgainAfterTryAgain", "TestCleanUpOfALongLeaseSendsFewCommands"},
		Skip:  "the observer in lock",
	},
	{
		File:  "hold.go",
		Adds:  "A released inner hold does not hide the outer one, and many may release at one moment.",
		Tests: []string{"TestReleasedInnerHoldDoesNotHideTheOuterOne", "TestConcurrentUnlocksReleaseAHoldOnce"},
	},
	{
		File:     "ownership.go",
		Adds:     "The last Unlock does not wait for others, a command that Redis refuses temporarily is sent again, and a TryLock does not wait behind a stuck re-entry. The rest is as in 6.5.",
		Failures: []string{"unlock-refused", "unlock-moved", "try-behind-reentry"},
		Tests:    []string{"TestLastUnlockBehindAReentryThatHangsFreesTheLock", "TestTemporaryErrorEndsNeitherAnUnlockNorAWait"},
		Skip:     "extend, finish, lose: they are as short as their names",
	},
	{
		File:     "watchdog.go",
		Adds:     "One timer for all holds instead of a goroutine each, renewals that share a command, a look at fixed leases, and an end for a hold that lasts too long.",
		Failures: []string{"fixed-lease-taken", "renewed-for-ever", "reentered-for-ever", "hold-dropped"},
		Tests:    []string{"TestAThousandHoldsNeedNoGoroutine", "TestRenewalsOfManyLocksShareCommands", "TestFixedLeaseIsToldOfItsLoss"},
		Skip:     "cause",
	},
	{
		File:  "waiters.go",
		Adds:  "A queue for the waiters of one process: the first one asks Redis, the others wait for its place.",
		Tests: []string{"TestTenWaitersOfAProcessTryOneAfterAnother", "TestWaiterThatLeavesPassesTheWakeUpOn"},
		Skip:  "what the error of a wait says",
	},
	{
		File:     "hear.go",
		Adds:     "One subscription connection for all locks that are waited for, kept for a while after the last waiter. It proves nothing, so the locks are looked at as well.",
		Failures: []string{"resubscribe-refused"},
		Tests:    []string{"TestFiftyContendedNamesNeedOneConnection", "TestSubscriptionIsKeptForAWhileAndEnds", "TestConnectionWithoutMessagesIsMadeAnew"},
	},
	{
		File:  "scripts.go",
		Adds:  "Scripts in files of their own, and errors of Redis in the lock's words. The rest is once.go and unknown.go of 6.5.",
		Tests: []string{"TestKeyThatIsNoHashIsExplained", "TestUnlockIsRepeatedAfterAPoolTimeout"},
		Skip:  "explain",
	},
	{
		File:  "options.go",
		Adds:  "The settings of a service: a limit for a hold, a fixed lease for one Lock, names of the keys, log, observer and the callback for a loss.",
		Tests: []string{"TestLeaseIsFixed", "TestPrefixNamesKeysAndChannels", "TestLossSaysWhy", "TestObserverIsToldWhatHappens"},
		Skip:  "all of it",
	},
	{
		File:  "acquire.lua",
		Adds:  "A token in Redis that cannot be right, and a key that is no lock, are errors and grant nothing.",
		Tests: []string{"TestTokenThatIsNoTokenIsAnErrorAndNoHold", "TestKeyThatIsNoHashIsExplained"},
	},
	{
		File:  "count.lua",
		Adds:  "A count gives the whole lease again, and never less. A full Redis lets it through.",
		Tests: []string{"TestReentryAndPartialUnlockGiveTheWholeLeaseAndNeverLess"},
	},
	{
		File:  "release.lua",
		Adds:  "The count 0 of 6.5 as a separate script, with a channel that the layout names.",
		Tests: []string{"TestReleaseMayBeRepeated", "TestPrefixNamesKeysAndChannels"},
	},
	{
		File:  "renew.lua",
		Adds:  "Many locks in one command. One that is gone does not fail the others.",
		Tests: []string{"TestOneBadKeyDoesNotFailTheOthersOfItsBatch"},
	},
	{
		File:  "cleanup.lua",
		Adds:  "The clean-up of 6.5 for many locks in one command.",
		Tests: []string{"TestCleanUpOfALongLeaseSendsFewCommands"},
	},
	{
		File:  "look.lua",
		Adds:  "Which locks are free, for waiters that may have missed a message.",
		Tests: []string{"TestConnectionWithoutMessagesIsMadeAnew"},
	},
	{
		File:  "force.lua",
		Adds:  "As in 6.5, with a channel that the layout names.",
		Tests: []string{"TestForceUnlockFreesWhateverIsHeld", "TestKeyThatIsNoHashIsExplained"},
	},
}
