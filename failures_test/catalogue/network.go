package catalogue

import (
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures of the network: a reply is late or lost, and go-redis sends again.
var networkFailures = []Failure{
	{
		ID: "slow-grant", Family: Network,
		Title:    "the reply to the acquire comes after the lease",
		Story:    "Redis grants A the lock, and A stands still before it can read the reply. When it reads OK, the lease is over and B is inside; A believes the OK and enters too.",
		Fixed:    "Count the lease from the moment the command was sent, and refuse a grant that is already over.",
		Breaks:   []oracle.Rule{oracle.Exclusion},
		Requires: []Precondition{given("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(w.Grants).Freeze()
			lock := a.Lock(world.Within(2 * w.Lease))
			w.Sleep(w.Lease + w.Lease/30)
			b.Lock(world.Within(patience(w)))
			a.Thaw()
			lock.Wait()
		},
	},
	{
		ID: "each-grant-late", Family: Network, Lease: 3 * time.Second,
		Title:   "the way to Redis takes longer than the lease",
		Story:   "A asks for the lock with a lease of 3 s, and each reply to an acquire takes longer: the lease is too short for that network. A cannot use such a grant. If A asks again each time it gets one, TryLock never returns, and keeps Redis busy.",
		Fixed:   "TryLock gives up after a few grants that came too late, and returns an error: the lease is too short for the round trip to Redis.",
		Breaks:  []oracle.Rule{oracle.Waiting},
		Given:   []oracle.Rule{oracle.Exclusion},
		GivenBy: "slow-grant",
		Client:  world.Settings{ReadTimeout: -1},
		Live:    leaseOfMachine,
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Always().Delay(w.Lease * 7 / 6)
			a.TryLock()
			b.Lock(world.Within(w.Lease + patience(w)))
		},
	},
	{
		ID: "grant-reply-lost", Family: Network, FirstScreen: true,
		Title:  "the reply to the acquire is lost",
		Story:  "Redis executes A's acquire, and the connection dies before the reply. A gets an error and gives up; its key stays and blocks all other clients.",
		Fixed:  "After an acquire whose outcome is unknown, free what it may have got.",
		Breaks: []oracle.Rule{oracle.Leak},
		Given:  []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Drop()
			a.Lock()
			asks(w, b, patience(w))
		},
	},
	answeredByProxy(Failure{
		ID:    "grant-answered-with-error",
		Title: "Redis executes the acquire, and a proxy answers with an error",
		Story: "A talks to Redis through a proxy. Redis executes A's acquire, but the proxy loses its connection to Redis, or times out, and answers with an error of its own. A takes it for an answer of Redis and gives up; its key stays and blocks all other clients.",
	}, "upstream failure"), // the words of Envoy
	answeredByProxy(Failure{
		ID:    "grant-answered-with-code",
		Title: "Redis executes the acquire, and a proxy answers with an ERR",
		Story: "Another proxy loses its connection after Redis has executed A's acquire. Its errors begin with ERR, like errors of Redis itself that mean that nothing was done. A takes it for one of those and gives up; its key stays and blocks all other clients.",
	}, "ERR server connection close"), // those of predixy
	{
		ID: "grant-lost-asked-again", Family: Network,
		Title:  "the reply to the acquire is lost, and A asks again",
		Story:  "Redis executes A's acquire, and the reply is lost. A gets an error and calls Lock once more, as a retry of the business does, and unlocks once. The key of the first attempt blocks A; or Redis grants A the lock a second time, its count is two, and one Unlock does not free it.",
		Fixed:  "If the outcome of an attempt is unknown, free what it may have got before the next attempt. Set the owner's count, do not add to it.",
		Breaks: []oracle.Rule{oracle.Leak, oracle.Deadlock, oracle.HoldCount},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Drop()
			lock := a.Lock()
			if !lock.Held() {
				lock = a.Lock(world.Within(patience(w)))
			}
			if lock.Held() {
				a.Unlock()
			}
			asks(w, b, patience(w))
		},
	},
	{
		ID: "close-after-lost-grant", Family: Network, Needs: []Feature{Closing},
		Title:    "the service is closed during an acquire, and during a hold",
		Story:    "Redis grants A the lock, and the reply is slow. A's process closes the lock meanwhile, since it is about to end, and A's caller gives up. If Close does not wait for the acquire, or stops its clean-up, the key stays, and B waits for a process that is gone. B locks once more, and is at work when its process closes the lock there too: B has to be told, and its key must not be renewed again. G waits for the lock in the same process: its Lock has to return without the lock.",
		Fixed:    "Close waits for the acquires under way, and frees what they got. It ends every wait, and every hold with its watchdog.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Deadlock, oracle.Exclusion, oracle.Watchdog, oracle.Context},
		Requires: []Precondition{given("B B"), waitsAs("G", trace.OpClose), closes("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Delay(w.Lease / 15)
			lock := a.StartLock(world.Within(w.Lease / 30))
			w.Sleep(w.Lease / 60)
			a.Close()
			lock.Wait()
			w.Sleep(w.Lease / 15)
			if !asks(w, b, patience(w)).Held() {
				return
			}
			b.Unlock()
			b.Lock() // with a context that does not end
			b.Goroutine("G").StartLock()
			w.Sleep(w.Lease / 2)
			b.Close()
			w.Client("C").TryLock()
			w.Sleep(w.Lease + w.Lease/32)
		},
	},
	{
		ID: "close-during-unlock", Family: Network, Needs: []Feature{Closing},
		Title:    "the service is closed while an Unlock is under way",
		Story:    "A unlocks, and the command is slow. A's process is about to end: it closes the lock, and then its connections. If Close returns before the Unlock has ended, the Unlock loses its connection. The key stays, and B waits for a process that is gone.",
		Fixed:    "Close waits for the Unlocks under way.",
		Breaks:   []oracle.Rule{oracle.Leak, oracle.Deadlock},
		Requires: []Precondition{given("A"), closes("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Before(world.Of(trace.OpUnlock, world.Write)).Delay(w.Lease / 15)
			unlock := a.StartUnlock()
			w.Sleep(w.Lease / 60)
			a.Close()
			a.Cut()
			unlock.Wait()
			asks(w, b, patience(w))
		},
	},
	{
		ID: "acquire-after-its-caller", Family: Network, Variant: LongLease,
		Title:  "an acquire with a long lease is executed after its caller has given up",
		Story:  "A's lease for this lock is twenty times as long as those that its watchdog renews. A asks for it while Redis stands still, and gives up. It frees what it may have got, and finds nothing. When Redis goes on, it executes the acquire. If A has stopped looking by then, nobody holds the lock, and B waits until the long lease is over.",
		Fixed:  "A looks until it has found its key, or its own lease is over, with pauses that double. That it found nothing proves nothing: the command may still be on its way.",
		Breaks: []oracle.Rule{oracle.Deadlock},
		Given:  []oracle.Rule{oracle.Leak}, // the key is there before any client can free it
		Live:   leaseOfMachine,
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Before(world.Write).Delay(w.Lease / 10)
			a.Lock(world.Within(w.Lease / 60))
			w.Sleep(w.Lease / 10)
			asks(w, b, patience(w))
		},
	},
	{
		ID: "retry-nx-false", Family: Network, Unless: []Feature{Reentry},
		Title:  "the reply to SET NX is lost, and go-redis sends it again",
		Story:  "The reply to A's acquire is lost. go-redis, which retries three times by default, sends it again, and now the key exists: A's own. A is told that another client holds the lock.",
		Fixed:  "Lock commands are sent once, or are written so that a repetition does no harm.",
		Breaks: []oracle.Rule{oracle.Truth},
		Given:  []oracle.Rule{oracle.Leak, oracle.Deadlock}, // the key stays, since A does not know of it
		Client: world.DefaultRetries,
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Drop()
			a.TryLock()
			b.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "unlock-lost", Family: Network,
		Title:    "the Unlock is lost on its way",
		Story:    "A's connection breaks before its unlock reaches Redis. If Unlock gives up now, A's key stays, and the others wait until its lease ends, although A has done its work and Redis could be reached again at once.",
		Fixed:    "Unlock asks again until Redis has answered, for a part of the lease at most.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Given:    []oracle.Rule{oracle.Deadlock}, // B waits for the key that leaked
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Before(world.Of(trace.OpUnlock, world.Any)).Drop()
			a.Unlock()
			asks(w, b, patience(w))
		},
	},
	{
		ID: "unlock-without-network", Family: Network,
		Title:    "there is no network for the whole time of an Unlock",
		Story:    "A's network is gone as A unlocks, and comes back only when Unlock has returned. However often it has asked, Redis knows nothing of it, and A's key is still there. If Unlock returns nil after its last attempt, A believes that the lock is free, and B is kept out until the lease ends.",
		Fixed:    "After the last attempt Unlock returns the error of that attempt.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Given:    []oracle.Rule{oracle.Leak, oracle.Watchdog},
		GivenBy:  "unlock-lost",
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			a.Cut()
			a.Unlock()
			w.Sleep(w.Lease / 15)
			b.TryLock()
			a.Heal()
		},
	},
	{
		ID: "retry-unlock", Family: Network,
		Title:    "go-redis repeats the Unlock, and B has the lock by now",
		Story:    "Redis executes A's unlock, and the reply is lost. Before go-redis sends it again, B takes the lock. The repetition removes B's key; or, where the owner is compared in Redis, tells A that it lost a lock it has just freed.",
		Fixed:    "Lock commands are sent once. If the outcome of an unlock is unknown and the next attempt finds nothing, Unlock returns an error that says so. With fencing tokens it can know more: if no client came after, it has succeeded.",
		Breaks:   []oracle.Rule{oracle.WrongDelete, oracle.Truth},
		Client:   world.DefaultRetries,
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			unlocking := world.Of(trace.OpUnlock, world.Write)
			a.After(unlocking).Drop()
			a.Before(world.Nth(2, unlocking)).IfSent().Freeze()
			unlock := a.Unlock()
			b.Lock(world.Within(patience(w)))
			a.Thaw()
			unlock.Wait()
			c.TryLock()
		},
	},
}

// answeredByProxy completes a failure in which a proxy answers the acquire with these words after
// Redis has executed it.
func answeredByProxy(f Failure, words string) Failure {
	f.Family = Network
	f.Fixed = "An acquire is refused only if the error is one that Redis is known to refuse with, such as OOM. After any other error the outcome is unknown: free what the acquire may have got."
	f.Breaks = []oracle.Rule{oracle.Leak}
	f.Given = []oracle.Rule{oracle.Deadlock} // B waits for the key that leaked
	f.Script = func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Fail(words)
		a.Lock()
		asks(w, b, patience(w))
	}
	return f
}
