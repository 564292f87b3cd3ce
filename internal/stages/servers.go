package stages

import (
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/documents/redlock"
	"lockkata/failures_test/documents/replicated"
	"lockkata/failures_test/world"
)

// Wait and RedLock are locks on several servers. They are no stages: they have failures of their own, and
// no search.
var (
	Wait = Stage{
		ID: "wait", Title: "stage 4 that waits for a replica", Dir: "failures_test/documents/replicated", Hidden: true,
		Subject: failures.Subject{Name: "wait", New: newWait, Has: []failures.Feature{failures.Scripts, failures.Waits}},
	}
	RedLock = Stage{
		ID: "redlock", Title: "a lock over five servers", Dir: "failures_test/documents/redlock", Hidden: true,
		Subject: failures.Subject{Name: "redlock", NewOver: newRedLock, Has: []failures.Feature{failures.Scripts}},
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
func newWait(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
	return replicated.New(rdb, name, lease, 1), nil
}

func newRedLock(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (world.Locker, error) {
	return redlock.New(nodes, name, lease, random), nil
}
