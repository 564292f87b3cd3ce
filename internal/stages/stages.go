// Package stages lists the stages of this repository as subjects of the catalogue.
package stages

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	stage1 "lockkata/stage1_setnx_expire"
	stage2 "lockkata/stage2_set_nx_ex"
	stage3 "lockkata/stage3_owner_value"
	stage4 "lockkata/stage4_lua_unlock"
	stage5 "lockkata/stage5_watchdog"
)

// Adapter6 is the file of the repository that shows stage 6, whose API is its own, to
// the failures.
const Adapter6 = "internal/stages/stage6.go"

// Stage is one of the locks.
type Stage struct {
	Number  int
	Dir     string
	Title   string // what is new in it
	Lesson  string // what to look at in its difference to the stage before
	Subject failures.Subject
}

// All are the stages, in order.
var All = []Stage{
	{
		Number: 1, Dir: "stage1_setnx_expire", Title: "SETNX, then PEXPIRE",
		Subject: failures.Subject{Name: "stage1", New: adapt(stage1.NewMutex)},
	},
	{
		Number: 2, Dir: "stage2_set_nx_ex", Title: "SET NX PX in one command",
		Lesson:  "TryLock sends one command where it sent two, so nobody can die in between.",
		Subject: failures.Subject{Name: "stage2", New: adapt(stage2.NewMutex)},
	},
	{
		Number: 3, Dir: "stage3_owner_value", Title: "the owner's value in the key",
		Lesson:  "TryLock writes a value of its own, and Unlock looks for it before it deletes.",
		Subject: failures.Subject{Name: "stage3", New: adapt(stage3.NewMutex)},
	},
	{
		Number: 4, Dir: "stage4_lua_unlock", Title: "compare and delete in one script",
		Lesson: "Unlock's GET, comparison and DEL become one script, so nothing can come in between.",
		Subject: failures.Subject{
			Name: "stage4", New: adapt(stage4.NewMutex), Has: []failures.Feature{failures.Scripts},
		},
	},
	{
		Number: 5, Dir: "stage5_watchdog", Title: "a watchdog renews the lease",
		Lesson: "TryLock starts the watchdog, Unlock stops it before it deletes. Everything else is watchdog.go.",
		Subject: failures.Subject{
			Name: "stage5", New: adapt(renewed), Has: []failures.Feature{failures.Scripts, failures.Watchdog},
			Variants: map[failures.Variant]world.New{failures.FixedLease: adapt(unrenewed)},
		},
	},
	{
		Number: 6, Dir: "stage6_reentrant_pubsub", Title: "re-entry, wake-ups, fencing: the whole lock",
		Lesson:  "A rewrite: a service, holds and their contexts. Read service.go first.",
		Subject: subject6("stage6"),
	},
}

func renewed(rdb redis.UniversalClient, name string, ttl time.Duration) (*stage5.Mutex, error) {
	return stage5.NewMutex(rdb, name, ttl)
}

func unrenewed(rdb redis.UniversalClient, name string, ttl time.Duration) (*stage5.Mutex, error) {
	return stage5.NewMutex(rdb, name, ttl, stage5.WithoutWatchdog())
}

// adapt turns a stage's constructor into the catalogue's.
func adapt[L failures.Locker](newMutex func(redis.UniversalClient, string, time.Duration) (L, error)) func(redis.UniversalClient, string, time.Duration) (failures.Locker, error) {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return newMutex(rdb, name, lease)
	}
}
