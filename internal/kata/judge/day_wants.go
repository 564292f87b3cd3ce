package judge

import (
	"strings"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/world"
)

// takes wants an acquire to give the lock.
func (d *day) takes(call *world.Call, what string) bool {
	switch {
	case !d.ends(call):
		return false
	case !call.Held():
		return d.fault(NoDay, "Take the lock: "+call.Op+" comes back without an error once the key in Redis is yours.",
			"%s asks for %s and does not get it: %s", call.Op, what, d.answer(call))
	case d.lockKey() == "":
		return d.fault(Nonsense, "Ask Redis, and believe its answer.",
			"%s says that %s holds the lock, but there is no key in Redis.", call.Op, call.Client.Name)
	}
	return true
}

// refused is the answer of an attempt on a lock that is held.
const refused = "no, without an error"

// refuses wants an attempt on a lock that is held to be refused. That it is not
// is a failure of the catalogue, unless the two use different keys.
func (d *day) refuses(call *world.Call) bool {
	switch keys := d.now().Keys; {
	case !d.ends(call):
		return false
	case call.Held() && len(keys) > 1:
		return d.fault(OtherKeys, "All owners of one name must use one key.",
			"A holds the lock and B gets it too: A's key is %s, B's is %s.", keys[0].Name, keys[1].Name)
	case !call.Held() && d.answer(call) != refused:
		return d.fault(NoDay, "That somebody else has the lock is no error: return false and nil.",
			"A holds the lock, and B's TryLock ends in an error: %s", d.answer(call))
	}
	return true
}

// waits wants a Lock that is in vain to end with its context.
func (d *day) waits(call *world.Call) bool {
	if !d.ends(call) {
		return false
	}
	if !call.Held() && d.answer(call) == refused {
		return d.fault(Nonsense, "Let Lock return ctx.Err() when it gives up.",
			"A holds the lock, and B's Lock comes back without an error and without the lock.")
	}
	return true
}

// frees wants an Unlock by the holder to free the lock.
func (d *day) frees(call *world.Call) bool {
	switch {
	case !d.ends(call):
		return false
	case d.answer(call) != "done":
		return d.fault(NoDay, "Let Unlock free what Lock has taken, and return nil.",
			"%s holds the lock, and its Unlock ends in an error: %s", call.Client.Name, d.answer(call))
	case d.lockKey() != "":
		return d.fault(Nonsense, "Let Unlock delete the key, and look at Redis's answer.",
			"Unlock says that all is well, but %s is still in Redis.", d.lockKey())
	}
	return true
}

// ends wants a call to come back, in one piece, and with an answer that does not
// contradict itself.
func (d *day) ends(call *world.Call) bool {
	text, result := d.nonsense.Load(), d.result(call)
	switch {
	case !call.Over():
		d.cause = stuck(call.Op, strings.TrimSuffix((10*d.w.Lease).String(), "0s"), standing())
	case text != nil:
		return d.fault(Nonsense, "Return true and nil, false and nil, or false and an error.", "%s", *text)
	case result.Claim == world.ClaimPanic:
		d.cause = panics(call.Op, result.Error)
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

// clientLives wants the client that the lock was given to be usable still.
func (d *day) clientLives(c *world.Client) bool {
	ping := c.StartRun("PING").Wait()
	if strings.Contains(d.result(ping).Error, redis.ErrClosed.Error()) {
		return d.fault(ClosesClient, "Leave the client open: it belongs to whoever made it.",
			"Your lock has closed the client that it was given: the business's next command ends with %q.", redis.ErrClosed.Error())
	}
	return true
}

// fault sets the cause. It returns false, for those who ask.
func (d *day) fault(kind, next, format string, args ...any) bool {
	d.cause = Because(kind, next, format, args...)
	return false
}

// result is what a call told its caller.
func (d *day) result(call *world.Call) world.Result {
	for _, e := range d.w.Trace().Events {
		if e.Kind == world.Returned && e.Call == call.ID {
			return *e.Result
		}
	}
	return world.Result{}
}

// answer is a result in words.
func (d *day) answer(call *world.Call) string {
	switch result := d.result(call); {
	case result.Error != "":
		return result.Error
	case result.Held || result.Claim == world.ClaimDone:
		return "done"
	}
	return refused
}

// lockKey is the key that Redis holds, the first of its owners; "" if there is none.
func (d *day) lockKey() string {
	if keys := d.now().Keys; len(keys) > 0 {
		return keys[0].Name
	}
	return ""
}
