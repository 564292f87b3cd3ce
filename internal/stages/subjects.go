package stages

import (
	"slices"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
	"lockkata/internal/stages/step"
	"lockkata/internal/stages/subject6"
	stage1 "lockkata/stage1_setnx_expire"
	stage2 "lockkata/stage2_set_nx_ex"
	stage3 "lockkata/stage3_owner_value"
	stage4 "lockkata/stage4_lua_unlock"
	stage5 "lockkata/stage5_watchdog"
	step1 "lockkata/stage6_reentrant_pubsub/step1_told"
	step2 "lockkata/stage6_reentrant_pubsub/step2_unknown"
	step3 "lockkata/stage6_reentrant_pubsub/step3_reentrant"
	step4 "lockkata/stage6_reentrant_pubsub/step4_wakeup"
	step5 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

// Table has all locks, in order: the stages, the steps and the locks of the documents.
var Table = slices.Concat([]Stage{
	{
		ID: "1", Dir: "stage1_setnx_expire", Title: "SETNX, then PEXPIRE",
		Challenge: "v1/stage1/2c/1x/crash/leak/b.xb",
		Subject:   failures.Subject{Name: "stage1", New: adapters.Plain(stage1.NewMutex), Has: []failures.Feature{failures.FixedValue}},
	},
	{
		ID: "2", Before: "1", Dir: "stage2_set_nx_ex", Title: "SET NX PX in one command",
		Lesson:    "TryLock sends one command instead of two, so no client can die between them.",
		Challenge: "v1/stage2/2c/1x/async/wrong-delete/b.B.b.b.t.a.b",
		Subject:   failures.Subject{Name: "stage2", New: adapters.Plain(stage2.NewMutex), Has: []failures.Feature{failures.FixedValue}},
	},
	{
		ID: "3", Before: "2", Dir: "stage3_owner_value", Title: "the owner's value in the key",
		Lesson:    "TryLock writes its own value, and Unlock compares before it deletes.",
		Challenge: "v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b",
		Subject:   failures.Subject{Name: "stage3", New: adapters.Plain(stage3.NewMutex)},
	},
	{
		ID: "4", Before: "3", Dir: "stage4_lua_unlock", Title: "compare and delete in one script",
		Lesson:    "Unlock's GET, comparison and DEL become one script, so nothing can come in between.",
		Challenge: "v1/stage4/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "stage4", New: adapters.Plain(stage4.NewMutex), Has: []failures.Feature{failures.Scripts},
		},
	},
	{
		ID: "5", Before: "4", Dir: "stage5_watchdog", Title: "a watchdog renews the lease",
		Lesson:    "TryLock starts the watchdog, Unlock stops it before it deletes. Everything else is watchdog.go.",
		Challenge: "v1/stage5/2c/1x/pause/damage/a.t.A.a.za.b.B.b.b.wa.a",
		Subject: failures.Subject{
			Name: "stage5", New: adapters.Plain(adapters.With(stage5.NewMutex)), Has: []failures.Feature{failures.Scripts, failures.Watchdog},
			Variants: map[failures.Variant]world.Constructor{
				failures.FixedLease: adapters.Plain(adapters.With(stage5.NewMutex, stage5.WithoutWatchdog())),
			},
		},
	},
	{
		ID: "6.1", Before: "5", Dir: "stage6_reentrant_pubsub/step1_told", Title: "the holder is told of a loss", Hidden: true,
		Lesson:    "Lock returns a hold, whose context ends with the lease. The lease counts from before the command was sent.",
		Challenge: "v1/stage6.1/2c/1x/reply-loss/leak/b.db.b.B.a.A.t",
		Subject: step.Subject("6.1", "step1_told", step1.NewMutex, step1.WithoutWatchdog(), step1.ErrLocked, step1.ErrLost,
			failures.Scripts, failures.Watchdog),
	},
	{
		ID: "6.2", Before: "6.1", Dir: "stage6_reentrant_pubsub/step2_unknown", Title: "commands of unknown outcome", Hidden: true,
		Lesson:    "Commands are sent once, what an acquire may have got is freed, and Unlock asks again and needs no context.",
		Challenge: "v1/stage6.2/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.2", "step2_unknown", step2.NewMutex, step2.WithoutWatchdog(), step2.ErrLocked, step2.ErrLost,
			failures.Scripts, failures.Watchdog),
	},
	{
		ID: "6.3", Before: "6.2", Dir: "stage6_reentrant_pubsub/step3_reentrant", Title: "re-entry, counted in Redis", Hidden: true,
		Lesson:    "The key is a hash with the owner's count, and a Lock with a hold's context adds one. The last Unlock frees.",
		Challenge: "v1/stage6.3/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.3", "step3_reentrant", step3.NewMutex, step3.WithoutWatchdog(), step3.ErrLocked, step3.ErrLost,
			failures.Scripts, failures.Watchdog, failures.Reentry),
	},
	{
		ID: "6.4", Before: "6.3", Dir: "stage6_reentrant_pubsub/step4_wakeup", Title: "waiters are woken by messages", Hidden: true,
		Lesson:    "The script that frees the lock publishes a message. Lock tries, subscribes, tries, and waits for a reason to try again.",
		Challenge: "v1/stage6.4/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.4", "step4_wakeup", step4.NewMutex, step4.WithoutWatchdog(), step4.ErrLocked, step4.ErrLost,
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub),
	},
	{
		ID: "6.5", Before: "6.4", Dir: "stage6_reentrant_pubsub/step5_fenced", Title: "fencing tokens", Hidden: true,
		Lesson:    "The script that takes the lock returns a token, which only rises; the resource refuses a lower one.",
		Challenge: "v1/stage6.5/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.5", "step5_fenced", step5.NewMutex, step5.WithoutWatchdog(), step5.ErrLocked, step5.ErrLost,
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force),
	},
	{
		ID: "6", Before: "6.5", Dir: "stage6_reentrant_pubsub", Title: "re-entry, wake-ups, fencing: the whole lock",
		Lesson:    "One service for many locks and waiters: one watchdog, one subscription, a queue, and a limit for a hold. Read service.go first.",
		Challenge: "v1/stage6/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject:   subject6.Subject(), Map: map6,
	},
}, documents)
