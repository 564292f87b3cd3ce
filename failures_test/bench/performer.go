package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// performer does what a worker is asked to.
type performer struct {
	locker  *locker
	locks   map[string]held // by name, between lock and unlock
	holdAll []held
	pairs   []func(context.Context) error // one for each goroutine
}

func (p *performer) perform(ctx context.Context, o order) (answer, error) {
	switch o.Do {
	case usageOrder:
		return answer{}, nil
	case lockOrder:
		t := turn{Called: now()}
		h, err := patiently(ctx, p.locker, o.Name)
		if err != nil {
			return answer{}, err
		}
		t.Locked, t.Token = now(), h.token
		p.locks[o.Name] = h
		return answer{Turns: []turn{t}}, nil
	case unlockOrder:
		h, ok := p.locks[o.Name]
		if !ok {
			return answer{}, fmt.Errorf("%s is not locked", o.Name)
		}
		delete(p.locks, o.Name)
		t := turn{Unlocked: now(), Token: h.token}
		return answer{Turns: []turn{t}}, h.unlock()
	case pairsOrder:
		return p.lap(ctx, o)
	case turnOrder:
		t, err := p.turn(ctx, o)
		return answer{Turns: []turn{t}}, err
	case idleOrder:
		p.idle(ctx, o)
		return answer{}, nil
	case holdOrder:
		return p.hold(ctx, o)
	case watchOrder:
		return answer{Holding: p.watch(ctx, o)}, nil
	}
	return answer{}, fmt.Errorf("there is no order %q", o.Do)
}

// turn takes the lock, keeps it for some time and gives it back.
func (p *performer) turn(ctx context.Context, o order) (turn, error) {
	t := turn{Called: now()}
	h, err := patiently(ctx, p.locker, o.Name)
	if err != nil {
		return t, err
	}
	t.Locked, t.Token = now(), h.token
	time.Sleep(keepFor)
	t.Unlocked = now()
	return t, h.unlock()
}

// keepFor is how long a turn keeps the lock.
const keepFor = 2 * time.Millisecond

// idle begins to wait N times for a lock that somebody else holds. It returns when
// all have begun, and some time has passed in which they made their first attempts.
func (p *performer) idle(ctx context.Context, o order) {
	var begun sync.WaitGroup
	for range o.N {
		begun.Add(1)
		go func() {
			begun.Done()
			_, _ = p.locker.lock(ctx, o.Name) // the process ends before
		}()
	}
	begun.Wait()
	time.Sleep(o.For)
}

// now is the time on the clock of the machine, in nanoseconds: for moments that
// another process compares.
func now() int64 { return time.Now().UnixNano() }
