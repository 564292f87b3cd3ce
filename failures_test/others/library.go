// Package others adapts the locks of four libraries to the catalogue of failures: [Redislock],
// [Redsync], [GoZero] and [Rueidislock] are subjects for failures.Run. Its tests compare the
// outcomes with testdata/expected.txt, and the folder bench measures the costs. README.md has the
// results.
package others

import (
	"context"
	"errors"
	"time"
)

// pollEvery is the pause between two attempts of a waiter where the library leaves that to
// its caller.
const pollEvery = 100 * time.Millisecond

var errNotHeld = errors.New("the library reports that the lock was not held")

// released turns the result of an unlock that reports a bool into an error.
func released(ok bool, err error) error {
	if err == nil && !ok {
		return errNotHeld
	}
	return err
}

// withContextError adds the error of the caller's context, which some libraries leave out.
// A deadline counts from its instant, even if its timer has not fired yet.
func withContextError(ctx context.Context, err error) error {
	over := ctx.Err()
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		over = context.DeadlineExceeded
	}
	if err == nil || over == nil || errors.Is(err, over) {
		return err
	}
	return errors.Join(err, over)
}
