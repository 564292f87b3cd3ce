package stages

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/documents/doc1"
	"lockkata/failures_test/documents/doc2"
	"lockkata/failures_test/documents/doc3"
	"lockkata/failures_test/documents/doc4"
	"lockkata/failures_test/documents/doc5"
	"lockkata/failures_test/documents/redlock"
	"lockkata/failures_test/documents/replicated"
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
		Subject:   failures.Subject{Name: "stage1", New: adapters.Plain(stage1.NewMutex), Has: []catalogue.Feature{catalogue.FixedValue}},
	},
	{
		ID: "2", Before: "1", Dir: "stage2_set_nx_ex", Title: "SET NX PX in one command",
		Lesson:    "TryLock sends one command instead of two, so no client can die between them.",
		Challenge: "v1/stage2/2c/1x/async/wrong-delete/b.B.b.b.t.a.b",
		Subject:   failures.Subject{Name: "stage2", New: adapters.Plain(stage2.NewMutex), Has: []catalogue.Feature{catalogue.FixedValue}},
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
			Name: "stage4", New: adapters.Plain(stage4.NewMutex), Has: []catalogue.Feature{catalogue.Scripts},
		},
	},
	{
		ID: "5", Before: "4", Dir: "stage5_watchdog", Title: "a watchdog renews the lease",
		Lesson:    "TryLock starts the watchdog, Unlock stops it before it deletes. Everything else is watchdog.go.",
		Challenge: "v1/stage5/2c/1x/pause/damage/a.t.A.a.za.b.B.b.b.wa.a",
		Subject: failures.Subject{
			Name: "stage5", New: adapters.Plain(adapters.With(stage5.NewMutex)), Has: []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog},
			Variants: map[catalogue.Variant]world.Constructor{
				catalogue.FixedLease: adapters.Plain(adapters.With(stage5.NewMutex, stage5.WithoutWatchdog())),
			},
		},
	},
	{
		ID: "6.1", Before: "5", Dir: "stage6_reentrant_pubsub/step1_told", Title: "the holder is told of a loss", Hidden: true,
		Lesson:    "Lock returns a hold, whose context ends with the lease. The lease counts from before the command was sent.",
		Challenge: "v1/stage6.1/2c/1x/reply-loss/leak/b.db.b.B.a.A.t",
		Subject: step.Subject("6.1", "step1_told", step1.NewMutex, step1.WithoutWatchdog(), step1.ErrLocked, step1.ErrLost,
			catalogue.Scripts, catalogue.Watchdog),
	},
	{
		ID: "6.2", Before: "6.1", Dir: "stage6_reentrant_pubsub/step2_unknown", Title: "commands of unknown outcome", Hidden: true,
		Lesson:    "Commands are sent once, what an acquire may have got is freed, and Unlock asks again and needs no context.",
		Challenge: "v1/stage6.2/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.2", "step2_unknown", step2.NewMutex, step2.WithoutWatchdog(), step2.ErrLocked, step2.ErrLost,
			catalogue.Scripts, catalogue.Watchdog),
	},
	{
		ID: "6.3", Before: "6.2", Dir: "stage6_reentrant_pubsub/step3_reentrant", Title: "re-entry, counted in Redis", Hidden: true,
		Lesson:    "The key is a hash with the owner's count, and a Lock with a hold's context adds one. The last Unlock frees.",
		Challenge: "v1/stage6.3/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.3", "step3_reentrant", step3.NewMutex, step3.WithoutWatchdog(), step3.ErrLocked, step3.ErrLost,
			catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry),
	},
	{
		ID: "6.4", Before: "6.3", Dir: "stage6_reentrant_pubsub/step4_wakeup", Title: "waiters are woken by messages", Hidden: true,
		Lesson:    "The script that frees the lock publishes a message. Lock tries, subscribes, tries, and waits for a reason to try again.",
		Challenge: "v1/stage6.4/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.4", "step4_wakeup", step4.NewMutex, step4.WithoutWatchdog(), step4.ErrLocked, step4.ErrLost,
			catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry, catalogue.PubSub),
	},
	{
		ID: "6.5", Before: "6.4", Dir: "stage6_reentrant_pubsub/step5_fenced", Title: "fencing tokens", Hidden: true,
		Lesson:    "The script that takes the lock returns a token, which only rises; the resource refuses a lower one.",
		Challenge: "v1/stage6.5/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject: step.Subject("6.5", "step5_fenced", step5.NewMutex, step5.WithoutWatchdog(), step5.ErrLocked, step5.ErrLost,
			catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry, catalogue.PubSub, catalogue.Fencing, catalogue.Force),
	},
	{
		ID: "6", Before: "6.5", Dir: "stage6_reentrant_pubsub", Title: "re-entry, wake-ups, fencing: the whole lock",
		Lesson:    "One service for many locks and waiters: one watchdog, one subscription, a queue, and a limit for a hold. Read service.go first.",
		Challenge: "v1/stage6/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject:   subject6.Subject(), Map: map6,
	},
}, documents)

// Wait and RedLock are locks on several servers. They are no stages: they have failures of their own, and
// no search.
var (
	Wait = Stage{
		ID: "wait", Title: "stage 4 that waits for a replica", Dir: "failures_test/documents/replicated", Hidden: true,
		Subject: failures.Subject{Name: "wait", New: adapters.Plain(newWait), Has: []catalogue.Feature{catalogue.Scripts, catalogue.Waits}},
	}
	RedLock = Stage{
		ID: "redlock", Title: "a lock over five servers", Dir: "failures_test/documents/redlock", Hidden: true,
		Subject: failures.Subject{Name: "redlock", NewOver: adapters.Over(newRedLock), Has: []catalogue.Feature{catalogue.Scripts}},
	}
)

// OfServers returns the locks of the view of several servers. Stage 4 is there for comparison.
func OfServers() []Stage { return []Stage{MustFind("4"), Wait, RedLock} }

// FindLock is [Find], but also finds the locks on several servers.
func FindLock(id string) (Stage, error) {
	for _, s := range OfServers() {
		if s.ID == id {
			return s, nil
		}
	}
	return Find(id)
}

// newWait returns stage 4 that waits for one of two replicas.
func newWait(rdb redis.UniversalClient, name string, lease time.Duration) (*replicated.Mutex, error) {
	return replicated.New(rdb, name, lease, 1), nil
}

func newRedLock(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (*redlock.Mutex, error) {
	return redlock.New(nodes, name, lease, random), nil
}

// documents are the locks of the five documents with which the project began.
var documents = []Stage{
	{
		ID: "doc1", Hidden: true, Dir: "failures_test/documents/doc1", Title: "notes on a lock with a watchdog",
		Challenge: "v1/doc1/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc1", New: adapters.Plain(doc1.GetLock),
			Has: []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry},
		},
	},
	{
		ID: "doc2", Hidden: true, Dir: "failures_test/documents/doc2", Title: "a wiki page: a hash, pub/sub and a Timer",
		Challenge: "v1/doc2/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc2", New: adapters.Plain(doc2.New),
			Has: []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry, catalogue.PubSub, catalogue.Force},
		},
	},
	{
		ID: "doc3", Hidden: true, Dir: "failures_test/documents/doc3", Title: "a design document: a count in the process",
		Challenge: "v1/doc3/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc3", New: adapters.Plain(with(doc3.New, true)),
			Has:      []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry},
			Variants: map[catalogue.Variant]world.Constructor{catalogue.FixedLease: adapters.Plain(with(doc3.New, false))},
		},
	},
	{
		ID: "doc4", Hidden: true, Dir: "failures_test/documents/doc4", Title: "Redisson's watchdog, as a chapter quotes it",
		Challenge: "v1/doc4/2c/1x/async/exclusion/a.t.A.b.B",
		Subject: failures.Subject{
			Name: "doc4", New: adapters.Plain(with(doc4.New, -1)),
			Has:      []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry, catalogue.PubSub},
			Variants: map[catalogue.Variant]world.Constructor{catalogue.FixedLease: adapters.Plain(quotedFixed)},
		},
	},
	{
		ID: "doc5", Hidden: true, Dir: "failures_test/documents/doc5", Title: "five stages, SETNX to a daemon",
		Challenge: "v1/doc5/2c/1x/async/exclusion/b.B.a.A",
		Subject: failures.Subject{
			Name: "doc5", New: adapters.Plain(with(doc5.New, true)),
			Has:      []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog},
			Variants: map[catalogue.Variant]world.Constructor{catalogue.FixedLease: adapters.Plain(with(doc5.New, false))},
		},
	},
}

// Documents returns the stages of the documents' locks.
func Documents() []Stage { return Table[len(Table)-len(documents):] }

// with sets the last argument of a constructor.
func with[L world.Locker, A any](create func(redis.UniversalClient, string, time.Duration, A) (L, error), last A,
) func(redis.UniversalClient, string, time.Duration) (L, error) {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (L, error) {
		return create(rdb, name, lease, last)
	}
}

func quotedFixed(rdb redis.UniversalClient, name string, lease time.Duration) (*doc4.Lock, error) {
	return doc4.New(rdb, name, lease, lease)
}
