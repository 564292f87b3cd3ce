package judge

import (
	"slices"
	"strings"
	"sync/atomic"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// business is what the keys of the business begin with. The lock has no part in
// them.
const business = "business:"

const stock = business + "stock"

// SharedObject is what is played to see whether a lock object can be shared. A lock of which each
// goroutine has an object of its own may do without.
const SharedObject = "two goroutines that share one lock object"

// What is played beside the failures.
var (
	ordinary   = i18n.New("an ordinary day")
	twoNames   = i18n.New("two locks of different names")
	oneObject  = i18n.New(SharedObject)
	twoHolds   = i18n.New("two holds of one client")
	idleWaiter = i18n.New("a waiter for whom nothing happens")
	twoTokens  = i18n.New("two holds, one after the other")
	heldInside = i18n.New("a lock that is taken inside another one")
	refusedOne = i18n.New("an Unlock that Redis refuses")
	endedHold  = i18n.New("the context of a hold that is freed")
)

// ordinaryDay plays what any lock must do before its failures say anything. It
// ends the process when the lock does not do it. The first day shows which keys stand beside
// the lock, so that nobody has to name them. A lock that waits on when its context has ended can
// be judged by a day on which nobody waits in vain.
func (r *run) ordinaryDay() {
	first, cause := r.playOn(r.subject.New, ordinary, (*day).takeTurns)
	if cause != nil {
		first, _ = r.playOn(r.subject.New, ordinary, (*day).followOn)
	}
	if first != nil && r.task.Leaks {
		for _, cause := range []*Cause{unheard(first), numbered(first)} {
			if cause != nil {
				r.guard.tell(cause)
			}
		}
	}
	r.subject = r.subject.Ignoring(failures.AuxKeys(first))
	r.playDay(twoNames, (*day).differentNames)
	if !slices.Contains(r.task.Skip, SharedObject) {
		r.playDay(oneObject, (*day).shareObject)
	}
}

// whatItHas plays what a lock must do that has more than a lock needs to. The
// failures alone would pass over one that has it in name only.
func (r *run) whatItHas() {
	if r.task.Fresh {
		r.playDay(twoHolds, (*day).compareValues)
	}
	if r.task.Again {
		r.playDay(refusedOne, (*day).unlockAgain)
	}
	if r.task.Ends {
		r.endHolds()
	}
	if slices.Contains(r.subject.Has, failures.Reentry) {
		r.playOn(nested(r.subject.New), heldInside, (*day).takeInside)
	}
	if slices.Contains(r.subject.Has, failures.PubSub) {
		r.playDay(idleWaiter, (*day).listen)
	}
	if slices.Contains(r.subject.Has, failures.Fencing) {
		r.playDay(twoTokens, (*day).countTokens)
	}
}

// day is one scenario of the ordinary day.
type day struct {
	w        *world.World
	cause    *Cause
	basic    bool                         // it is about what any lock must do
	nonsense atomic.Pointer[i18n.Message] // an answer that contradicts itself
	panicked frame                        // the line at which a call has panicked
	key      string                       // what Unlock is to look at before it frees; "" is nothing
	values   []string                     // what it saw there: a trace has names in their place
}

func (r *run) playDay(name i18n.Text, scenario func(*day)) { r.playOn(r.subject.New, name, scenario) }

// playOn plays a day on the locks that create makes. It returns what was told of them, nil if
// all was right.
func (r *run) playOn(create world.Constructor, name i18n.Text, scenario func(*day)) (*world.Trace, *Cause) {
	d := &day{basic: slices.Contains([]i18n.Text{ordinary, twoNames, oneObject}, name)}
	config := r.subject.Config()
	config.New = d.witnessed(create)
	config.Ignore = func(key string) bool { return strings.HasPrefix(key, business) || r.subject.Ignore(key) }
	r.guard.enter(name.Localize(r.task.Lang))
	trace, err := r.play(config, func(w *world.World) {
		d.w = w
		scenario(d)
		switch {
		case d.cause == nil:
			return
		case d.cause.Kind == NoDay:
			d.cause.blame(w.Trace(), r.task.Lang)
		}
		d.cause.Trace = ofLockOnly(w.Trace())
		if r.task.Leaks && (!d.basic || d.cause.Kind == IgnoresContext || d.cause.Kind == WaitsInTry) { // this part is not right, but the others can be judged
			r.guard.tell(d.cause)
			return
		}
		r.guard.convict(d.cause) // now, since what is left of the day may never end
	})
	if err != nil {
		cause := leftover(err)
		cause.Trace = ofLockOnly(trace)
		r.left(cause)
	}
	r.guard.enter("")
	return trace, d.cause
}

// ofLockOnly leaves out what the day asks on behalf of the business, and what its witness asks.
func ofLockOnly(trace *world.Trace) *world.Trace {
	if trace == nil {
		return nil
	}
	part := *trace
	part.Events = slices.DeleteFunc(slices.Clone(trace.Events), func(e world.Event) bool {
		return e.Op == world.OpRun || e.Source != nil && e.Source.File == witnessFile
	})
	return &part
}

var (
	keyChanged = i18n.New("Your lock has changed {key}, a key of the business: it held 7, and now GET says {reply}.")
	ownKeyOnly = i18n.New("Touch the key of the lock only, and no FLUSHALL or FLUSHDB.")
)

// takeTurns: A locks, B is refused, A unlocks, B locks and unlocks.
func (d *day) takeTurns() {
	a, b := d.w.Client("A"), d.w.Client("B")
	a.StartRun("SET", stock, "7").Wait()
	ok := d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) &&
		d.clientLives(a) &&
		d.refuses(b.TryLock(world.Within(d.w.Lease))) &&
		d.waits(a, b) &&
		d.frees(a.Unlock(world.Within(d.w.Lease))) &&
		d.clientLives(a) &&
		d.takes(b.Lock(world.Within(d.w.Lease/2)), getsFreed) && // before A's lease would end
		d.frees(b.Unlock(world.Within(d.w.Lease)))
	if !ok {
		return
	}
	get := a.StartRun("GET", stock).Wait()
	for _, e := range d.w.Trace().Events {
		if e.Kind == world.Executed && e.Call == get.ID && !strings.Contains(e.Reply, "7") {
			d.fault(OtherKeys, ownKeyOnly, keyChanged.Args("key", stock, "reply", e.Reply))
		}
	}
}

// followOn: A locks and unlocks, and then B does.
func (d *day) followOn() {
	a, b := d.w.Client("A"), d.w.Client("B")
	_ = d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) && d.frees(a.Unlock(world.Within(d.w.Lease))) &&
		d.takes(b.Lock(world.Within(d.w.Lease/2)), getsFreed) && d.frees(b.Unlock(world.Within(d.w.Lease)))
}

var (
	sameKey     = i18n.New("The lock named \"{other}\" is refused because the one named \"{name}\" is held: both use the key {key}.")
	keyFromName = i18n.New("Make the key from the name that NewMutex gets.")
)

// differentNames: a lock of another name is free while this one is held.
func (d *day) differentNames() {
	another := d.w.Lock + ":another"
	a, other := d.w.Client("A"), d.w.ClientOf("O", another)
	if !d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) {
		return
	}
	if try := other.TryLock(world.Within(d.w.Lease)); d.ends(try) && !try.Held() {
		d.fault(OtherKeys, keyFromName, sameKey.Args("other", another, "name", d.w.Lock, "key", d.lockKey()))
	}
}

// shareObject: a second goroutine calls while the first one's reply is late. What
// the two are told is no matter here; that the second one can wait is.
func (d *day) shareObject() {
	a := d.w.Client("A")
	g := a.Goroutine("G")
	a.After(world.Write).Delay(d.w.Lease / 15)
	first := a.StartTryLock(world.Within(d.w.Lease))
	d.w.Sleep(d.w.Lease / 60)
	second := g.StartTryLock(world.Within(d.w.Lease))
	d.w.Sleep(d.w.Lease / 30)
	_ = d.ends(first.Wait()) && d.ends(second.Wait())
}

var (
	sameValue = i18n.New("A's two holds write the same value. An Unlock of the first that is on its way for " +
		"long would remove the second.")
	newValue = i18n.New("Make a new value in TryLock, for each attempt.")
)

// compareValues: the next hold of a client has another value, else an Unlock of the first
// one that is late takes it for its own.
func (d *day) compareValues() {
	a := d.w.Client("A")
	for range 2 {
		if !d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) {
			return
		}
		d.key = d.lockKey()
		if !d.frees(a.Unlock(world.Within(d.w.Lease))) {
			return
		}
	}
	if d.values[0] == d.values[1] {
		d.fault(SameValue, newValue, sameValue.Args())
	}
}

var (
	unlocksInVain = i18n.New("Redis refuses A's Unlock. A is told so and unlocks again, and {key} is still in Redis.")
	keepValue     = i18n.New("Keep what Unlock needs until Redis has answered: after an error it may be called again.")
)

// unlockAgain: who is told that an Unlock was refused frees the lock with another one, unless the
// lock has none, as one that calls back has.
func (d *day) unlockAgain() {
	a := d.w.Client("A")
	if !d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) {
		return
	}
	a.Before(world.Of(world.OpUnlock, world.Write)).Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
	call := a.Unlock(world.Within(d.w.Lease))
	switch {
	case !d.ends(call):
		return
	case d.answer(call).Text == done:
		d.frees(call)
		return
	}
	call = a.Unlock(world.Within(d.w.Lease))
	d.w.Sleep(d.w.Lease / 15) // a goroutine may do the rest
	if d.ends(call) && d.answer(call).Text != i18n.Text(adapters.ErrNoHold.Error()) && d.lockKey() != "" {
		d.fault(Nonsense, keepValue, unlocksInVain.Args("key", d.lockKey()))
	}
}

// mostToListen is how many commands it takes to try, subscribe and try again.
const mostToListen = 8

var (
	keepsListening = i18n.New("B has waited {n} times, one time after the other, and has {n} connections that still listen.")
	endListening   = i18n.New("End the subscription when the wait is over, whatever ended it: with defer sub.Close().")
	polls          = i18n.New("B waits for {time} while nothing happens, and sends {n} commands: it polls.")
	subscribeFirst = i18n.New("Subscribe, and ask again only when there is a reason to.")
)

// listen: a lock whose waiters are to be woken does not keep asking, nor listening when they have
// gone. The failures pass over one that does, since nobody can wake it too late.
func (d *day) listen() {
	a, b := d.w.Client("A"), d.w.Client("B")
	if !d.takes(a.Lock(world.Within(d.w.Lease)), getsFree) {
		return
	}
	wait := b.StartLock(world.Within(d.w.Lease / 2))
	d.w.Sleep(d.w.Lease / 3)
	sent := 0
	for _, e := range d.w.Trace().Events {
		if e.Kind == world.Executed && e.Client == "B" {
			sent++
		}
	}
	if sent > mostToListen {
		d.fault(Floods, subscribeFirst, polls.Args("time", d.w.Lease/3, "n", sent))
		return
	}
	waits := 1
	for ok := d.ends(wait.Wait()); ok && waits < 3; waits++ {
		ok = d.ends(b.Lock(world.Within(d.w.Lease / 10)))
	}
	if d.cause == nil && b.Listens() >= waits {
		d.fault(KeepsOpen, endListening, keepsListening.Args("n", waits))
	}
}

var (
	lowToken   = i18n.New("A's hold has the token {first}, and B's, which came after it, has {second}.")
	writeToken = i18n.New("Write Token(ctx context.Context) int64: the token of the present hold, higher than all before it.")
)

// countTokens: a hold has a token, and the next hold a higher one. The ledger sees
// what comes with a write.
func (d *day) countTokens() {
	for _, name := range []string{"A", "B"} {
		c := d.w.Client(name)
		if !d.takes(c.Lock(world.Within(d.w.Lease)), getsFree) {
			return
		}
		c.Insert("order of " + name)
		if !d.frees(c.Unlock(world.Within(d.w.Lease))) {
			return
		}
	}
	orders := d.now().Orders
	if first, second := orders[0].Token, orders[1].Token; first <= 0 || second <= first {
		d.fault(Nonsense, writeToken, lowToken.Args("first", first, "second", second))
	}
}

// now is how things stand.
func (d *day) now() *world.Scene { return quiz.End(d.w.Trace()) }
