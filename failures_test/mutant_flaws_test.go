package failures_test

// flaw is what a mutant does wrong.
type flaw int

const (
	flawless         flaw = iota
	renewsBlindly         // whoever's the key is
	renewsTooLate         // less often than once in a lease
	renewsSeconds         // the lease in seconds where Redis wants milliseconds
	leasesForHours        // the lease in milliseconds where Redis wants seconds
	renewsWithoutEnd      // a renewal may hang
	diesOfAnError         // the watchdog ends at the first error
	ignoresAnswer         // a renewal that found nothing is taken for one that worked
	trustsTheNetwork      // the lease is not counted locally
	countsFromReply       // the lease is counted from when the reply came
	startsLate            // the watchdog registers when Lock has returned
	stopsWithoutJoin      // a renewal under way goes on while Unlock deletes
	deletesFirst          // the watchdog is stopped only if the delete worked
	stopsForGood          // the watchdog of the first hold is the last
	knowsNoLimit          // a hold may last for ever
	watchesTwice          // each re-entry starts a watchdog
	countsTokens          // the token is a plain counter in Redis
	tokenAtWrite          // the token is that of the moment of the write
)
