package catalogue

import (
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures of contexts: the caller goes away while a command is on its way.
var contextFailures = []Failure{
	{
		ID: "cancel-in-flight", Family: Contexts, FirstScreen: true,
		Title:  "an acquire is cancelled before its reply arrives",
		Story:  "A's request is cancelled while the reply to its acquire is on its way. go-redis does not break off a command that has been sent, so A gets its OK. Stage 1 still has to send PEXPIRE, and with a cancelled context it sends nothing: a key without a lease.",
		Fixed:  "One command: either nothing was sent, or the whole lock was taken and the caller knows.",
		Breaks: []oracle.Rule{oracle.Leak, oracle.Truth},
		Given:  []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Delay(w.Lease / 30)
			lock := a.StartLock()
			w.Sleep(w.Lease / 60)
			lock.Cancel()
			if lock.Wait(); lock.Held() {
				a.Unlock()
			}
			asks(w, b, patience(w))
		},
	},
	{
		ID: "deadline-in-flight", Family: Contexts,
		Title:  "the deadline passes while the acquire is on its way",
		Story:  "Redis grants A the lock, and A's deadline passes before the reply arrives. A gets an error and gives up; its key stays and blocks all other clients.",
		Fixed:  "After an acquire whose outcome is unknown, free what it may have got, with a separate context.",
		Breaks: []oracle.Rule{oracle.Leak},
		Given:  []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Delay(w.Lease / 30)
			a.Lock(world.Within(w.Lease / 60))
			w.Sleep(w.Lease / 30)
			asks(w, b, patience(w))
		},
	},
	{
		ID: "acquire-arrives-late", Family: Contexts,
		Title:    "the acquire arrives when its caller has gone",
		Story:    "A's acquire is stuck in the network, and A's deadline passes. A cleans up at once, but there is no key yet. Then the acquire arrives: Redis grants the lock, but its caller has gone, and the key blocks all other clients. Later C's process stands still for more than a lease before its acquire leaves. A lock that counts its lease from before the pause believes that the lease is over when the grant arrives, and asks again: C's own key must not block C.",
		Fixed:    "The clean-up tries again, at longer and longer intervals, until it finds the key or the lease would be over.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Given:    []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Requires: []Precondition{arrivesTooLate("A")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Before(world.Of(trace.OpLock, world.Write)).Delay(w.Lease / 15)
			lock := a.Lock(world.Within(w.Lease / 30))
			w.Sleep(w.Lease / 4)
			if b.Lock(world.Within(patience(w))).Held() {
				b.Unlock()
			}
			if lock.Held() { // it ignores its context
				a.Unlock()
			}
			c.Before(world.Of(trace.OpLock, world.Write)).Freeze()
			lock = c.Lock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease + w.Lease/30)
			c.Thaw()
			if lock.Wait(); lock.Held() {
				c.Unlock()
			}
			w.Sleep(w.Lease / 15)
			b.TryLock()
		},
	},
	{
		ID: "acquire-arrives-last", Family: Contexts,
		Title:    "the acquire arrives when half of its lease is over",
		Story:    "A's acquire is stuck in the network for about half a lease, and A's deadline has passed long ago. A cleans up several times, and finds no key of its own: C takes the lock meanwhile, and frees it. A clean-up that deletes without comparing lets two inside. Then the acquire arrives. A clean-up that has given up by then leaves a key that blocks all other clients for a whole lease.",
		Fixed:    "The clean-up compares the owner, and tries again, at longer and longer intervals, until it finds the key or the lease would be over.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.WrongDelete},
		Given:    []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Requires: []Precondition{arrivesTooLate("A")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Before(world.Of(trace.OpLock, world.Write)).Delay(w.Lease * 7 / 15)
			began := w.Now()
			lock := a.Lock(world.Within(w.Lease / 30))
			end := w.Now() + w.Lease*3/5
			w.Sleep(w.Lease / 15)
			if c.Lock(world.Within(patience(w))).Held() {
				w.Sleep(max(0, began+w.Lease*2/5-w.Now())) // before A's acquire arrives
				c.Unlock()
			}
			w.Sleep(max(0, end-w.Now()))
			b.Lock(world.Within(patience(w)))
			if lock.Held() { // it ignores its context
				a.Unlock()
			}
		},
	},
	{
		ID: "network-gone", Family: Contexts,
		Title:    "Redis cannot be reached, and the caller has a deadline",
		Story:    "A's network is gone: what A sends is not answered, and new connections fail. A tries to lock, and then waits for the lock, each time with a deadline. Both calls have to return when it passes, whatever command the lock waits for.",
		Fixed:    "Each command of an acquire gets the caller's context, and the client obeys deadlines: ContextTimeoutEnabled.",
		Breaks:   []oracle.Rule{oracle.Context},
		Requires: []Precondition{given("A")}, // so A has a connection
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Lock()
			a.Unlock()
			a.Cut()
			a.TryLock(world.Within(w.Lease / 60))
			a.Lock(world.Within(w.Lease / 60))
		},
	},
	{
		ID: "unlock-cancelled-ctx", Family: Contexts,
		Title:    "the deferred Unlock gets a context that has already ended",
		Story:    "A's request is cancelled while A holds the lock. Its deferred Unlock(ctx) gets this cancelled context, and go-redis sends nothing. B waits until the lease ends.",
		Fixed:    "Unlock does not use the caller's context: it makes its own, with a short deadline.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Given:    []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Unlock(world.Done())
			asks(w, b, patience(w))
		},
	},
	{
		ID: "unlock-comes-back-early", Family: Contexts,
		Title:    "A's unlock is slow on its way to Redis",
		Story:    "A's unlock is slow on its way to Redis. When Unlock returns, A's next step relies on the lock being free. Then A holds the lock once more, and unlocks it for a request that has been cancelled, just as slowly. An Unlock that hands the work to a goroutine, for each caller or only for one that is cancelled, returns while the key is still there; so does one that sends nothing.",
		Fixed:    "Unlock waits for the answer of Redis, with a context of its own.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Truth},
		Requires: []Precondition{given("A A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			for _, option := range []world.Option{world.Within(w.Lease), world.Done()} {
				a.Lock(world.Within(patience(w)))
				a.Before(world.Write).IfSent().Delay(w.Lease / 15) // also what a goroutine sends
				a.Unlock(option)
				w.Sleep(w.Lease / 4)
			}
			b.TryLock()
		},
	},
	{
		ID: "acquire-context-ends", Family: Contexts, Needs: []Feature{Watchdog},
		Title:    "the request that took the lock ends, and the work goes on",
		Story:    "A takes the lock with the context of a request. The request is answered, its context ends, and A goes on working in the background. A watchdog that uses that context ends with it: the lease ends, and B gets the lock while A is at work.",
		Fixed:    "The watchdog ends with the hold, not with the context that took it.",
		Breaks:   []oracle.Rule{oracle.Exclusion, oracle.Watchdog},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			request := a.Lock()
			w.Sleep(w.Lease / 2)
			request.Cancel()
			w.Sleep(w.Lease + w.Lease/32)
			b.Lock(world.Within(patience(w)))
			a.Unlock()
		},
	},
}
