package catalogue

import (
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// Failures of waiting: a wake-up is lost, or goes to a waiter that has left. Locks that poll
// have few of them, but send more commands.
var waitingFailures = []Failure{
	{
		ID: "unlock-wakes", Family: Waiting,
		Title:    "a client unlocks while another one waits",
		Story:    "B waits while A holds the lock. A unlocks, and B has to get the lock now, not when A's lease would have ended.",
		Fixed:    "The unlock script publishes a message, and the waiter has subscribed to its channel.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 4)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "wake-lost", Family: Waiting,
		Title:    "the message is published before the waiter listens",
		Story:    "B's attempt fails, and B subscribes. While SUBSCRIBE is on its way, A unlocks and publishes: B does not listen yet. If B now waits for a message, it waits for the whole lease although the lock is free.",
		Fixed:    "Wait until Redis has acknowledged SUBSCRIBE, then try once more, then wait.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.Before(world.Named("SUBSCRIBE")).Delay(w.Lease / 15)
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 30)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "wake-early", Family: Waiting,
		Title:    "the message overtakes the refusal",
		Story:    "B listens and tries once more. Redis refuses, and the refusal is slow. A unlocks, and the message is there first, when B does not wait yet. Then B reads the refusal and waits. A wake-up that reaches only waiters that already wait is lost.",
		Fixed:    "A wake-up is kept until a waiter takes it: a channel with room for one.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			b.After(world.Nth(2, world.Of(trace.OpLock, world.Write))).Delay(w.Lease / 30)
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 60)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "waiter-leaves", Family: Waiting,
		Title:    "two of three waiters leave",
		Story:    "B, D and G wait in one process and share its subscription. B's caller cancels, then D's, and both leave. G must still hear that A unlocks.",
		Fixed:    "The subscription is counted: the last one to leave ends it, not the first.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("G")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			var waits []*world.Call
			for _, waiter := range []*world.Client{b, b.Goroutine("D"), b.Goroutine("G")} {
				waits = append(waits, waiter.StartLock(world.Within(w.Lease+patience(w))))
				w.Sleep(w.Lease / 60)
			}
			for _, leaves := range waits[:2] {
				leaves.Cancel()
				leaves.Wait()
				w.Sleep(w.Lease / 60)
			}
			a.Unlock()
			waits[2].Wait()
		},
	},
	{
		ID: "clean-up-wakes", Family: Waiting, Needs: []Feature{PubSub},
		Title:    "a waiter sleeps behind an acquire that is taken back",
		Story:    "A's acquire is executed, and its reply is late. B asks, is refused, and waits. A's deadline passes, and its lock frees the key. If that clean-up sends no message, B sleeps beside a free lock until the lease of A would have ended. Then Redis renews A's lease, and each answer is late: A believes that its hold is lost, and its Unlock frees the key. B must hear of that, too.",
		Fixed:    "Whatever frees the lock publishes: Unlock, the clean-up, and the Unlock of a lost hold.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp},
		Given:    []oracle.Rule{oracle.Leak, oracle.Deadlock},
		GivenBy:  "deadline-in-flight",
		Requires: []Precondition{waitsAs("B", string(trace.Executed))},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.After(world.Installs).Delay(w.Lease / 8)
			lock := a.StartLock(world.Within(w.Lease / 15))
			w.Sleep(w.Lease / 30)
			wait := b.StartLock(world.Within(w.Lease / 2))
			wait.Wait()
			lock.Wait()
			if b.Unlock(); !wait.Held() {
				return
			}
			a.Lock()
			a.After(world.Extends).Always().IfSent().Delay(w.Lease)
			w.Sleep(w.Lease + w.Lease/30)
			wait = b.StartLock(world.Within(w.Lease / 2))
			w.Sleep(w.Lease / 30)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "name-is-a-pattern", Family: Waiting, Needs: []Feature{PubSub},
		Title:    "the lock's name has characters of a pattern",
		Story:    "The lock's name has a star and brackets. A holds it, and B waits. In a pattern these characters stand for others: a waiter that subscribes to a pattern does not hear of this lock, and sleeps until the lease ends.",
		Fixed:    "SUBSCRIBE to the channel of the one lock, not PSUBSCRIBE.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			name := w.Lock + "[10]*?"
			a, b := w.ClientOf("A", name), w.ClientOf("B", name)
			a.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 30)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "waiter-gives-up", Family: Waiting,
		Title:    "waiters give up or die, and then another client asks",
		Story:    "B waits while A holds the lock, and gives up. G, a goroutine of B's process, waits behind B and gives up before it. B's connection breaks once, which wakes B for nothing. Both must return when their contexts end. Then A unlocks, and C asks: no other client wants the lock, so C has to get it. D waits for C, and dies; C unlocks, and E asks. A lock that keeps its waiters in a queue in Redis refuses C if B is still in the queue, and refuses E forever if the place of D stays.",
		Fixed:    "A waiter that gives up leaves the queue, and a place expires when its waiter's heartbeat stops. A waiter looks at its context wherever it waits: behind another waiter, and after a wake-up.",
		Breaks:   []oracle.Rule{oracle.Truth, oracle.Context, oracle.Deadlock},
		Requires: []Precondition{given("A"), givesUp("B"), givesUp("G"), given("C"), waitsAs("D", string(trace.Slept))},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			first := b.StartLock(world.Within(patience(w)))
			w.Sleep(w.Lease / 64) // so that the two never ask at the same moment
			second := b.Goroutine("G").StartLock(world.Within(patience(w) / 10))
			w.Sleep(w.Lease / 60)
			b.BreakSubscriptions()
			second.Wait()
			first.Wait()
			a.Unlock()
			c.TryLock()
			d, e := w.Client("D"), w.Client("E")
			d.StartLock()
			w.Sleep(w.Lease / 60)
			d.Crash()
			c.Unlock()
			asks(w, e, w.Lease+patience(w))
		},
	},
	{
		ID: "wake-eaten", Family: Waiting,
		Title:    "a waiter is woken and leaves",
		Story:    "B and G wait in one process. A unlocks, and B is woken. B's attempt is stuck in the network, B's deadline passes, and B leaves with the only wake-up. G goes on sleeping although the lock is free.",
		Fixed:    "A waiter that leaves after being woken passes the wake-up on.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Given:    []oracle.Rule{oracle.BoundedWait}, // G may overtake B, which leaves
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B G")},
		Live:     "when B's last command is late depends on what the others do at the same moment",
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			g := b.Goroutine("G")
			a.Lock()
			first := b.StartLock(world.Within(w.Lease / 10))
			w.Sleep(w.Lease / 60)
			second := g.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 15)
			b.Before(world.Of(trace.OpLock, attemptOf("B"))).Delay(w.Lease / 6)
			a.Unlock() // just before B's deadline
			first.Wait()
			second.Wait()
		},
	},
	{
		ID: "pubsub-cut", Family: Waiting,
		Title:    "the subscriber's connection breaks as the message is sent",
		Story:    "B waits. A unlocks and publishes, and B's connection breaks before B can read the message. go-redis connects and subscribes again by itself, but the message is not published again.",
		Fixed:    "Every acknowledgement of SUBSCRIBE counts as a wake-up, also one after a reconnect.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 12)
			b.Cut()
			a.Unlock() // the message is on its way to B
			b.BreakSubscriptions()
			b.Heal()
			wait.Wait()
		},
	},
	{
		ID: "resubscribe-refused", Family: Waiting,
		Title:    "the subscription is refused after a reconnect",
		Story:    "B waits, and Redis is started again. B's connection breaks, go-redis connects and subscribes again by itself, and Redis, which is loading its data, refuses. B is not told, and goes on waiting for messages. A unlocks, and B sleeps although the lock is free.",
		Fixed:    "After a reconnect Redis has to acknowledge the subscription again. Until then the waiter asks now and then, and subscribes again.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 12)
			b.Before(world.Named("SUBSCRIBE")).Fail("LOADING Redis is loading the dataset in memory")
			b.BreakSubscriptions()
			w.Sleep(w.Lease / 12)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "expiry-wakes", Family: Waiting,
		Title:    "the holder dies and publishes nothing",
		Story:    "B waits while A holds the lock, and A dies. Its lease ends, but an expired key sends no message. A waiter that listens only for messages waits forever. One that asks for the rest of the lease in whole seconds wakes up too early, and keeps Redis busy until the lease is over.",
		Fixed:    "The wait ends with the lease of the holder, message or not.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock, oracle.CommandCount},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(w.Lease / 100) // the rest of the lease is no whole number of seconds
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 6)
			a.Crash()
			wait.Wait()
		},
	},
	{
		ID: "subscription-silent", Family: Waiting,
		Title:    "a subscription falls silent",
		Story:    "B waits, and Redis no longer knows that it listens: a firewall has forgotten the connection, which stays open. The holder dies, and B gets the lock when the lease is over, as it would in any case. But B's process keeps the dead subscription: the next time A unlocks, B sleeps although the lock is free.",
		Fixed:    "If the lock became free without a message, the process subscribes again.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("C B A"), waits("B"), ends("C")},
		Live:     "a test cannot make a real connection fall silent",
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			c.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 12)
			b.LoseSubscriptions()
			c.Crash()
			wait.Wait()
			b.Unlock()
			a.Lock(world.Within(patience(w)))
			wait = b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 12)
			a.Unlock()
			wait.Wait()
		},
	},
	{
		ID: "expiry-among-many", Family: Waiting, Variant: Crowded,
		Title:    "a process waits for five locks, and the lease of one ends",
		Story:    "A holds five locks, four of them with long leases, and dies. B's process waits for all of them, and hears of each over one connection. The lease of this lock ends without a message, as it does, and B gets it, gives it back to C, and waits again. A process that takes this for a dead connection opens a new one, and then the waiters of the other four locks ask too.",
		Fixed:    "Only the lock that had no message is subscribed again. The end of a lease costs no more than with one lock.",
		Breaks:   []oracle.Rule{oracle.CommandCount},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A B C"), ends("A")},
		Script: func(w *world.World) {
			a, c := w.Client("A"), w.Client("C")
			a.Lock()
			w.Sleep(w.Lease / 2)
			b := w.Client("B") // its other waiters ask again a lease later
			a.Crash()
			b.Lock(world.Within(w.Lease + patience(w)))
			b.Unlock()
			c.TryLock()
			b.StartLock()
			w.Sleep(w.Lease / 12)
		},
	},
	{
		ID: "publish-before-delete", Family: Waiting,
		Title:    "replies to an Unlock are slow, and a client dies in its Unlock",
		Story:    "B waits. A's Unlock sends one command after the other, and each reply is a little late. If it publishes first and deletes then, B is woken, finds the key still there, and waits for a message that has been sent already. Then C waits, and B dies after the first command of its Unlock. If that command deletes the key, and the message was to come with a second one, C sleeps although the lock is free.",
		Fixed:    "One script deletes and publishes, in this order.",
		Breaks:   []oracle.Rule{oracle.LostWakeUp, oracle.Deadlock},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A B"), waits("B"), waits("C")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 4)
			a.After(world.Of(trace.OpUnlock, world.Any)).Always().Delay(w.Lease / 120)
			unlock := a.StartUnlock()
			wait.Wait()
			unlock.Wait()
			wait = c.StartLock(world.Within(w.Lease + patience(w)))
			w.Sleep(w.Lease / 4)
			b.After(world.Of(trace.OpUnlock, world.Any)).Crash()
			b.StartUnlock()
			wait.Wait()
		},
	},
	{
		ID: "fair-in-process", Family: Waiting,
		Title:    "three goroutines of one process wait, one after another",
		Story:    "B, G and H are goroutines of one process and begin to wait one after another. Each unlocks soon after it gets the lock. The first to ask must get it first, or one of them may wait forever in a busy process.",
		Fixed:    "A queue in the process: one waiter at a time asks Redis.",
		Breaks:   []oracle.Rule{oracle.BoundedWait},
		Needs:    []Feature{PubSub},
		Requires: []Precondition{given("A"), waits("B G H")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			clients := []*world.Client{b, b.Goroutine("G"), b.Goroutine("H")}
			a.Lock()
			var waits []*world.Call
			for _, client := range clients {
				waits = append(waits, client.StartLock())
				w.Sleep(w.Lease / 60)
			}
			a.Unlock()
			for range clients {
				w.Sleep(w.Lease / 60)
				for i, wait := range waits {
					if wait != nil && wait.Held() {
						clients[i].Unlock()
						waits[i] = nil
					}
				}
			}
		},
	},
	{
		ID: "away-for-all", Family: Waiting,
		Title:    "Redis is down, and two goroutines of a process ask",
		Story:    "A and G are goroutines of one process. Both ask for the lock, A first, and Redis is down: each connection breaks. A gets that error. If the lock treats G as a waiter behind a holder, because A asked first, G keeps asking for a lock that no client holds, or is told that another client holds it.",
		Fixed:    "If an attempt fails, all that waited for it are told. A lock is held only if Redis has said so.",
		Breaks:   []oracle.Rule{oracle.Deadlock, oracle.Truth},
		Requires: []Precondition{asksWhile("G", "A")},
		Script: func(w *world.World) {
			a := w.Client("A")
			a.Before(world.Any).Always().Drop()
			a.Freeze() // until G has asked too
			first := a.StartLock()
			w.Sleep(w.Lease / 240)
			second := a.Goroutine("G").StartLock(world.Within(w.Lease / 20))
			a.Thaw()
			if first.Over() { // a lock may also keep asking
				second.Wait()
			}
		},
	},
	{
		ID: "idle-waiters", Family: Waiting, FirstScreen: true,
		Title:    "three callers wait while nothing happens",
		Story:    "A holds the lock for a while. Three waiters in two processes wait. While nobody unlocks they have nothing to ask: a look now and then is enough, in case a message is lost. Waiters that poll ask ten times a second each, for nothing.",
		Fixed:    "Wait for the message, or for the end of the lease. In between, at most a look now and then, for all waiters of a process.",
		Breaks:   []oracle.Rule{oracle.Polling, oracle.CommandCount},
		Requires: []Precondition{given("A"), waits("B G C")},
		Script: func(w *world.World) {
			a, b, c := w.Clients("A", "B", "C")
			a.Lock()
			for _, waiter := range []*world.Client{b, b.Goroutine("G"), c} {
				waiter.StartLock()
				w.Sleep(w.Lease / 60) // one after another: the queue has an order
			}
			w.Sleep(min(w.Lease*3/4, 3*time.Second/2)) // enough time for fifteen polls
			a.Unlock()
		},
	},
	{
		ID: "partial-unlock-wakes", Family: Waiting,
		Title:    "a holder's helper locks and unlocks eight times while B waits",
		Story:    "A takes the lock and calls a helper eight times that takes and frees it again. B waits. After each inner unlock A still holds the lock, so a message would wake B in vain, eight times.",
		Fixed:    "Only the unlock that frees the lock publishes.",
		Breaks:   []oracle.Rule{oracle.CommandCount},
		Needs:    []Feature{PubSub, Reentry},
		Requires: []Precondition{given("A"), waits("B")},
		Script: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			wait := b.StartLock(world.Within(w.Lease + patience(w)))
			for range 8 {
				w.Sleep(w.Lease / 60)
				a.Lock(world.Within(patience(w)))
				a.Unlock()
			}
			a.Unlock()
			wait.Wait()
		},
	},
}

// attemptOf matches an attempt of that client to take the lock.
func attemptOf(client string) world.Match {
	return func(c world.Command) bool { return world.Write(c) && c.Client == client }
}
