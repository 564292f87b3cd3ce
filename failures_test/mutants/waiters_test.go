package mutants_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// What a mutant of the re-entrant lock does wrong while it waits.
const (
	waitsUnacknowledged mistake = "waits for messages before SUBSCRIBE is acknowledged"
	triesOnlyOnce       mistake = "does not try again after subscribing"
	wakesOnlySleepers   mistake = "wakes only those who wait at that moment"
	leaverEndsAll       mistake = "ends the shared subscription when one waiter leaves"
	keepsWakeUp         mistake = "does not pass a wake-up on"
	forgetsReconnects   mistake = "takes no notice of a reconnect"
	forgetsRefusals     mistake = "does not subscribe again where Redis has refused"
	onlyMessages        mistake = "waits for messages only"
	waitsInSeconds      mistake = "counts the rest of a lease in whole seconds"
	lastComeFirst       mistake = "serves the last waiter first"
	keepsAsking         mistake = "listens, and keeps asking all the same"
	deafBehindOthers    mistake = "waits behind another waiter without its context"
	deafOnceWoken       mistake = "forgets its context once it was woken"
)

// line is where the callers of one process wait. The first of them asks Redis; the
// others wait for their turn.
type line struct {
	mu    sync.Mutex
	queue []*waiter
	sub   *subscription // while anybody waits
}

type waiter struct {
	turn  chan struct{} // closed when the waiter is the first
	later bool          // it was not the first from the beginning
}

// subscription hears of unlocks for everybody in the line.
type subscription struct {
	pubsub *redis.PubSub
	ready  chan struct{} // closed once Redis has acknowledged it
	wake   chan struct{} // capacity 1: a wake-up that nobody has taken yet
}

func (r *reentrant) Lock(ctx context.Context) error {
	left, err := time.Duration(0), error(nil)
	if r.holdOf(ctx) != nil || r.line.isEmpty() {
		if left, err = r.try(ctx); err != nil || left == granted {
			return err
		}
	}
	w, s := r.join()
	defer r.leave(w)
	behind := ctx
	if r.wrong == deafBehindOthers {
		behind = context.WithoutCancel(ctx)
	}
	select {
	case <-w.turn:
	case <-behind.Done():
		return ctx.Err()
	case <-r.over.Done():
		return errClosed
	}
	if r.wrong != waitsUnacknowledged {
		select {
		case <-s.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	skip := r.wrong == triesOnlyOnce || r.wrong == keepsWakeUp && w.later
	for {
		if !skip {
			if left, err = r.try(ctx); err != nil || left == granted {
				return err
			}
		}
		skip = false
		if err := r.wait(ctx, s, left); err != nil {
			return err
		}
		if r.wrong == deafOnceWoken {
			ctx = context.WithoutCancel(ctx)
		}
	}
}

// wait returns when it is worth another attempt.
func (r *reentrant) wait(ctx context.Context, s *subscription, left time.Duration) error {
	if left == 0 { // a waiter that has not asked yet
		left = r.lease
	}
	switch r.wrong {
	case keepsAsking:
		left = min(left, 100*time.Millisecond)
	case onlyMessages:
		left = time.Hour
	case waitsInSeconds:
		left = max(left.Truncate(time.Second), time.Millisecond)
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-s.wake:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-r.over.Done():
		return errClosed
	}
}

var errClosed = errors.New("mutant: closed")

func (l *line) isEmpty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) == 0
}

func (r *reentrant) join() (*waiter, *subscription) {
	l := &r.line
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &waiter{turn: make(chan struct{}), later: len(l.queue) > 0}
	l.queue = append(l.queue, w)
	if len(l.queue) == 1 {
		close(w.turn)
	}
	if l.sub == nil {
		room := 1
		if r.wrong == wakesOnlySleepers {
			room = 0
		}
		l.sub = &subscription{
			pubsub: r.rdb.Subscribe(context.Background()), ready: make(chan struct{}), wake: make(chan struct{}, room),
		}
		go r.listen(l.sub)
	}
	return w, l.sub
}

// leave gives the turn to the next. The last one ends the subscription.
func (r *reentrant) leave(w *waiter) {
	l := &r.line
	l.mu.Lock()
	wasFirst := l.queue[0] == w || r.wrong == lastComeFirst
	l.queue = slices.DeleteFunc(l.queue, func(o *waiter) bool { return o == w })
	over := l.sub
	if len(l.queue) == 0 || r.wrong == leaverEndsAll {
		l.sub = nil
	} else {
		over = nil
	}
	if len(l.queue) > 0 && wasFirst {
		next := l.queue[0]
		if r.wrong == lastComeFirst {
			next = l.queue[len(l.queue)-1]
		}
		close(next.turn)
	}
	l.mu.Unlock()
	if over != nil {
		_ = over.pubsub.Close() // it only says whether it was open
	}
}

// listen turns messages into wake-ups, and every acknowledgement too: before it,
// messages may have been missed.
func (r *reentrant) listen(s *subscription) {
	ctx := context.Background()
	_ = s.pubsub.Subscribe(ctx, r.channel) // Receive tries again
	acknowledged := false
	for {
		message, err := s.pubsub.Receive(ctx)
		if errors.Is(err, redis.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(r.lease / 300)
			var refusal redis.Error
			if errors.As(err, &refusal) && r.wrong != forgetsRefusals {
				_ = s.pubsub.Subscribe(ctx, r.channel)
			}
			continue
		}
		if _, isAck := message.(*redis.Subscription); isAck {
			if !acknowledged {
				acknowledged = true
				close(s.ready)
			}
			if r.wrong == waitsUnacknowledged || r.wrong == triesOnlyOnce || r.wrong == forgetsReconnects {
				continue
			}
		}
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}
