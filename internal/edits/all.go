package edits

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
)

const (
	file1  = "stage1_setnx_expire/mutex.go"
	file2  = "stage2_set_nx_ex/mutex.go"
	file3  = "stage3_owner_value/mutex.go"
	file4  = "stage4_lua_unlock/mutex.go"
	file5  = "stage5_watchdog/mutex.go"
	dog5   = "stage5_watchdog/watchdog.go"
	stage6 = "stage6_reentrant_pubsub/"
)

// All are the edits, by the file that they change.
var All = []Edit{
	{
		Name: "answer of SETNX ignored", File: file1,
		Old:     `if !created {`,
		New:     `if !created && false {`,
		Suffers: "two clients are inside, whenever two come",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "lease of seconds given as milliseconds", File: file1,
		Old:     `"PEXPIRE", m.key, m.ttl.Milliseconds()`,
		New:     `"PEXPIRE", m.key, int64(m.ttl.Seconds())`,
		Suffers: "the lease is over after 30 ms instead of 30 s, and the next client comes in",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "NX dropped", File: file2,
		Old:     `"locked", "NX", "PX"`,
		New:     `"locked", "PX"`,
		Suffers: "every SET succeeds, so everybody gets in",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion, Search: "exclusion/short-pauses",
	},
	{
		Name: "PX given seconds", File: file2,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"PX", int64(m.ttl.Seconds())`,
		Suffers: "the lease is over after 30 ms instead of 30 s, and the next client comes in",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "EX given milliseconds", File: file2,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"EX", m.ttl.Milliseconds()`,
		Suffers: "a dead client's key stays for eight hours instead of 30 s",
		Failure: "crash-before-expire", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "every error taken for a no", File: file2,
		Old:     `if errors.Is(err, redis.Nil) {`,
		New:     `if err != nil {`,
		Suffers: "a Redis that is full looks like a lock that somebody else holds",
		Failure: "oom", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "comparison turned round", File: file3,
		Old:     `if value != m.value {`,
		New:     `if value == m.value {`,
		Suffers: "only a stranger's key is deleted, and one's own stays",
		Failure: "delete-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete, Search: "wrong-delete/async",
	},
	{
		Name: "one value for everybody", File: file3,
		Old:     `value := uuid.NewString()`,
		New:     `value := uuid.Nil.String()`,
		Suffers: "everybody's value is the same, so a late Unlock deletes the next one's key",
		Failure: "delete-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "value remembered before success", File: file3,
		Old:     `value := uuid.NewString()`,
		New:     `value := uuid.NewString(); m.value = value`,
		Suffers: "a TryLock that is refused makes the holder forget its own value: it can never unlock",
		Failure: "try-while-holding", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "any value taken for one's own", File: file3,
		Old:     `if value != m.value {`,
		New:     `if value == "" {`,
		Suffers: "a late Unlock deletes the next one's key",
		Failure: "delete-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "value kept after Unlock and not asked for", File: file3,
		Old:     `if value != m.value {`,
		New:     `if _ = value; m.value == "" {`,
		Suffers: "who lost the lock is told that all went well",
		Failure: "loss-hidden-at-unlock", Outcome: failures.Broken, Rule: oracle.LossNoticed,
	},
	{
		Name: "comparison turned round in Lua", File: file4,
		Old:     `== ARGV[1] then`,
		New:     `~= ARGV[1] then`,
		Suffers: "only a stranger's key is deleted, and one's own stays",
		Failure: "delete-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "DEL before the comparison", File: file4,
		Old:     `if redis.call("GET", KEYS[1]) == ARGV[1] then`,
		New:     `if redis.call("DEL", KEYS[1]) == 1 then`,
		Suffers: "a late Unlock deletes the next one's key before it looks whose it is",
		Failure: "check-then-delete", Outcome: failures.Broken, Rule: oracle.WrongDelete, Search: "wrong-delete/async",
	},
	{
		Name: "one value for each object", File: file4,
		Old:     `value := uuid.NewString()`,
		New:     `value := uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%p", m)).String()`,
		Suffers: "an Unlock that arrives late ends the same client's next hold",
		Failure: "late-unlock", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "answer of the script ignored", File: file4,
		Old:     `if deleted == 0 {`,
		New:     `if deleted < 0 {`,
		Suffers: "who lost the lock is told that all went well",
		Failure: "loss-hidden-at-unlock", Outcome: failures.Broken, Rule: oracle.LossNoticed,
	},
	{
		Name: "script sent by its hash only", File: file4,
		Old:     `unlockScript.Run(`,
		New:     `unlockScript.EvalSha(`,
		Suffers: "after a restart of Redis no Unlock works, and every lock stays until its lease ends",
		Failure: "script-flush", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "Lock gives up and says that it holds", File: file4,
		Old:     `return fmt.Errorf("stage4: wait for %s: %w", m.key, ctx.Err())`,
		New:     `return nil`,
		Suffers: "Lock returns without an error, and without the lock",
		Failure: "self-deadlock", Outcome: failures.Safe,
	},
	{
		Name: "Lock goes on after an error", File: file4,
		Old:     `if err != nil || held {`,
		New:     `if _ = err; held {`,
		Suffers: "Lock asks on and on while Redis is down, and says nothing",
		Failure: "grant-reply-lost", Outcome: failures.Safe,
	},
	{
		Name: "watchdog never started", File: file5,
		Old:     `m.watchdog.start(value)`,
		New:     `_ = value`,
		Suffers: "work that takes longer than the lease is not alone",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "renewal without a look at the owner", File: dog5,
		Old:     `if redis.call("GET", KEYS[1]) == ARGV[1] then`,
		New:     `if redis.call("EXISTS", KEYS[1]) == 1 then`,
		Suffers: "a late renewal keeps the next one's key alive, for whom nobody frees it",
		Failure: "renew-foreign", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "period longer than the lease", File: dog5,
		Old:     `time.NewTicker(w.ttl / 3)`,
		New:     `time.NewTicker(w.ttl * 2)`,
		Suffers: "the renewal comes after the lease is over",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "watchdog ended by one error", File: dog5,
		Old:     `if err == nil && renewed == 0 {`,
		New:     `if err != nil || renewed == 0 {`,
		Suffers: "one renewal that fails costs the lock, although Redis is back at once",
		Failure: "renew-blip", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "renewal given seconds", File: dog5,
		Old:     `value, w.ttl.Milliseconds()).Int()`,
		New:     `value, int64(w.ttl.Seconds())).Int()`,
		Suffers: "the first renewal cuts the lease to 30 ms, and the lock is lost",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "watchdog not stopped by Unlock", File: file5,
		Old:     `	m.watchdog.stop()`,
		New:     `	_ = m.watchdog`,
		Suffers: "after an Unlock that failed the lock is renewed for ever",
		Failure: "unlock-error-dog-lives", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
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
		Suffers: "after a flush the tokens begin at 1 again, and the fence lets an old holder write",
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
		Suffers: "who lost the lock renews the next one's, and is told that it still holds",
		Failure: "forced-unlock", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "lease counted from the reply", File: stage6 + "acquire.go",
		Old:     `newOwnership(m, r, owner, answer, sent.Add(r.lease))`,
		New:     `newOwnership(m, r, owner, answer, time.Now().Add(r.lease))`,
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
		Name: "lock commands sent again by go-redis", File: stage6 + "scripts.go",
		Old:     `NoRetry() bool { return true }`,
		New:     `NoRetry() bool { return false }`,
		Suffers: "go-redis repeats an unlock that was done, and the caller hears that the lock was lost",
		Failure: "retry-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "no attempt after the subscription is acknowledged", File: stage6 + "hear.go",
		Old:     "q.heard = q.heard || heard",
		New:     "if q.heard = q.heard || heard; heard {\ncontinue\n}",
		Suffers: "a release just before the subscription is missed",
		Failure: "wake-lost", Outcome: failures.Broken, Rule: oracle.LostWakeUp, Search: "wake-up/short-pauses",
	},
	{
		Name: "wake-up taken along by one who leaves", File: stage6 + "waiters.go",
		Old:     `q.signal() // the next one has to look for itself`,
		New:     ``,
		Suffers: "a waiter that gives up takes the message along, and the others sleep on",
		Failure: "wake-eaten", Outcome: failures.Broken, Rule: oracle.LostWakeUp, Search: "wake-up/refusal",
	},
	{
		Name: "no timer beside the messages", File: stage6 + "waiters.go",
		Old:     `timer := time.NewTimer(time.Until(q.again))`,
		New:     `timer := time.NewTimer(time.Until(q.again) + 1000*time.Hour)`,
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
}
