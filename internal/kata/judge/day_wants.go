package judge

import (
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var (
	getsFree  = i18n.New("{call} asks for a free lock and does not get it: {answer}")
	getsFreed = i18n.New("{call} asks for a lock that A has freed and does not get it: {answer}")
	getsNotAs = i18n.New("{call} asks for a lock that A has freed and does not get it: {answer}. Redis still has {key}.")
	deleteAll = i18n.New("Let Unlock delete whatever keeps others out.")
	takeIt    = i18n.New("Take the lock: Lock comes back without an error once the key in Redis is yours.")
	noKey     = i18n.New("{call} says that {client} holds the lock, but there is no key in Redis.")
	askRedis  = i18n.New("Ask Redis, and believe its answer.")
)

// takes wants an acquire to give the lock.
func (d *day) takes(call *world.Call, gets i18n.Text) bool {
	switch {
	case !d.ends(call):
		return false
	case !call.Held():
		for _, key := range d.now().Keys {
			if gets == getsFreed && key.TTL != world.NoTTL {
				return d.fault(NoDay, deleteAll, getsNotAs.Args("call", call.Op, "answer", d.answer(call), "key", key.Name))
			}
		}
		return d.fault(NoDay, takeIt, gets.Args("call", call.Op, "answer", d.answer(call)))
	case d.lockKey() == "":
		return d.fault(Nonsense, askRedis, noKey.Args("call", call.Op, "client", call.Client.Name))
	}
	return true
}

// refused is the answer of an attempt on a lock that is held.
var refused = i18n.New("no, without an error")

// done is the answer of a call that did what it was asked.
const done i18n.Text = "done"

var (
	ownKeys       = i18n.New("A holds the lock and B gets it too: A's key is {first}, B's is {second}.")
	oneKey        = i18n.New("All owners of one name must use one key.")
	tryFails      = i18n.New("A holds the lock, and B's TryLock ends in an error: {error}")
	tryIsLate     = i18n.New("A holds the lock, and B's TryLock comes back after {time}.")
	tryOnce       = i18n.New("Make one attempt in TryLock, and return its answer: it is Lock that waits.")
	heldIsNoError = i18n.New("That somebody else has the lock is no error: return false and nil.")
)

// refuses wants an attempt on a lock that is held to be refused. That it is not
// is a failure of the catalogue, unless the two use different keys.
func (d *day) refuses(call *world.Call) bool {
	switch keys, took := d.now().Keys, d.took(call); {
	case !d.ends(call):
		return false
	case took > aMoment:
		return d.fault(WaitsInTry, tryOnce, tryIsLate.Args("time", took.Truncate(time.Millisecond)))
	case call.Held() && len(keys) > 1:
		return d.fault(OtherKeys, oneKey, ownKeys.Args("first", keys[0].Name, "second", keys[1].Name))
	case !call.Held() && d.answer(call).Text != refused:
		return d.fault(NoDay, heldIsNoError, tryFails.Args("error", d.answer(call)))
	}
	return true
}

var (
	lockIsVain = i18n.New("A holds the lock, and B's Lock comes back without an error and without the lock.")
	returnWhy  = i18n.New("Let Lock return ctx.Err() when it gives up.")
)

// waits wants a Lock of B's that is in vain to end with its context. One that does not may have
// what A frees, so that it ends.
func (d *day) waits(a, b *world.Client) bool {
	bound := d.w.Lease / 10
	call := b.StartLock(world.Within(bound))
	d.w.Sleep(bound + 2*time.Second)
	if !call.Over() {
		a.Unlock()
		if call.Wait().Held() {
			b.Unlock()
		}
	}
	if !d.ends(call) || !d.heeds(call) {
		return false
	}
	if !call.Held() && d.answer(call).Text == refused {
		return d.fault(Nonsense, returnWhy, lockIsVain.Args())
	}
	return true
}

var comesLate = i18n.New("A holds the lock. {call} of B has a context that ends after {bound}, and is still under way {time} later.")

// aMoment is how long a lock may pause.
const aMoment = time.Second

// heeds wants an acquire to come back soon after its context has ended.
func (d *day) heeds(call *world.Call) bool {
	bound := d.called(call).Bound
	if took := d.took(call); took > bound+aMoment {
		late := (took - bound).Truncate(time.Millisecond)
		return d.fault(IgnoresContext, blockNext, comesLate.Args("call", call.Op, "bound", bound, "time", late))
	}
	return true
}

var (
	unlockFails = i18n.New("{client} holds the lock, and its Unlock ends in an error: {error}")
	freeIt      = i18n.New("Let Unlock free what Lock has taken, and return nil.")
	keyStays    = i18n.New("Unlock says that all is well, but {key} is still in Redis.")
	deleteIt    = i18n.New("Let Unlock delete the key, and look at Redis's answer.")
)

// frees wants an Unlock by the holder to free the lock.
func (d *day) frees(call *world.Call) bool {
	switch {
	case !d.ends(call):
		return false
	case d.answer(call).Text != done:
		return d.fault(NoDay, freeIt, unlockFails.Args("client", call.Client.Name, "error", d.answer(call)))
	case d.lockKey() != "" && len(d.now().Insiders()) == 0: // else it may be that of somebody who was let in beside
		return d.fault(Nonsense, deleteIt, keyStays.Args("key", d.lockKey()))
	}
	return true
}

var oneAnswer = i18n.New("Return true and nil, false and nil, or false and an error.")

// ends wants a call to come back, in one piece, and with an answer that does not
// contradict itself.
func (d *day) ends(call *world.Call) bool {
	text, result := d.nonsense.Load(), d.result(call)
	switch {
	case !call.Over():
		d.cause = stuck(call.Op, strings.TrimSuffix((10*d.w.Lease).String(), "0s"), standing())
	case text != nil:
		return d.fault(Nonsense, oneAnswer, *text)
	case result.Claim == world.ClaimPanic:
		d.cause = panics(call.Op, result.Error, d.panicked)
	default:
		return true
	}
	return false
}

// standing is the goroutine of a call that does not come back.
func standing() goroutine {
	for _, g := range ofLock() {
		if g.inner.file != "" && g.created.file == "" {
			return g
		}
	}
	return goroutine{}
}

var (
	clientClosed = i18n.New("Your lock has closed the client that it was given: the business's next command ends with \"{error}\".")
	leaveOpen    = i18n.New("Leave the client open: it belongs to whoever made it.")
)

// clientLives wants the client that the lock was given to be usable still.
func (d *day) clientLives(c *world.Client) bool {
	ping := c.StartRun("PING").Wait()
	if strings.Contains(d.result(ping).Error, redis.ErrClosed.Error()) {
		return d.fault(ClosesClient, leaveOpen, clientClosed.Args("error", redis.ErrClosed))
	}
	return true
}

// fault sets the cause. It returns false, for those who ask.
func (d *day) fault(kind string, next i18n.Text, text i18n.Message) bool {
	d.cause = Because(kind, next, text)
	return false
}

// called is how a call began, and returned how it ended: nothing where it has not.
func (d *day) called(call *world.Call) world.Event   { return d.event(world.Called, call) }
func (d *day) returned(call *world.Call) world.Event { return d.event(world.Returned, call) }

func (d *day) event(kind world.Kind, call *world.Call) world.Event {
	all := d.w.Trace().Events
	at := slices.IndexFunc(all, func(e world.Event) bool { return e.Kind == kind && e.Call == call.ID })
	if at < 0 {
		return world.Event{}
	}
	return all[at]
}

// took is how long a call was under way.
func (d *day) took(call *world.Call) time.Duration { return d.returned(call).At - d.called(call).At }

// result is what a call told its caller.
func (d *day) result(call *world.Call) world.Result {
	if told := d.returned(call).Result; told != nil {
		return *told
	}
	return world.Result{}
}

// answer is a result in words.
func (d *day) answer(call *world.Call) i18n.Message {
	switch result := d.result(call); {
	case result.Error != "":
		return i18n.Text(result.Error).Args()
	case result.Held || result.Claim == world.ClaimDone:
		return done.Args()
	}
	return refused.Args()
}

// lockKey is the first key in Redis that does not stand beside the lock; "" if there is none.
func (d *day) lockKey() string {
	beside := failures.AuxKeys(d.w.Trace())
	for _, key := range d.now().Keys {
		if !slices.Contains(beside, key.Name) {
			return key.Name
		}
	}
	return ""
}
