package stage6

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// ownership is the state of one owner of the lock, from its first hold to its
// last: all its holds share one lease and one watchdog.
type ownership struct {
	*watchdog
	turn    chan struct{} // capacity 1: it is full while a goroutine changes the count
	count   int           // how often the owner holds the lock
	unknown error         // of an unlock whose outcome is unknown
}

// newOwnership returns the first hold of a lock whose acquire was sent at that time.
// The contexts of later holds are derived from its context, and end with it.
func (m *Mutex) newOwnership(ctx context.Context, owner string, sent time.Time) *Hold {
	o := &ownership{turn: make(chan struct{}, 1), count: 1}
	h := m.newHold(ctx, o)
	o.watchdog = m.watch(owner, sent, h.end)
	return h
}

// reenter adds a hold. It waits for its turn until ctx ends. Then it waits for three answers of
// Redis at most, each for a sixth of the ttl at most, even if ctx ends.
func (o *ownership) reenter(ctx context.Context) (*Hold, error) {
	select { // both may be ready
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("stage6: lock %s: %w", o.key, context.Cause(ctx))
	}
	if err := o.set("lock", o.count+1); err != nil {
		return nil, err
	}
	return o.newHold(ctx, o), nil
}

// countScript sets how often the owner holds the lock, and frees it at 0. The count
// is absolute, so that the script may be sent again.
//
// KEYS[1] the lock's key: a hash {owner = count}
// ARGV[1] the owner
// ARGV[2] the new count
//
// Returns 1, or 0 if this owner no longer holds the lock.
var countScript = redis.NewScript(`-- count
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
	return 0
end
if ARGV[2] == "0" then
	return redis.call("DEL", KEYS[1])
end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
return 1
`)

// set changes the owner's count. It asks again until Redis answers, three times at
// most. If Redis does not know the owner, the lock is lost; after an unlock whose
// outcome is unknown it may have been freed.
func (o *ownership) set(doing string, count int) error {
	var err error
	for range attempts {
		var mine bool
		mine, err = o.setCount(o.owner, count)
		switch {
		case mine:
			o.count = count
			return nil
		case err == nil && count == 0 && o.unknown != nil: // that attempt has freed the lock, or the lock was lost before
			o.count = count
			return fmt.Errorf("stage6: %s %s: the outcome is not known: %w", doing, o.key, o.unknown)
		case err == nil:
			o.lose()
			return ErrLost
		case isRefusal(err):
			return fmt.Errorf("stage6: %s %s: %w", doing, o.key, err)
		case count == 0 && isUnknown(err):
			o.unknown = err
		}
	}
	return fmt.Errorf("stage6: %s %s: %w", doing, o.key, err)
}

// HoldCount returns how often the owner that ctx carries holds the lock, according
// to Redis: 0 if ctx carries no hold.
func (m *Mutex) HoldCount(ctx context.Context) (int, error) {
	h := m.carried(ctx)
	if h == nil {
		return 0, nil
	}
	n, err := m.rdb.HGet(ctx, m.key, h.own.owner).Int()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("stage6: count of %s: %w", m.key, err)
	}
	return n, nil
}
