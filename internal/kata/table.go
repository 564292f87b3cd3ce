package kata

import (
	"lockkata/failures_test/world"
	"lockkata/internal/quiz"
)

// table has the exercises, in order: a lock that grows, from an empty one to a watchdog and on
// to the whole lock, then locks to repair. Their texts and files are in the folder exercises.
var table = []Exercise{
	{
		ID: "1", Folder: "01_setnx", Level: First, Base: "1",
		Predict: Prediction{Failure: "crash-before-expire", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Told("B"), Means: []string{"held", "error", "refused"}, Answer: 1},
		Read: "stage1_setnx_expire/README.md",
	},
	{
		ID: "2", Folder: "02_set_nx_px", Level: First, Base: "2", Before: "1",
		Predict: Prediction{Failure: "delete-foreign", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Asks: quiz.Told("C"), Means: []string{"refused", "held", "error"}, Answer: 1},
		Read: "stage2_set_nx_ex/README.md",
	},
	{
		ID: "3", Folder: "03_owner", Level: First, Base: "3", Before: "2", Fresh: true,
		Predict: Prediction{Failure: "check-then-delete", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Asks: quiz.KeyAfter("A"), Means: []string{"B1", "no key", "A1"}, Answer: 1},
		Read: "stage3_owner_value/README.md",
	},
	{
		ID: "4", Folder: "04_lua", Level: First, Base: "4", Before: "3",
		Predict: Prediction{Failure: "work-outlives-ttl", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Insiders, Means: []string{"A", "B", "A and B"}, Answer: 2},
		Read: "stage4_lua_unlock/README.md",
	},
	{
		ID: "5", Folder: "05_watchdog", Level: First, Base: "5", Before: "4",
		Predict: Prediction{Failure: "renew-partition", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Insiders, Means: []string{"B", "A and B", "A"}, Answer: 1},
		Read: "stage5_watchdog/README.md",
	},
	{
		ID: "6.1", Folder: "06_1_told", Level: Steps, Base: "6.1", Before: "5",
		Predict: Prediction{Failure: "deadline-in-flight", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Told("B"), Means: []string{"held", "error", "refused"}, Answer: 1},
		Read: "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "6.2", Folder: "06_2_unknown", Level: Steps, Base: "6.2", Before: "6.1",
		Predict: Prediction{Failure: "retry-unlock", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Asks: quiz.KeyAfter("A"), Means: []string{"no key", "A1", "B1"}, Answer: 2},
		Read: "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "6.3", Folder: "06_3_reentrant", Level: Steps, Base: "6.3", Before: "6.2",
		Predict: Prediction{Failure: "inner-unlock-frees", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpTryLock},
			Asks: quiz.Told("B"), Means: []string{"held", "refused", "error"}, Answer: 1},
		Read: "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "6.4", Folder: "06_4_wakeup", Level: Steps, Base: "6.4", Before: "6.3",
		Predict: Prediction{Failure: "expiry-wakes", Until: quiz.Moment{Kind: world.Crashed, Client: "A"},
			Asks: quiz.Told("B"), Means: []string{"held", "nothing", "error"}, Answer: 0},
		Read: "docs/final-lock.md",
	},
	{
		ID: "6.5", Folder: "06_5_fenced", Level: Steps, Base: "6.5", Before: "6.4",
		Predict: Prediction{Failure: "process-pause-fenced", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Asks: quiz.Orders, Means: []string{"B", "B and A", "A"}, Answer: 0},
		Read: "docs/final-lock.md",
	},
	{
		ID: "6", Folder: "06_whole", Level: Steps, Base: "6", Before: "6.5",
		Predict: Prediction{Failure: "process-pause", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Asks: quiz.Orders, Means: []string{"B", "B and A", "A"}, Answer: 1},
		Read: "docs/final-lock.md",
	},
	{
		ID: "r1", Folder: "r01_lease", Level: Repair, Base: "2",
		Fixes: []string{
			"crash-before-expire", "crash-while-holding", "renewed-for-ever", "hold-dropped",
			"second-client", "check-then-set", "try-while-holding", "last-millisecond", "two-at-once", "cancel-in-flight", "lease-between-seconds", "waiter-gives-up",
			"network-gone", "two-names-nested", "each-grant-late", // the lease is not what was asked for
		},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "double-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Asks: quiz.Told("C"), Means: []string{"refused", "held", "error"}, Answer: 1},
		Read: "stage2_set_nx_ex/README.md",
	},
	{
		ID: "r2", Folder: "r02_refusal", Level: Repair, Base: "2",
		Fixes:  []string{"oom", "network-gone"},
		Search: Sought{Property: "truth", Env: "refusal", Bound: 2},
		Predict: Prediction{Failure: "stranger-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Asks: quiz.Told("C"), Means: []string{"refused", "held", "error"}, Answer: 1},
		Read: "stage2_set_nx_ex/README.md",
	},
	{
		ID: "r3", Folder: "r03_second_try", Level: Repair, Base: "3",
		Fixes:  []string{"try-while-holding", "two-at-once"},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "late-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Asks: quiz.Told("C"), Means: []string{"held", "refused", "error"}, Answer: 0},
		Read: "stage3_owner_value/README.md",
	},
	{
		ID: "r4", Folder: "r04_value", Level: Repair, Base: "4",
		Fixes:  []string{"late-unlock"},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "self-deadlock", Until: quiz.Moment{Kind: world.Called, Client: "A", Op: world.OpLock, Nth: 2},
			Asks: quiz.Told("A"), Means: []string{"held", "error", "refused"}, Answer: 1},
		Read: "stage4_lua_unlock/README.md",
	},
	{
		ID: "r5", Folder: "r05_nervous_watchdog", Level: Repair, Base: "5",
		Fixes:  []string{"renew-blip", "renew-blips"},
		Search: Sought{Property: "watchdog", Env: "async", Bound: 2},
		Predict: Prediction{Failure: "key-gone", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Insiders, Means: []string{"B", "A and B", "A"}, Answer: 1},
		Read: "stage5_watchdog/README.md",
	},
	{
		ID: "r6", Folder: "r06_late_watchdog", Level: Repair, Base: "5",
		Fixes: []string{
			"work-outlives-ttl", "renew-blip", "renew-blips", "second-hold-renewed", "short-lease-renewed",
			"acquire-context-ends", "renewals-in-two-slots",
		},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "renewed-for-ever", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Told("B"), Means: []string{"held", "error", "refused"}, Answer: 1},
		Read: "stage5_watchdog/README.md",
	},
	{
		ID: "r7", Folder: "r07_second_unlock", Level: Repair, Base: "6.2",
		Fixes:  []string{"retry-unlock"},
		Search: Sought{Property: "truth", Env: "reply-loss", Bound: 2},
		Predict: Prediction{Failure: "self-deadlock", Until: quiz.Moment{Kind: world.Called, Client: "A", Op: world.OpLock, Nth: 2},
			Asks: quiz.Told("A"), Means: []string{"held", "error", "refused"}, Answer: 1},
		Read: "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "r8", Folder: "r08_deaf_waiter", Level: Repair, Base: "6.4",
		Fixes:  []string{"wake-lost", "pubsub-cut"},
		Search: Sought{Property: "wake-up", Env: "short-pauses", Bound: 2},
		Predict: Prediction{Failure: "unlock-wakes", Until: quiz.Moment{Kind: world.Called, Client: "A", Op: world.OpUnlock},
			Asks: quiz.Told("B"), Means: []string{"held", "error", "nothing"}, Answer: 0},
		Read: "docs/final-lock.md",
	},
	{
		ID: "r9", Folder: "r09_counter", Level: Repair, Base: "6.5",
		Fixes:  []string{"token-after-flush", "token-after-failover", "failover-async-fenced"},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "failover-async-fenced", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Insiders, Means: []string{"A", "B", "A and B"}, Answer: 2},
		Read: "docs/final-lock.md",
	},
	{
		ID: "r10", Folder: "r10_stranger", Level: Repair, Base: "doc1",
		Fixes:  []string{"stranger-unlock", "double-unlock", "hold-released-twice"},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "renew-partition", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Asks: quiz.Insiders, Means: []string{"B", "A and B", "A"}, Answer: 1},
		Read: "docs/documents.md",
	},
	{
		ID: "r11", Folder: "r11_waiter_leaves", Level: Repair, Base: "doc2",
		Fixes:  []string{"waiter-leaves"},
		Search: Sought{Blind: true},
		Predict: Prediction{Failure: "expiry-wakes", Until: quiz.Moment{Kind: world.Crashed, Client: "A"},
			Asks: quiz.Told("B"), Means: []string{"held", "nothing", "error"}, Answer: 0},
		Read: "docs/documents.md",
	},
}
