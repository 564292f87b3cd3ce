package catalogue

import (
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures in normal use, in which nothing goes wrong, or Redis refuses one command. The basic ones are
// asked first, after free-lock-given and second-client.
var normalFailures = []Failure{
	{
		ID: "names-apart", Family: Normal, Basic: true,
		Title:    "two locks of different names",
		Story:    "A holds the lock order:1001. O asks for order:1001:another, and gets it: another name is another lock. If all locks use one key, each of them waits for all others.",
		Fixed:    "Make the key from the name that the constructor gets.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, o := w.Client("A"), w.ClientOf("O", another(w))
			a.Lock()
			if o.TryLock().Held() {
				o.Unlock()
			}
			a.Unlock()
		},
	},
	{
		ID: "client-stays-open", Family: Normal, Basic: true,
		Title:    "the program uses the same Redis for other things",
		Story:    "The program has made the client, and uses it for its business too: there is a stock in Redis. A locks and unlocks. After that the stock must still be there, and A must be able to read it.",
		Fixed:    "Leave the client open: it belongs to the program that made it. Touch the key of the lock only: no FLUSHALL and no FLUSHDB.",
		Breaks:   []oracle.Rule{oracle.NeedlessError, oracle.WrongDelete},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, c := w.Client("A"), w.Client("C")
			a.Lock()
			c.StartRun("SET", stock(w), "7").Wait()
			a.Unlock()
			a.StartRun("GET", stock(w)).Wait()
		},
	},
	{
		ID: "wait-ends-with-context", Family: Normal, Basic: true,
		Title:    "a caller cancels while its Lock is waiting",
		Story:    "A holds the lock, and B waits in Lock. B's caller goes away, just after an attempt of a lock that asks once a second, and cancels the context. Lock has to return soon, with the error of the context. A lock that sleeps, or does not look at its context, keeps a goroutine that is of no use.",
		Fixed:    "Wait with a select on ctx.Done() and a timer, not with time.Sleep. Return ctx.Err() when Lock gives up.",
		Breaks:   []oracle.Rule{oracle.Context},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait := b.StartLock()
			w.Sleep(min(time.Second+50*time.Millisecond, w.Lease/2))
			wait.Cancel()
			w.Sleep(w.Lease / 30)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "connections-given-back", Family: Normal, Basic: true,
		Title:    "a client has few connections",
		Story:    "Each client may open three connections. A locks and unlocks several times, and B tries in between and is refused. Each command has to give its connection back, also after a refusal: otherwise no connection is left soon, and the whole program stands still.",
		Fixed:    "Give back each connection that the lock takes from the client, also when the answer is no: send commands through the client, or defer the Close of a Conn.",
		Breaks:   []oracle.Rule{oracle.NeedlessError},
		Client:   world.Settings{PoolSize: connections},
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			for range connections + 1 {
				a.Lock(world.Within(patience(w)))
				b.TryLock(world.Within(patience(w)))
				a.Unlock()
			}
		},
	},
	{
		ID: "new-values", Family: Normal, Unless: []Feature{FixedValue},
		Title:    "the values of several holds",
		Story:    "A takes the lock several times, also after an Unlock that Redis has refused. At last O takes a lock of another name at the same moment. Each hold needs a value that no other hold has, or a late Unlock deletes the key of another hold. One value for each object, the time, and a short random number are not enough.",
		Fixed:    "Make a new value in TryLock, for each attempt, of at least 8 random bytes: uuid.NewString(), or rand.Text() of crypto/rand.",
		Breaks:   []oracle.Rule{oracle.RepeatedValue},
		Given:    []oracle.Rule{oracle.Leak, oracle.Watchdog, oracle.Truth},
		GivenBy:  "unlock-refused",
		Requires: []Precondition{given("A A A A O")},
		Script: func(w *world.World) {
			a, o, isRefused := w.Client("A"), w.ClientOf("O", another(w)), false
			a.Before(func(c world.Command) bool { return isRefused && c.Op == trace.OpUnlock }).Always().
				Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
			for range 2 {
				a.Lock(world.Within(patience(w)))
				a.Unlock()
				w.Sleep(w.Lease / 1000)
			}
			a.Lock(world.Within(patience(w)))
			isRefused = true
			a.Unlock()
			isRefused = false
			w.Sleep(w.Lease + w.Lease/30)
			a.Lock(world.Within(patience(w)))
			o.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "unlock-again", Family: Normal, Unless: []Feature{Closing},
		Title:    "Redis refuses an Unlock, and the holder calls it again",
		Story:    "Redis refuses A's unlock once. A gets the error and calls Unlock again, and now the key has to go. A lock that has forgotten its value by then leaves the key for the rest of its lease.",
		Fixed:    "Keep what Unlock needs until Redis has answered: after an error it may be called again.",
		Breaks:   []oracle.Rule{oracle.Leak},
		Given:    []oracle.Rule{oracle.Truth}, // a lock may free it in the background instead
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Before(world.Of(trace.OpUnlock, world.Write)).Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
			a.Lock()
			a.Unlock()
			a.Unlock()
			w.Sleep(w.Lease / 15)
			w.Client("B").TryLock()
		},
	},
	{
		ID: "unlock-error-told", Family: Normal,
		Title:    "Redis refuses an Unlock, and the holder has to hear of it",
		Story:    "Redis refuses the first command of A's unlock. A's key is still there. If Unlock returns nil, A believes that the lock is free; if it says that A does not hold the lock, A rolls back for nothing. Then the same with the second command, and so on.",
		Fixed:    "Return the error of each command.",
		Breaks:   []oracle.Rule{oracle.Truth},
		Given:    []oracle.Rule{oracle.Leak, oracle.Watchdog, oracle.HoldCount}, // the key stays, and the watchdog may go on
		Requires: []Precondition{given("A")},
		Script: func(w *world.World) {
			a, isRefused, unlocks := w.Client("A"), true, time.Duration(-1)
			for n := 1; n <= mostCommands && isRefused; n++ {
				nth := world.Nth(n, func(c world.Command) bool { // also in a goroutine that Unlock starts
					return world.Any(c) && (c.Op == trace.OpUnlock || c.Background && w.Now() == unlocks)
				})
				isRefused = false
				a.Before(func(c world.Command) bool { isRefused = isRefused || nth(c); return isRefused }).IfSent().
					Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
				a.Lock(world.Within(patience(w)))
				w.Sleep(w.Lease / 60)
				unlocks = w.Now()
				a.Unlock()
				w.Sleep(w.Lease + w.Lease/30)
			}
		},
	},
	{
		ID: "lock-error-told", Family: Normal,
		Title:   "Redis refuses what a Lock sends",
		Story:   "Redis refuses the second command of O's TryLock, if it sends one. If TryLock says all the same that O has the lock, something is missing that the lock needs, such as its lease. O tries again: Redis is loading, then read-only, then busy, and then silent until O's deadline has passed; for the last attempt the context has ended already. None of that means that another client has the lock. Then A loses its rights: Redis refuses each command. If Lock goes on until its context ends, and tells of a timeout, nobody finds the reason.",
		Fixed:   "Return the error of each command. Go on only after an error that passes.",
		Breaks:  []oracle.Rule{oracle.Truth},
		Given:   []oracle.Rule{oracle.Leak, oracle.Deadlock}, // a key without a lease stays, and A waits for Redis
		GivenBy: "crash-before-expire",
		Script: func(w *world.World) {
			a, o, isFirst := w.Client("A"), w.ClientOf("O", another(w)), true
			tries := func(options ...world.Option) {
				if o.TryLock(options...).Held() {
					o.Unlock()
				}
			}
			second := world.Of(trace.OpTryLock, world.Nth(2, world.Write))
			o.Before(func(c world.Command) bool { return isFirst && second(c) }).IfSent().Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
			tries()
			isFirst = false
			for _, refusal := range []string{"LOADING", "READONLY", "BUSY"} {
				o.Before(world.Of(trace.OpTryLock, world.Any)).Fail(refusal)
				tries()
			}
			o.Before(world.Of(trace.OpTryLock, world.Any)).Delay(w.Lease / 15)
			tries(world.Within(w.Lease / 30))
			tries(world.Done())
			a.Before(world.Any).Always().Fail("NOPERM this user has no permissions to run the command")
			a.Lock(world.Within(patience(w)))
		},
	},
	{
		ID: "unlock-waits", Family: Normal, Needs: []Feature{Watchdog},
		Title:    "Unlock comes while a renewal is under way",
		Story:    "Redis has renewed A's lease, and the answer is late. A unlocks meanwhile. In A's next hold the renewal itself is late: A unlocks, and B takes the lock. If Unlock has not waited for the watchdog, the renewal arrives last. One that compares the owner finds nothing; any other gives B's lock another lease, or sets A's key again.",
		Fixed:    "Let Unlock stop the watchdog and wait until its goroutine has ended, for instance on a channel that it closes, and then delete. Or let each renewal compare the owner: then a late one changes nothing.",
		Breaks:   []oracle.Rule{oracle.EarlyUnlock},
		Requires: []Precondition{given("A A B"), unlocksDuring("A")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			unlocks := func(renewal *world.Fault) {
				renewal.Delay(w.Lease / 15)
				a.Lock(world.Within(patience(w)))
				w.SleepUntil(renewal, w.Lease, w.Lease/30)
				a.Unlock()
			}
			unlocks(a.After(world.Extends))
			unlocks(a.Before(w.Renews))
			b.Lock(world.Within(patience(w)))
			w.Sleep(w.Lease / 15)
			b.Unlock()
		},
	},
	{
		ID: "hold-context-ends", Family: Normal, Needs: []Feature{HoldContext},
		Title:    "work goes on after Unlock",
		Story:    "A gives the context of its hold to a goroutine that creates the order, and unlocks before it is done. Unlock has to end that context, so that the goroutine stops. Otherwise it goes on, B takes the lock, and both create the order.",
		Fixed:    "End the context of the hold in Unlock, before the lock is free.",
		Breaks:   []oracle.Rule{oracle.Damage},
		Requires: []Precondition{given("A B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			hold := a.Lock()
			a.Check(order)
			a.After(world.Of(trace.OpUnlock, world.Write)).Delay(w.Lease / 30)
			unlock := a.StartUnlock()
			w.Sleep(w.Lease / 60)
			createIfFree(w, b)
			if hold.GoesOn() {
				a.Goroutine("G").Insert(order)
			}
			unlock.Wait()
		},
	},
	{
		ID: "waiters-unsubscribe", Family: Normal, Needs: []Feature{PubSub},
		Title:    "a waiter gives up again and again",
		Story:    "A holds the lock. B waits for it three times, one time after the other, and gives up each time. Each wait may subscribe, and has to end its subscription: otherwise each one costs a connection, until Redis accepts no more.",
		Fixed:    "End the subscription when the wait is over, also after an error: with defer sub.Close().",
		Breaks:   []oracle.Rule{oracle.KeptSubscription},
		Requires: []Precondition{given("A"), givesUp("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			for range 3 {
				b.Lock(world.Within(w.Lease / 10))
			}
			a.Unlock()
		},
	},
}

// connections is how many a client may have in connections-given-back.
const connections = 3

// another returns the name of another lock.
func another(w *world.World) string { return w.Lock + ":another" }

// stock returns a key of the business.
func stock(w *world.World) string { return "stock:" + w.Lock }
