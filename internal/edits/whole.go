package edits

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
)

const stage6 = "stage6_reentrant_pubsub/"

// whole are edits of the whole lock.
var whole = []Edit{
	{
		Name: "acquire without a look at others", File: stage6 + "acquire.lua",
		Old:     `redis.call("HLEN", KEYS[1]) > 0`,
		New:     `redis.call("HLEN", KEYS[1]) > 9`,
		Suffers: "everybody gets in",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "token from a counter alone", File: stage6 + "acquire.lua",
		Old:     `math.max(token + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))`,
		New:     `token + 1`,
		Suffers: "after a flush the tokens begin at 1 again, and the resource lets an old holder write",
		Failure: "token-after-flush", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "unlock publishes nothing", File: stage6 + "release.lua",
		Old:     `redis.call("PUBLISH", ARGV[1], "0")`,
		New:     ``,
		Suffers: "waiters sleep beside a free lock until the lease would be over",
		Failure: "waiter-leaves", Outcome: failures.Broken, Rule: oracle.LostWakeUp,
	},
	{
		Name: "counts relative instead of absolute", File: stage6 + "count.lua",
		Old:     `redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])`,
		New:     `redis.call("HINCRBY", KEYS[1], ARGV[1], 1)`,
		Suffers: "a repeated command counts twice, and the lock stays after the last Unlock",
		Failure: "inner-unlock-frees", Outcome: failures.Broken, Rule: oracle.HoldCount,
	},
	{
		Name: "renewal without a look at the owner, in a batch", File: stage6 + "renew.lua",
		Old:     `if mine == 1 then`,
		New:     `if mine ~= nil then`,
		Suffers: "a client that lost the lock renews the next one's, and is told that it still holds",
		Failure: "forced-unlock", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "lease counted from the reply", File: stage6 + "acquire.go",
		Old:     `o.token = answer`,
		New:     `o.token, o.deadline = answer, time.Now().Add(r.lease)`,
		Suffers: "a grant whose reply was slow is believed for longer than the lease",
		Failure: "slow-grant", Outcome: failures.Broken, Rule: oracle.Exclusion, Search: "exclusion/async",
	},
	{
		Name: "no clean-up after an unknown outcome", File: stage6 + "acquire.go",
		Old:     `if isUnknown(err) {`,
		New:     `if false {`,
		Suffers: "a lock whose reply was lost is held by nobody until its lease ends",
		Failure: "grant-reply-lost", Outcome: failures.Broken, Rule: oracle.Leak, Search: "leak/reply-loss",
	},
	{
		Name: "every error taken for an answer of Redis", File: stage6 + "scripts.go",
		Old:     `return code == strings.ToUpper(code)`,
		New:     `return code != ""`,
		Suffers: "a proxy that waits no longer leaves a lock that is held by nobody until its lease ends",
		Failure: "grant-answered-with-error", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "a lost hold left to its lease", File: stage6 + "hold.go",
		Old:     `left == 0 && end == ErrLost`,
		New:     `left < 0`,
		Suffers: "the key of a hold that is lost may stay for a lease after its Unlock, because Redis has renewed it",
		Failure: "renewals-unanswered", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "a subscription that is refused after a reconnect counts as heard", File: stage6 + "hear.go",
		Old:     `if broken {`,
		New:     `if false {`,
		Suffers: "after a restart of Redis waiters sleep beside a free lock until the lease would be over",
		Failure: "resubscribe-refused", Outcome: failures.Broken, Rule: oracle.LostWakeUp,
	},
	{
		Name: "an answer that will pass taken for a final one", File: stage6 + "ownership.go",
		Old:     `(silent || isPassing(err))`,
		New:     `silent`,
		Suffers: "a lock that is given back during a failover stays until its lease ends",
		Failure: "unlock-refused", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "lock commands sent again by go-redis", File: stage6 + "scripts.go",
		Old:     `NoRetry() bool { return true }`,
		New:     `NoRetry() bool { return false }`,
		Suffers: "go-redis repeats an unlock that was done, and the caller hears that the lock was lost",
		Failure: "retry-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "no attempt after the subscription is acknowledged", File: stage6 + "hear.go",
		Old:     `if q.heard || heard {`,
		New:     `if q.heard {`,
		Suffers: "a release just before the subscription is missed",
		Failure: "wake-lost", Outcome: failures.Broken, Rule: oracle.LostWakeUp, Search: "wake-up/short-pauses",
	},
	{
		Name: "wake-up taken along by a waiter that leaves", File: stage6 + "waiters.go",
		Old:     `q.signal() // the next one has to look for itself`,
		New:     ``,
		Suffers: "a waiter that gives up takes the message along, and the others sleep on",
		Failure: "wake-eaten", Outcome: failures.Broken, Rule: oracle.LostWakeUp,
	},
	{
		Name: "no timer beside the messages", File: stage6 + "hear.go",
		Old:     `time.AfterFunc(time.Until(at), `,
		New:     `time.AfterFunc(time.Until(at)+1000*time.Hour, `,
		Suffers: "nobody looks when the holder dies without a message",
		Failure: "expiry-wakes", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "loss not told", File: stage6 + "watchdog.go",
		Old:     `if err == nil && !answers[i] {`,
		New:     `if err == nil && !answers[i] && false {`,
		Suffers: "the holder works on, although its lock was taken away",
		Failure: "forced-unlock", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "lease of the service sent for a fixed one", File: stage6 + "acquire.go",
		Old:     `owner, r.millis)`,
		New:     `owner, s.millis)`,
		Suffers: "a client that asks for a short fixed lease and dies keeps the others out for the watchdog's lease",
		Failure: "last-millisecond", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "timer set by the first hold only", File: stage6 + "watchdog.go",
		Old:     `if s.wakesAt.IsZero() || at.Before(s.wakesAt) {`,
		New:     `if s.wakesAt.IsZero() {`,
		Suffers: "beside a lock with a long fixed lease none is renewed",
		Failure: "fixed-beside-renewed", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "second release of a hold told as a success", File: stage6 + "hold.go",
		Old: `		s.mu.Unlock()
		return ErrNotHeld`,
		New: `		s.mu.Unlock()
		return nil`,
		Suffers: "a client that unlocks again after an Unlock that failed is told that all went well",
		Failure: "unlock-after-failed-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "no clean-up once the service is closed", File: stage6 + "acquire.go",
		Old:     `for wait := s.short() / 60; ; wait *= 2 {`,
		New:     `for wait := s.short() / 60; ctx.Err() == nil; wait *= 2 {`,
		Suffers: "a process that ends amid an acquire leaves a key that nobody holds",
		Failure: "close-after-lost-grant", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "holds forgotten when the service is closed", File: stage6 + "service.go",
		Old:     `watched := slices.Collect(maps.Keys(s.watched))`,
		New:     `watched := slices.Collect(maps.Keys(s.watched))[:0]`,
		Suffers: "who is at work when the service is closed is told nothing, and the lease ends under it",
		Failure: "close-after-lost-grant", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "limit of the hold begun anew by a re-entry", File: stage6 + "ownership.go",
		Old:     `	return o.setCount(ctx, 1)`,
		New:     `	o.since = time.Now(); return o.setCount(ctx, 1)`,
		Suffers: "work that hangs in a loop and takes its lock in each turn keeps it for ever",
		Failure: "reentered-for-ever", Outcome: failures.Broken, Rule: oracle.EndlessHold,
	},
	{
		Name: "silent subscription trusted", File: stage6 + "waiters.go",
		Old:     `won && q.silent`,
		New:     `false && won && q.silent`,
		Suffers: "a process whose connection was forgotten waits out every lease from then on",
		Failure: "subscription-silent", Outcome: failures.Broken, Rule: oracle.LostWakeUp,
	},
}
