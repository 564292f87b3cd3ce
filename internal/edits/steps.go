package edits

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
)

const (
	step1 = stage6 + "step1_told/"
	step2 = stage6 + "step2_unknown/"
	step3 = stage6 + "step3_reentrant/"
	step4 = stage6 + "step4_wakeup/"
	step5 = stage6 + "step5_fenced/"
)

// steps are edits of the steps 6.1 to 6.5.
var steps = []Edit{
	{
		Name: "loss not told, in a step", File: step1 + "watchdog.go",
		Old:     `w.end(ErrLost)`,
		New:     `_ = w.end`,
		Suffers: "the holder works on, although its lease is over",
		Failure: "renew-partition", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "lease of a hold counted from the reply", File: step1 + "watchdog.go",
		Old:     `w.until = sent.Add(m.ttl)`,
		New:     `w.until = time.Now().Add(m.ttl)`,
		Suffers: "a grant whose reply was slow is believed for longer than the lease",
		Failure: "deadline-from-reply", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "grant whose lease is over taken", File: step1 + "mutex.go",
		Old:     `if time.Since(sent) >= m.ttl {`,
		New:     `if time.Since(sent) < 0 {`,
		Suffers: "a reply that comes after the lease lets its client in beside the next one",
		Failure: "slow-grant", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "nothing cleaned up after an unknown outcome", File: step2 + "mutex.go",
		Old:     `go m.cleanUp(owner)`,
		New:     `_ = m.cleanUp`,
		Suffers: "a lock whose reply was lost is held by nobody until its lease ends",
		Failure: "grant-reply-lost", Outcome: failures.Broken, Rule: oracle.Leak, Search: "leak/reply-loss",
	},
	{
		Name: "any error taken for an answer of Redis", File: step2 + "unknown.go",
		Old:     `return code == strings.ToUpper(code)`,
		New:     `return code != ""`,
		Suffers: "a proxy that waits no longer leaves a lock that is held by nobody until its lease ends",
		Failure: "grant-answered-with-error", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "commands sent again by go-redis", File: step2 + "once.go",
		Old:     `NoRetry() bool { return true }`,
		New:     `NoRetry() bool { return false }`,
		Suffers: "go-redis repeats a SET NX that was done, and its client hears that somebody else holds the lock",
		Failure: "retry-nx-false", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "unlock of unknown outcome taken for a loss", File: step2 + "hold.go",
		Old:     `if !deleted && !(h.unknown && time.Now().Before(w.until)) {`,
		New:     `if !deleted {`,
		Suffers: "an Unlock that was sent twice says that the lock was lost",
		Failure: "retry-unlock", Outcome: failures.Broken, Rule: oracle.Truth, Search: "truth/reply-loss",
	},
	{
		Name: "unlock of unknown outcome believed in for ever", File: step2 + "hold.go",
		Old:     `h.unknown && time.Now().Before(w.until)`,
		New:     `h.unknown`,
		Suffers: "an Unlock that finds nothing, long after one that failed, says that all went well",
		Failure: "unlock-after-failed-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "grant that came too late left in Redis", File: step2 + "mutex.go",
		Old:     `_, _ = m.free(owner) // the lease was over before the reply came: ask again`,
		New:     ``,
		Suffers: "a client that stood still before it asked is kept out by its own key, and waits for itself",
		Failure: "acquire-arrives-late", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "re-entry not counted", File: step3 + "ownership.go",
		Old:     `o.set("lock", o.count+1)`,
		New:     `o.set("lock", o.count)`,
		Suffers: "the inner Unlock frees the lock, and the outer work is not alone",
		Failure: "inner-unlock-frees", Outcome: failures.Broken, Rule: oracle.HoldCount,
	},
	{
		Name: "counts added up in Redis", File: step3 + "ownership.go",
		Old:     `redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])`,
		New:     `redis.call("HINCRBY", KEYS[1], ARGV[1], 1)`,
		Suffers: "the count in Redis runs away, and the lock stays after the last Unlock",
		Failure: "inner-unlock-frees", Outcome: failures.Broken, Rule: oracle.HoldCount,
	},
	{
		Name: "watchdog stopped by every Unlock", File: step3 + "hold.go",
		Old:     `if o.count == 1 {`,
		New:     `if o.count >= 1 {`,
		Suffers: "after an inner Unlock the outer hold is not renewed, and ends at work",
		Failure: "dog-per-reentry", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "answers waited for without a bound", File: step3 + "unknown.go",
		Old:     `m.ttl/6)`,
		New:     `6*m.ttl)`,
		Suffers: "an Unlock waits for an inner Lock that hangs, and the key stays",
		Failure: "unlock-behind-reentry", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "two counts changed at once", File: step3 + "ownership.go",
		Old:     `turn: make(chan struct{}, 1)`,
		New:     `turn: make(chan struct{}, 2)`,
		Suffers: "two re-entries at once count as one, and the lock is free while its holder is at work",
		Failure: "reentries-at-once", Outcome: failures.Broken, Rule: oracle.HoldCount,
	},
	{
		Name: "re-entry that fails without an error", File: step5 + "ownership.go",
		Old: `	if err := o.set("lock", o.count+1); err != nil {
		return nil, err
`,
		New: `	if err := o.set("lock", o.count+1); err != nil {
		return nil, nil
`,
		Suffers: "the helper is told of no error, and crashes when it uses its hold, which is nil",
		Failure: "inner-lock-fails", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "turn not given back by a re-entry that fails", File: step3 + "ownership.go",
		Old: `	defer func() { <-o.turn }()
	if err := o.set("lock", o.count+1); err != nil {
		return nil, err
	}
`,
		New: `	if err := o.set("lock", o.count+1); err != nil {
		return nil, err
	}
	<-o.turn
`,
		Suffers: "after a re-entry that Redis refuses the outer Unlock never comes back, and the key stays",
		Failure: "inner-lock-fails", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "one context for all holds of an owner", File: step3 + "hold.go",
		Old:     `	ctx, h.end = context.WithCancelCause(ctx)`,
		New:     `	if ctx, h.end = context.WithCancelCause(ctx); o.watchdog != nil { h.end = o.end }`,
		Suffers: "an inner Unlock ends the context of the outer work, which stops although the lock is held",
		Failure: "inner-unlock-frees", Outcome: failures.Broken, Rule: oracle.EarlyLoss,
	},
	{
		Name: "waiters that listen and ask all the same", File: step4 + "wait.go",
		Old:     `left + time.Millisecond`,
		New:     `min(left, 100*time.Millisecond)`,
		Suffers: "each waiter costs Redis ten commands a second",
		Failure: "idle-waiters", Outcome: failures.Broken, Rule: oracle.CommandCount,
	},
	{
		Name: "acknowledgements not heard", File: step4 + "wait.go",
		Old:     `sub.ChannelWithSubscriptions(`,
		New:     `sub.Channel(`,
		Suffers: "a release just before the subscription is missed",
		Failure: "wake-lost", Outcome: failures.Broken, Rule: oracle.LostWakeUp, Search: "wake-up/short-pauses",
	},
	{
		Name: "nothing published", File: step4 + "ownership.go",
		Old:     `redis.call("PUBLISH", KEYS[1], "free")`,
		New:     ``,
		Suffers: "waiters sleep beside a free lock until the lease would be over",
		Failure: "unlock-wakes", Outcome: failures.Broken, Rule: oracle.LostWakeUp,
	},
	{
		Name: "no timer for the holder's lease", File: step4 + "wait.go",
		Old:     `left + time.Millisecond`,
		New:     `left + 1000*time.Hour`,
		Suffers: "nobody looks when the holder dies without a message",
		Failure: "expiry-wakes", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "token without the clock", File: step5 + "mutex.go",
		Old:     `tonumber(time[1]) * 1000000 + tonumber(time[2])`,
		New:     `0`,
		Suffers: "after a flush the tokens begin at 1 again, and the resource lets an old holder write",
		Failure: "token-after-flush", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "token in seconds", File: step5 + "mutex.go",
		Old:     `tonumber(time[1]) * 1000000 + tonumber(time[2])`,
		New:     `tonumber(time[1])`,
		Suffers: "after a flush the token is lower than those of the same second, and the resource lets an old holder write",
		Failure: "token-after-flush", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "token as high as the last one", File: step5 + "mutex.go",
		Old:     `tonumber(redis.call("GET", KEYS[2]) or "0") + 1)`,
		New:     `tonumber(redis.call("GET", KEYS[2]) or "0"))`,
		Suffers: "once the clock of Redis has been set back, two holds have one token, and the resource refuses the newer one",
		Failure: "token-after-clock-back", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "token forgotten after a minute and a half", File: step5 + "mutex.go",
		Old:     `"EX", 86400)`,
		New:     `"PX", 86400)`,
		Suffers: "once the clock of Redis has been set back, the tokens are lower than those before, and the resource lets an old holder write",
		Failure: "token-after-clock-back", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "token read from the process's clock before the grant", File: step5 + "mutex.go",
		Old:     `m.newOwnership(ctx, owner, answer, sent)`,
		New:     `m.newOwnership(ctx, owner, sent.UnixMicro(), sent)`,
		Suffers: "a holder whose acquire was slow has a lower token than the holder before, and the resource refuses its writes",
		Failure: "token-before-grant", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "token fetched after the grant", File: step5 + "mutex.go",
		Old:     `m.newOwnership(ctx, owner, answer, sent)`,
		New:     `m.newOwnership(ctx, owner, m.rdb.Time(ctx).Val().UnixMicro(), sent)`,
		Suffers: "a holder that stood still after its acquire gets a higher token than the one who came after it, and the resource takes its late write",
		Failure: "token-after-grant", Outcome: failures.Broken, Rule: oracle.Damage,
	},
	{
		Name: "waiters not woken by force", File: step5 + "force.go",
		Old:     `redis.call("PUBLISH", KEYS[1], "free")`,
		New:     ``,
		Suffers: "waiters sleep beside a lock that was freed by force",
		Failure: "forced-unlock", Outcome: failures.Broken, Rule: oracle.LostWakeUp,
	},
}
