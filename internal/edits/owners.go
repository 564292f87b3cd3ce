package edits

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
)

const (
	file1 = "stage1_setnx_expire/mutex.go"
	file2 = "stage2_set_nx_ex/mutex.go"
	file3 = "stage3_owner_value/mutex.go"
	file4 = "stage4_lua_unlock/mutex.go"
)

// owners are edits of stages 1 to 4: how a lock gets its owner.
var owners = []Edit{
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
		Name: "lease given in nanoseconds", File: file1,
		Old:     `m.ttl.Milliseconds()`,
		New:     `m.ttl.Nanoseconds()`,
		Suffers: "the lease lasts for 347 days instead of 30 s, should its client die",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "lease given before anybody has the key", File: file1,
		Old:     `created, err := m.rdb.Do(ctx, "SETNX"`,
		New:     `_ = m.rdb.Do(ctx, "PEXPIRE", m.key, m.ttl.Milliseconds()); created, err := m.rdb.Do(ctx, "SETNX"`,
		Suffers: "everybody who asks gives the holder a new lease: the key of a dead client stays for as long as somebody waits",
		Failure: "crash-while-holding", Outcome: failures.Broken, Rule: oracle.WrongExtend,
	},
	{
		Name: "Lock asks once", File: file1,
		Old:     `case <-time.After(pollInterval):`,
		New:     `default: return errors.New("stage1: lock is held by somebody else")`,
		Suffers: "Lock fails at once when the lock is held, and nobody ever waits",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Waiting,
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
		Name: "EX given whole seconds", File: file2,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"EX", int64(m.ttl.Seconds())`,
		Suffers: "a client that asks for 3.5 s gets 3, and is not alone for the rest",
		Failure: "lease-between-seconds", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "every error taken for a no", File: file2,
		Old:     `if errors.Is(err, redis.Nil) {`,
		New:     `if err != nil {`,
		Suffers: "a Redis that is full looks like a lock that somebody else holds",
		Failure: "oom", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "no lease", File: file2,
		Old:     `, "NX", "PX", m.ttl.Milliseconds()`,
		New:     `, "NX"`,
		Suffers: "the key of a dead client stays for ever",
		Failure: "crash-before-expire", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "PX given microseconds", File: file2,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"PX", m.ttl.Microseconds()`,
		Suffers: "the lease lasts for eight hours instead of 30 s, should its client die",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "lease that nobody asked for", File: file2,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"PX", 10_000`,
		Suffers: "a client that asks for 30 s gets 10, and works on beside the next one",
		Failure: "check-then-set", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "a no taken for a yes", File: file2,
		Old:     `		return false, nil`,
		New:     `		return true, nil`,
		Suffers: "everybody gets in",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "every error taken for a yes", File: file2,
		Old:     `return false, fmt.Errorf("stage2: lock %s: %w", m.key, err)`,
		New:     `return true, nil`,
		Suffers: "a client that Redis refuses believes that it holds the lock",
		Failure: "oom", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "Lock waits two leases between attempts", File: file2,
		Old:     `time.After(pollInterval)`,
		New:     `time.After(2 * m.ttl)`,
		Suffers: "waiters sleep beside a free lock",
		Failure: "crash-while-holding", Outcome: failures.Broken, Rule: oracle.Deadlock,
	},
	{
		Name: "Unlock shortens the lease", File: file2,
		Old:     `"DEL", m.key)`,
		New:     `"PEXPIRE", m.key, 5000)`,
		Suffers: "after each Unlock nobody gets in for five seconds",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "comparison turned round", File: file3,
		Old:     `if value != m.value {`,
		New:     `if value == m.value {`,
		Suffers: "only a stranger's key is deleted, and the holder's own stays",
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
		Name: "any value taken for the holder's own", File: file3,
		Old:     `if value != m.value {`,
		New:     `if value == "" {`,
		Suffers: "a late Unlock deletes the next one's key",
		Failure: "delete-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "value kept after Unlock and not asked for", File: file3,
		Old:     `if value != m.value {`,
		New:     `if _ = value; m.value == "" {`,
		Suffers: "a client that lost the lock is told that all went well",
		Failure: "loss-hidden-at-unlock", Outcome: failures.Broken, Rule: oracle.LossNoticed,
	},
	{
		Name: "one value for all of a day", File: file3,
		Old:     `value := uuid.NewString()`,
		New:     `value := time.Now().Format(time.DateOnly)`,
		Suffers: "two owners write the same value, so a late Unlock deletes the key of the next one",
		Failure: "delete-foreign", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "half the lease", File: file3,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"PX", m.ttl.Milliseconds() / 2`,
		Suffers: "the lock is lost after half the time that its user counts on",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "loss told as a success", File: file3,
		Old: `		m.value = ""
		return ErrNotHeld`,
		New: `		m.value = ""
		return nil`,
		Suffers: "a client that lost the lock is told that all went well",
		Failure: "loss-hidden-at-unlock", Outcome: failures.Broken, Rule: oracle.LossNoticed,
	},
	{
		Name: "Unlock without a hold succeeds", File: file3,
		Old: `if m.value == "" {
		return ErrNotHeld`,
		New: `if m.value == "" {
		return nil`,
		Suffers: "a client that unlocks twice, or too early, never hears of it",
		Failure: "stranger-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "Lock waits with a context of its own", File: file3,
		Old:     `held, err := m.TryLock(ctx)`,
		New:     `ctx := context.WithoutCancel(ctx); held, err := m.TryLock(ctx)`,
		Suffers: "Lock waits on when its caller has long gone",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Context,
	},
	{
		Name: "refused attempt gives a new lease", File: file3,
		Old:     `		return false, nil`,
		New:     `		return false, m.rdb.Do(ctx, "PEXPIRE", m.key, m.ttl.Milliseconds()).Err()`,
		Suffers: "the key of a dead client stays for as long as somebody waits",
		Failure: "crash-while-holding", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "comparison turned round in Lua", File: file4,
		Old:     `== ARGV[1] then`,
		New:     `~= ARGV[1] then`,
		Suffers: "only a stranger's key is deleted, and the holder's own stays",
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
		Suffers: "a client that lost the lock is told that all went well",
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
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "Lock stops at a no, not at an error", File: file4,
		Old:     `if err != nil || held {`,
		New:     `if err == nil || held {`,
		Suffers: "Lock comes back with a no as if it held, and asks on and on while Redis is down",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Exclusion,
	},
	{
		Name: "PX given nanoseconds", File: file4,
		Old:     `"PX", m.ttl.Milliseconds()`,
		New:     `"PX", m.ttl.Nanoseconds()`,
		Suffers: "the lease lasts for 347 days instead of 30 s, should its client die",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Lease,
	},
	{
		Name: "one value for each name", File: file4,
		Old:     `value := uuid.NewString()`,
		New:     `value := m.key`,
		Suffers: "everybody writes the same value, so a late Unlock deletes the key of the next one",
		Failure: "check-then-delete", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "any value deleted", File: file4,
		Old:     `if redis.call("GET", KEYS[1]) == ARGV[1] then`,
		New:     `if redis.call("GET", KEYS[1]) then`,
		Suffers: "a late Unlock deletes the key of the next one",
		Failure: "check-then-delete", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "script leaves the key for a while", File: file4,
		Old:     `redis.call("DEL", KEYS[1])`,
		New:     `redis.call("PEXPIRE", KEYS[1], 5000)`,
		Suffers: "after each Unlock nobody gets in for five seconds",
		Failure: "second-client", Outcome: failures.Broken, Rule: oracle.Leak,
	},
	{
		Name: "error of Unlock swallowed", File: file4,
		Old:     `return fmt.Errorf("stage4: unlock %s: %w", m.key, err)`,
		New:     `return nil`,
		Suffers: "a client that could not reach Redis is told that all went well, and the next one waits for the rest of the lease",
		Failure: "late-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
	{
		Name: "one value for all of a second", File: file4,
		Old:     `value := uuid.NewString()`,
		New:     `value := uuid.NewSHA1(uuid.Nil, []byte(time.Now().Format(time.DateTime))).String()`,
		Suffers: "two owners of one second write the same value, so a late Unlock deletes the key of the next one",
		Failure: "lease-below-a-second", Outcome: failures.Broken, Rule: oracle.WrongDelete,
	},
	{
		Name: "error of Unlock taken for a loss", File: file4,
		Old:     `return fmt.Errorf("stage4: unlock %s: %w", m.key, err)`,
		New:     `return ErrNotHeld`,
		Suffers: "a client that could not reach Redis is told that its lock is gone, and leaves it there",
		Failure: "late-unlock", Outcome: failures.Broken, Rule: oracle.Truth,
	},
}
