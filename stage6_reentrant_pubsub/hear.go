package stage6

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// hearing is the state of a queue's channel in the service's one subscription:
//
//	state   | SUBSCRIBE                        | the lock is looked at | next state
//	unheard | not sent, or refused             | every sixth           | asked, at the next look
//	asked   | under way; go-redis sends it     | every sixth           | heard, or unheard if Redis refuses it
//	        | again when it has connected      |                       |
//	heard   | acknowledged                     | every third           | asked if the connection breaks, unheard
//	        |                                  |                       | if a message was missed
//
// The parts are those of a lease, of a minute at most; a third is 10 s at most. An acknowledgement proves
// nothing: a proxy may give it and deliver no messages, and a connection may be dead. So if a lock is found
// free too early, and no message has come, the service opens another connection. After two such holds in
// a row every lock is looked at every sixth.
type hearing int

const (
	unheard hearing = iota
	asked
	heard
)

const (
	longestUnlooked = 10 * time.Second // the longest time between two looks
	deaf            = 2                // messages missed in a row after which the service relies on none
)

// sleepUntil makes the queue wake up for every message, and at the given time, when the current holder's lease
// may have ended; zero: at the time that was given before. It subscribes the queue's channel.
func (s *Service) sleepUntil(q *waitQueue, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !at.IsZero() {
		q.again = at
	}
	if q.hearing == unheard {
		s.subscribe(q)
	}
	s.askLater(q)
	if q.timer != nil {
		q.timer.Reset(time.Until(q.again))
		return
	}
	s.channels[q.mutex.channel] = append(s.channels[q.mutex.channel], q) // it has not waited before
	q.timer = time.AfterFunc(time.Until(q.again), func() { s.tick(q) })
}

// askLater sets when to look at the queue's lock next, unless the queue wakes up by then. The caller holds s.mu.
func (s *Service) askLater(q *waitQueue) {
	every := s.short() / 6
	if q.hearing == heard && s.missed < deaf {
		every = min(s.short()/3, longestUnlooked)
	}
	q.askAt = time.Now().Add(every)
	if q.askAt.Add(passingPause).After(q.again) {
		q.askAt = time.Time{}
		return
	}
	s.wakeAt(q.askAt)
}

// subscribe sends SUBSCRIBE for the channels of the queues. The caller holds s.mu.
func (s *Service) subscribe(queues ...*waitQueue) {
	var channels []string
	for _, q := range queues {
		q.hearing = asked
		channels = append(channels, q.mutex.channel)
	}
	begin := s.sub == nil
	if begin {
		s.sub = s.rdb.Subscribe(s.ctx) // it has no connection yet
	}
	sub := s.sub
	s.tasks.Go(func() {
		_ = sub.Subscribe(s.ctx, channels...) // if it fails, go-redis subscribes again when it has connected
		if begin {
			s.hear(sub)
		}
	})
}

// tick wakes a queue whose holder's lease may have ended. If the queue has no waiters tick unsubscribes its
// channel, and closes the connection with the last queue.
func (s *Service) tick(q *waitQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isClosed() || s.queues[q.mutex.key] != q:
	case q.waiting > 0:
		q.rouse(false)
	default:
		s.forget(q)
		if len(s.queues) == 0 {
			s.hangUp()
		} else if sub := s.sub; sub != nil {
			s.tasks.Go(func() { _ = sub.Unsubscribe(s.ctx, q.mutex.channel) })
		}
	}
}

// rouse wakes the queue, which then asks for the lock itself. The caller holds Service.mu.
func (q *waitQueue) rouse(heard bool) {
	q.askAt, q.silent = time.Time{}, !heard
	q.signal()
}

// look is a look at the lock of a queue that sleeps, with what the queue knew before.
type look struct {
	*waitQueue
	hearing  hearing
	messages int
	again    time.Time
}

// dueLooks returns the looks that are due now or soon, and subscribes the channels that are not. The caller holds
// s.mu.
func (s *Service) dueLooks(now time.Time) (due []look) {
	var silent []*waitQueue
	for q := range maps.Values(s.queues) {
		switch {
		case q.askAt.IsZero():
		case q.askAt.After(now.Add(s.short() / 24)):
			s.wakeAt(q.askAt)
		default:
			if q.hearing == unheard {
				silent = append(silent, q)
			}
			s.askLater(q)
			due = append(due, look{q, q.hearing, q.messages, q.again})
		}
	}
	if len(silent) > 0 {
		s.subscribe(silent...)
	}
	slices.SortFunc(due, func(a, b look) int { return cmp.Compare(a.mutex.key, b.mutex.key) })
	return due
}

// ask sends some looks, and wakes the queues of the locks that are free. A proxy may not accept a script for
// several locks, or send it to the server of the first one, so a lock is taken for free if it was looked at alone.
func (s *Service) ask(looks []look) {
	ctx, cancel := context.WithTimeout(s.ctx, s.short()/6)
	defer cancel()
	keys := []any{len(looks)}
	for _, l := range looks {
		keys = append(keys, l.mutex.key)
	}
	free, err := s.run(ctx, lookScript, keys).BoolSlice()
	for i, l := range looks {
		isFree := i < len(free) && free[i]
		switch {
		case len(looks) > 1 && (isFree || codeOf(err) != "" && !isTemporary(err)):
			s.tasks.Go(func() { s.ask([]look{l}) })
		case isFree:
			s.found(l)
		}
	}
}

// found wakes the queue of a lock that is free. If Redis had reported that it is held for longer, and no message
// comes, a message was missed.
func (s *Service) found(l look) {
	s.mu.Lock()
	l.rouse(false)
	s.mu.Unlock()
	if !time.Now().Before(l.again) || !pause(s.ctx, passingPause) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.hearing != heard || l.waitQueue.messages > l.messages || s.missed == deaf {
		return
	}
	if s.missed++; s.missed == deaf {
		s.warn("messages do not arrive: from now on locks are looked at every sixth of a lease")
	}
	s.hangUp()
}

// hear wakes queues for every message, and for every acknowledgement of a subscription, since
// messages published before it were missed. go-redis connects and subscribes again by itself,
// but does not check whether Redis refuses.
func (s *Service) hear(sub *redis.PubSub) {
	defer context.AfterFunc(s.ctx, func() { _ = sub.Close() })() // ends the wait for a message
	for {
		message, err := sub.Receive(s.ctx)
		wait, goesOn := s.hearOne(sub, message, err)
		if !goesOn {
			return
		}
		if err != nil {
			s.warn("waiting without messages", "error", err)
			pause(s.ctx, wait)
		}
	}
}

// hearOne handles what the subscription has received. It returns how long to pause after an error, and false if
// the subscription was closed.
func (s *Service) hearOne(sub *redis.PubSub, message any, err error) (pause time.Duration, goesOn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub != sub || s.isClosed() {
		return 0, false
	}
	switch m := message.(type) {
	case *redis.Message:
		for _, q := range s.channels[m.Channel] { // names may share a channel
			q.messages++
			q.rouse(true)
		}
		if s.missed < deaf {
			s.missed = 0
		}
	case *redis.Subscription: // or an unsubscription: there may be a new waiter since
		for _, q := range s.channels[m.Channel] {
			if q.hearing = unheard; m.Kind == "subscribe" {
				q.hearing, s.retryIn = heard, passingPause
			}
			q.rouse(true)
		}
	}
	if err == nil {
		return 0, true
	}
	code, wait := codeOf(err), passingPause
	soon := time.Now().Add(s.short() / 6)
	if code != "NOPERM" { // otherwise one channel is refused, and the others go on
		wait, s.retryIn = s.retryIn, min(2*s.retryIn, s.short()/6)
	}
	if isTemporary(err) { // the next look subscribes again
		soon = time.Now().Add(wait)
	}
	for q := range maps.Values(s.queues) {
		if code == "" || code == "WRONGPASS" { // go-redis connects again, and subscribes
			q.hearing = asked
		} else if q.hearing == asked {
			q.hearing = unheard
		}
		if soon.Before(q.askAt) {
			q.askAt = soon
			s.wakeAt(soon)
		}
	}
	return wait, true
}

// hangUp closes the subscription. The caller holds s.mu.
func (s *Service) hangUp() {
	sub := s.sub
	if sub == nil {
		return
	}
	s.sub = nil
	for q := range maps.Values(s.queues) {
		q.hearing = unheard
	}
	s.tasks.Go(func() { _ = sub.Close() })
}
