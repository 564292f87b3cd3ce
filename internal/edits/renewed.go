package edits

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
)

const (
	file5 = "stage5_watchdog/mutex.go"
	dog5  = "stage5_watchdog/watchdog.go"
)

// renewed are edits of stage 5.
var renewed = []Edit{
	{
		Name: "watchdog never started", File: file5,
		Old:     `m.watchdog.start(value)`,
		New:     `_ = value`,
		Suffers: "work that takes longer than the lease is not alone",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "watchdog not stopped by Unlock", File: file5,
		Old:     `	m.watchdog.stop()`,
		New:     `	_ = m.watchdog`,
		Suffers: "after an Unlock that failed the lock is renewed for ever",
		Failure: "unlock-error-dog-lives", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "value that a hold leaves to the next", File: file5,
		Old:     `value := uuid.NewString()`,
		New:     `value := m.value; if value == "" { value = uuid.NewString() }`,
		Suffers: "after an Unlock that failed the next hold has the value of the one before, whose late Unlock ends it",
		Failure: "late-unlock", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "lease of ten times what was asked", File: file5,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"PX", 10 * m.ttl.Milliseconds()`,
		Suffers: "the lock of a dead client stays for five minutes instead of 30 s",
		Failure: "crash-before-expire", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "Lock does not wait", File: file5,
		Old:     `case <-time.After(pollInterval):`,
		New:     `default: return errors.New("stage5: lock is held by somebody else")`,
		Suffers: "Lock fails at once when the lock is held, and nobody ever waits",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Waiting,
	},
	{
		Name: "Lock ignores its context", File: file5,
		Old:     `held, err := m.TryLock(ctx)`,
		New:     `ctx := context.WithoutCancel(ctx); held, err := m.TryLock(ctx)`,
		Suffers: "Lock waits on when its caller has long gone",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Context,
	},
	{
		Name: "watchdog started again after an Unlock that failed", File: file5,
		Old:     `return fmt.Errorf("stage5: unlock %s: %w", m.key, err)`,
		New:     `m.watchdog.start(m.value); return fmt.Errorf("stage5: unlock %s: %w", m.key, err)`,
		Suffers: "a lock that its holder has given up is renewed for ever",
		Failure: "unlock-error-dog-lives", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "error of Unlock swallowed, and the watchdog stopped", File: file5,
		Old:     `return fmt.Errorf("stage5: unlock %s: %w", m.key, err)`,
		New:     `return nil`,
		Suffers: "a client that Redis refused is told that all went well, and the next one waits for the rest of the lease",
		Failure: "unlock-error-dog-lives", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "watchdog looks for another value", File: file5,
		Old:     `m.watchdog.start(value)`,
		New:     `m.watchdog.start(m.key)`,
		Suffers: "the watchdog finds that the key is not its own, and ends",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Watchdog,
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
		Name: "renewal every ten seconds, whatever the lease", File: dog5,
		Old:     `time.NewTicker(w.ttl / 3)`,
		New:     `time.NewTicker(10 * time.Second)`,
		Suffers: "whoever asks for a short lease is not renewed at all",
		Failure: "short-lease-renewed", Outcome: failures.Broken, Rule: oracle.Exclusion,
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
		Name: "EXPIRE given milliseconds", File: dog5,
		Old:     `redis.call("PEXPIRE", KEYS[1], ARGV[2])`,
		New:     `redis.call("EXPIRE", KEYS[1], ARGV[2])`,
		Suffers: "the first renewal gives a lease of eight hours, should its client die then",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "renewal takes the lease away", File: dog5,
		Old:     `redis.call("PEXPIRE", KEYS[1], ARGV[2])`,
		New:     `redis.call("PERSIST", KEYS[1])`,
		Suffers: "a client that dies after the first renewal leaves a key without a lease",
		Failure: "crash-while-holding", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "renewal for half the lease", File: dog5,
		Old:     `value, w.ttl.Milliseconds()).Int()`,
		New:     `value, w.ttl.Milliseconds()/2).Int()`,
		Suffers: "one renewal that fails costs the lock",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "renewal by a SET", File: dog5,
		Old:     `if redis.call("GET", KEYS[1]) == ARGV[1] then`,
		New:     `if redis.call("SET", KEYS[1], ARGV[1]) then`,
		Suffers: "a late renewal takes the key of the next one",
		Failure: "renew-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "one renewal and no more", File: dog5,
		Old:     `time.NewTicker(w.ttl / 3)`,
		New:     `time.NewTimer(w.ttl / 3)`,
		Suffers: "work that takes longer than two leases is not alone",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "no time for a second renewal", File: dog5,
		Old:     `time.NewTicker(w.ttl / 3)`,
		New:     `time.NewTicker(w.ttl / 2)`,
		Suffers: "one renewal that fails costs the lock",
		Failure: "renew-blip", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "renewals ten times as often", File: dog5,
		Old:     `time.NewTicker(w.ttl / 3)`,
		New:     `time.NewTicker(w.ttl / 30)`,
		Suffers: "each lock costs Redis ten times what it should",
		Failure: "work-outlives-ttl", Outcome: failures.Broken, Rule: oracle.RenewalCount,
	},
	{
		Name: "renewal without a bound", File: dog5,
		Old:     `context.WithTimeout(ctx, w.ttl/3)`,
		New:     `context.WithTimeout(ctx, 2*w.ttl)`,
		Suffers: "an Unlock waits for a renewal that hangs, and the key stays",
		Failure: "unlock-while-renewal-hangs", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "watchdog forgotten, not ended", File: dog5,
		Old: `	w.cancel()
	<-w.ended
`,
		New:     ``,
		Suffers: "the watchdog renews after the lock was given back",
		Failure: "second-hold-renewed", Outcome: failures.Broken, Rule: oracle.Watchdog,
	},
	{
		Name: "watchdog awaited, not ended", File: dog5,
		Old: `	w.cancel()
	<-w.ended
`,
		New: `	<-w.ended
`,
		Suffers: "Unlock waits for a watchdog that nobody has ended",
		Failure: "unlock-at-once", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "watchdog started once only", File: dog5,
		Old:     `w.stop() // of a hold that was lost and never unlocked`,
		New:     `if w.ended != nil { return }`,
		Suffers: "the second hold is not renewed",
		Failure: "second-hold-renewed", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "watchdog stopped by a try that is refused", File: file5,
		Old:     `		return false, nil`,
		New:     `		m.watchdog.stop(); return false, nil`,
		Suffers: "a holder that tries once more is renewed no longer, and is not alone in the end",
		Failure: "second-hold-renewed", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
}
