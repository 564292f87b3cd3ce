package lesson

import (
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson/locks"
)

var chapter6 = Chapter{
	Title: "Wake me when it is free",
	Lead:  "A has the lock, and B does not want to ask all the time. So Unlock publishes a message.",
	Parts: []Part{
		{
			Facts: []i18n.Text{
				"B does three things in your order. If it does not have the lock then, it waits for the message, or 30 s, and tries again.",
				"B's SUBSCRIBE takes two seconds to reach Redis. A unlocks at second 1.",
				"B can only wait for the acknowledgement when it has sent SUBSCRIBE.",
			},
			Ask:   "In which order does B get the lock within two seconds of the unlock?",
			Moves: []i18n.Text{"SUBSCRIBE K", "wait until Redis acknowledges it", "try: SET K NX"},
			Known: locked, Is: func(tr *trace.Trace) bool { return !sleeps(tr) }, Run: waitsWhile(subscribing),
			Answers: []Answer{
				{Order: "123", With: inSteps("123"), Then: "B has it at second 2, with a single try, the last. A lock may try once more before it subscribes: that only saves the subscription if the lock is free."},
				{Order: "132", With: inSteps("132"), Then: "B sleeps. It had sent SUBSCRIBE when it tried, but Redis had not seen it. Between the refusal and the acknowledgement B neither asks nor listens."},
				{Order: "312", With: inSteps("312"), Then: "B sleeps. Redis keeps no message: it reached nobody. B knows that it listens now, and does not ask what it has missed."},
			},
		},
		{
			Stage: "6.4", File: "wait.go",
			Code: []string{"hold, left, err := m.try", "sub := m.rdb.Subscribe", "case <-woken", "case <-time.After", "hold, left, err = m.try"},
			Facts: []i18n.Text{
				"woken gets the messages, and the acknowledgement of SUBSCRIBE.",
				"A unlocks a second after B's call. What is on its way then reaches Redis at second 2.",
			},
			Ask:   "When must A unlock, so that B sleeps beside a free lock?",
			Known: locked, Is: sleeps,
			Answers: []Answer{
				{Words: "Redis has not seen the first try", Before: "hold, left, err := m.try", Run: waitsWhile(trying), Then: "Safe. B asks when the lock is free."},
				{Words: "Redis has not seen SUBSCRIBE", Before: "case <-woken", Run: waitsWhile(subscribing), Then: "Safe. The message is missed, and the acknowledgement wakes B: it asks once more."},
				{Words: "B waits", Before: "hold, left, err = m.try", Run: waitsWhile(nil), Then: "Safe. B hears the message, and asks."},
				{Words: "at none of them", None: true, Run: waitsWhile(nil), Then: "Right. None of the three makes B sleep: an acknowledgement is a reason to ask again, as a message is."},
			},
		},
	},
	Remember: "A message reaches only those who listen. Ask once more when you know that you listen.",
	Entry:    "waiting-lost",
	Next:     "B is woken, A is told of a loss. What if A cannot hear it?",
}

// locked reports whether an event is the return of an acquire that got the lock.
func locked(e trace.Event) bool { return e.Acquires() }

// sleeps reports whether a run lasts more than two seconds longer than A's hold.
func sleeps(tr *trace.Trace) bool {
	free := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Effects.Include(trace.Removed, trace.Lapsed) })
	return tr.Events[len(tr.Events)-1].At > tr.Events[free].At+2*time.Second
}

// The commands of B that may be slow.
var trying, subscribing = world.Of(trace.OpLock, world.Write), world.Named("SUBSCRIBE")

// waitsWhile lets B wait for the lock, and A unlock a second later. One command of B takes two seconds.
func waitsWhile(slow world.Match) func(*world.World) {
	return func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.TryLock()
		if slow != nil {
			b.Before(slow).Delay(2 * time.Second)
		}
		lock := b.StartLock()
		w.Sleep(time.Second)
		a.Unlock()
		lock.Wait()
	}
}

// inSteps makes the lock a waiter that does the steps in an order.
func inSteps(order string) func(*world.Config) {
	return func(c *world.Config) { c.New = locks.Waiter(order) }
}
