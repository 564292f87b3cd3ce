package stages

import (
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/documents/redlock"
	"lockkata/failures_test/world"
)

// RedLock is a lock over five servers. It is not a stage: it has other failures, and no search.
var RedLock = Stage{
	ID: "redlock", Title: "a lock over five servers", Dir: "failures_test/documents/redlock", Hidden: true,
	Subject: failures.Subject{Name: "redlock", NewOver: newRedLock, Has: []failures.Feature{failures.Scripts}},
}

// FindLock is [Find], but also finds RedLock.
func FindLock(id string) (Stage, error) {
	if id == RedLock.ID {
		return RedLock, nil
	}
	return Find(id)
}

func newRedLock(nodes []redis.UniversalClient, name string, lease time.Duration, random rand.Source) (world.Locker, error) {
	return redlock.New(nodes, name, lease, random), nil
}
