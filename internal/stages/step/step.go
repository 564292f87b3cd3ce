// Package step has what the subjects of the steps to stage 6 share.
package step

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
)

// Subject returns a step, such as "6.1", as a subject of the failures. folder is its folder inside
// stage 6's, and fixed is its option that disables renewal.
func Subject[H, O any, L interface {
	Lock(context.Context) (H, error)
	TryLock(context.Context) (H, error)
}](id, folder string, newMutex func(redis.UniversalClient, string, time.Duration, ...O) (L, error), fixed O, locked, lost error,
	has ...catalogue.Feature,
) failures.Subject {
	return failures.Subject{
		Name: "stage" + id, New: adapters.Holding(adapters.With(newMutex), locked, lost), Has: append(has, catalogue.HoldContext),
		Variants: map[catalogue.Variant]world.Constructor{
			catalogue.FixedLease: adapters.Holding(adapters.With(newMutex, fixed), locked, lost),
		},
		SkipFrames: []string{"lockkata/stage6_reentrant_pubsub/" + folder + ".sender."}, // sends for its callers
		Ignore:     func(key string) bool { return strings.HasSuffix(key, ":token") },
	}
}
