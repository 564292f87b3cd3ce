package columns

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
	step1 "lockkata/stage6_reentrant_pubsub/step1_told"
	step2 "lockkata/stage6_reentrant_pubsub/step2_unknown"
	step3 "lockkata/stage6_reentrant_pubsub/step3_reentrant"
	step4 "lockkata/stage6_reentrant_pubsub/step4_wakeup"
	step5 "lockkata/stage6_reentrant_pubsub/step5_fenced"
)

// steps are the columns between stage 5 and stage 6. They stand in All.
var steps = []Column{
	{
		ID: "6.1", Before: "5", Dir: "stage6_reentrant_pubsub/step1_told", Title: "the holder is told of a loss", Hidden: true,
		Lesson:    "Lock returns a hold, whose context ends with the lease. The lease counts from before the command was sent.",
		Challenge: "v1/stage6.1/2c/1x/reply-loss/leak/b.db.b.B.a.A.t",
		Subject: stepOf("6.1", "step1_told", step1.NewMutex, step1.WithoutWatchdog(), step1.ErrLocked, step1.ErrLost,
			failures.Scripts, failures.Watchdog),
	},
	{
		ID: "6.2", Before: "6.1", Dir: "stage6_reentrant_pubsub/step2_unknown", Title: "commands of unknown outcome", Hidden: true,
		Lesson:    "Commands are sent once, what an acquire may have got is freed, and Unlock asks again and needs no context.",
		Challenge: "v1/stage6.2/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: stepOf("6.2", "step2_unknown", step2.NewMutex, step2.WithoutWatchdog(), step2.ErrLocked, step2.ErrLost,
			failures.Scripts, failures.Watchdog),
	},
	{
		ID: "6.3", Before: "6.2", Dir: "stage6_reentrant_pubsub/step3_reentrant", Title: "re-entry, counted in Redis", Hidden: true,
		Lesson:    "The key is a hash with the owner's count, and a Lock with a hold's context adds one. The last Unlock frees.",
		Challenge: "v1/stage6.3/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: stepOf("6.3", "step3_reentrant", step3.NewMutex, step3.WithoutWatchdog(), step3.ErrLocked, step3.ErrLost,
			failures.Scripts, failures.Watchdog, failures.Reentry),
	},
	{
		ID: "6.4", Before: "6.3", Dir: "stage6_reentrant_pubsub/step4_wakeup", Title: "waiters are woken by messages", Hidden: true,
		Lesson:    "The script that frees the lock publishes a message. Lock tries, subscribes, tries, and waits for a reason to try again.",
		Challenge: "v1/stage6.4/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: stepOf("6.4", "step4_wakeup", step4.NewMutex, step4.WithoutWatchdog(), step4.ErrLocked, step4.ErrLost,
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub),
	},
	{
		ID: "6.5", Before: "6.4", Dir: "stage6_reentrant_pubsub/step5_fenced", Title: "fencing tokens", Hidden: true,
		Lesson:    "The script that takes the lock returns a token, which only rises; the resource refuses a lower one.",
		Challenge: "v1/stage6.5/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: stepOf("6.5", "step5_fenced", step5.NewMutex, step5.WithoutWatchdog(), step5.ErrLocked, step5.ErrLost,
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Fencing, failures.Force),
	},
}

// stepOf is the subject of a step, which is in that folder of stage 6. fixed is its option
// that keeps the lease as it is.
func stepOf[H, O any, L interface {
	Lock(context.Context) (H, error)
	TryLock(context.Context) (H, error)
}](id, folder string, newMutex func(redis.UniversalClient, string, time.Duration, ...O) (L, error), fixed O, locked, lost error,
	has ...failures.Feature) failures.Subject {
	with := func(opts ...O) world.Constructor {
		return adapt.Holding(func(rdb redis.UniversalClient, name string, ttl time.Duration) (L, error) {
			return newMutex(rdb, name, ttl, opts...)
		}, locked, lost)
	}
	return failures.Subject{
		Name: "stage" + id, New: with(), Variants: map[failures.Variant]world.Constructor{failures.FixedLease: with(fixed)}, Has: has,
		SkipFrames: []string{"lockkata/stage6_reentrant_pubsub/" + folder + ".sender."}, // sends for others
		Ignore:     func(key string) bool { return strings.HasSuffix(key, ":token") },
	}
}
