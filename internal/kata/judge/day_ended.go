package judge

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// ending is a lock that keeps the signal with which its last freed hold ends.
type ending struct {
	world.Locker
	ended <-chan struct{} // nil: the lock does not tell
}

// Unlock frees the lock.
func (l *ending) Unlock(ctx context.Context) error {
	if tells, ok := l.Locker.(world.Noticing); ok {
		l.ended, _ = tells.Lost(ctx)
	}
	return l.Locker.Unlock(ctx)
}

// Close ends a lock that has to be ended.
func (l *ending) Close() error { return closed(l.Locker) }

var (
	outlives = i18n.New("A's Unlock has come back, and the context of its hold has not ended.")
	endIt    = i18n.New("End the context of the hold in Unlock: whoever still works with it has to stop before the lock is free.")
)

// endHolds: the context of a hold ends with its Unlock. The failures tell only of holds that are
// lost.
func (r *run) endHolds() {
	var a *ending
	create := func(rdb redis.UniversalClient, name string, lease time.Duration) (world.Locker, error) {
		locker, err := r.subject.New(rdb, name, lease)
		a = &ending{Locker: locker}
		return a, err
	}
	r.playOn(create, endedHold, func(d *day) {
		client := d.w.Client("A")
		if !d.takes(client.Lock(world.Within(d.w.Lease)), getsFree) || !d.frees(client.Unlock(world.Within(d.w.Lease))) || a.ended == nil {
			return
		}
		d.w.Sleep(d.w.Lease / 60) // a goroutine may have to be told
		select {
		case <-a.ended:
		default:
			d.fault(Nonsense, endIt, outlives.Args())
		}
	})
}
