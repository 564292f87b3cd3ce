package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
)

// leavesWhenWoken is the catalogue's wake-eaten with a waiter that leaves when its
// attempt is on the way, not at its deadline.
var leavesWhenWoken = failures.Failure{
	Breaks: []oracle.Monitor{oracle.LostWakeUp, oracle.Deadlock},
	Script: func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		g := b.Goroutine("G")
		a.Lock()
		first := b.StartLock()
		w.Sleep(w.Lease / 15)
		second := g.StartLock()
		w.Sleep(w.Lease / 15)
		b.Before(func(c world.Command) bool { return world.Write(c) && c.Lane == "B" }).Delay(w.Lease / 6)
		a.Unlock()
		w.Sleep(w.Lease / 15)
		first.Cancel()
		first.Wait()
		second.Wait()
	},
}

// holdsForALease goes on into the time of renewals. The network takes a while for
// each, or the world would drown in them.
var holdsForALease = failures.Failure{
	Breaks: []oracle.Monitor{oracle.RenewalCount},
	Script: func(w *world.World) {
		a := w.Client("A")
		a.Before(world.Background).Always().Delay(w.Lease / 100)
		a.Lock()
		w.Sleep(w.Lease)
		a.Unlock()
	},
}

// waitsTooLong has a waiter's deadline pass.
var waitsTooLong = failures.Failure{Script: func(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	b.Lock(world.Within(w.Lease / 10))
	a.Unlock()
}}

func cancelIsNil(trace *world.Trace) (bool, string) {
	for _, e := range trace.Events {
		if e.Kind == world.Returned && strings.Contains(e.Result.Error, errNilCancel.Error()) {
			return true, "the lock is held, and WithContext waits for it with a deadline: " + strings.ReplaceAll(e.Result.Error, "\n", "; ")
		}
	}
	return false, "cancel is never nil"
}

// asksTwice has B wait twice for a lock that A keeps.
var asksTwice = failures.Failure{Script: func(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.TryLock()
	b.Lock()
	b.Lock()
	a.Unlock()
}}

// newLimited is redislock with one Options for all calls, as in a field of a service.
func newLimited(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	locker, err := newRedislock(false, false)(rdb, name, lease)
	l := locker.(*redislockLocker)
	l.Acquire = l.obtain(&redislock.Options{RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(pollEvery), 3)})
	return l, err
}

func asksLess(trace *world.Trace) (bool, string) {
	attempts := map[int]int{} // the first call is A's TryLock
	for _, e := range trace.Events {
		if e.Kind == world.Executed {
			attempts[e.Call]++
		}
	}
	return attempts[2] == 4 && attempts[3] == 1, fmt.Sprintf("A holds the lock, and B calls Obtain twice, with the same Options, "+
		"LimitRetry(LinearBackoff(100ms), 3): the first call makes %d attempts, the second %d", attempts[2], attempts[3])
}

// extendsAfterLoss has A extend a hold that it lost, when B has come and gone.
var extendsAfterLoss = failures.Failure{Script: func(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	w.Sleep(w.Lease + time.Second)
	b.Lock()
	b.Unlock()
	a.TryLock()
}}

// extending is redsync's lock, whose TryLock extends the hold.
type extending struct{ *redsyncLocker }

// TryLock extends the hold.
func (l extending) TryLock(ctx context.Context) (bool, error) { return l.mutex.ExtendContext(ctx) }

func newExtending(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
	l, err := newRedsync(false, redsync.WithSetNXOnExtend())(rdb, name, lease)
	return extending{l.(*redsyncLocker)}, err
}

func extended(trace *world.Trace) (yes bool, evidence string) {
	for _, e := range trace.Events {
		yes = yes || e.Kind == world.Returned && e.Op == world.OpTryLock && e.Result.Held
	}
	return yes, fmt.Sprintf("A's lease ends, B locks and unlocks, and A's Extend says yes: %t", yes)
}

// releasesTheInner has A take the lock twice and release it once.
var releasesTheInner = failures.Failure{
	Breaks: []oracle.Monitor{oracle.Exclusion},
	Script: func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Lock()
		a.Unlock()
		b.TryLock()
		a.Unlock()
	},
}
