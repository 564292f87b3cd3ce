package stage6

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

var (
	// ErrLocked is returned by TryLock and TryLockFor when somebody else holds the
	// lock.
	ErrLocked = errors.New("stage6: lock is held by somebody else")
	// ErrNotHeld is returned when a hold is released a second time.
	ErrNotHeld = errors.New("stage6: hold is released already")
	// ErrLost is returned when a hold has ended before it was released, and is the
	// cause with which its context ends.
	ErrLost = errors.New("stage6: hold is lost")
	// ErrClosed is returned by a closed Service, and is the cause with which the
	// contexts of its holds end.
	ErrClosed = errors.New("stage6: service is closed")
)

// isAnswer tells whether Redis answered with this error: the command did nothing.
func isAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// isUnsent tells whether a command never left: there was no connection for it.
func isUnsent(err error) bool {
	var network *net.OpError
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrClosed) ||
		errors.As(err, &network) && network.Op == "dial"
}

// isUnknown tells whether a command that ended with err may have taken effect: the
// network, the context or a hook of the client ended it.
func isUnknown(err error) bool { return err != nil && !isAnswer(err) && !isUnsent(err) }

// isMoving tells whether a Cluster did not apply a command because its keys are on
// two nodes: their slot is on its way from one to the other.
func isMoving(err error) bool { return redis.HasErrorPrefix(err, "TRYAGAIN") }

// isPassing tells whether Redis did not apply a command, and will before long: it has just
// started, runs a long script, or changes its role or its slots.
func isPassing(err error) bool {
	passing := []string{"TRYAGAIN", "LOADING", "CLUSTERDOWN", "BUSY", "READONLY", "NOREPLICAS", "MASTERDOWN"}
	return slices.ContainsFunc(passing, func(code string) bool { return redis.HasErrorPrefix(err, code) })
}

// explain says what an error of Redis means for a lock.
func explain(doing, key string, err error) error {
	if strings.Contains(err.Error(), "WRONGTYPE") { // a script puts its own words before it
		return fmt.Errorf("stage6: %s %s: the key holds no lock of this kind, but something else, such as a lock of another library: %w", doing, key, err)
	}
	if redis.HasErrorPrefix(err, "NOPERM") || strings.Contains(err.Error(), "The user executing the script") {
		return fmt.Errorf("stage6: %s %s: the Redis user lacks a right that the lock needs (docs/final-lock.md lists them): %w", doing, key, err)
	}
	return fmt.Errorf("stage6: %s %s: %w", doing, key, err)
}
