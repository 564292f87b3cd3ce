package judge

import (
	"fmt"
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
		return d.fault(NoDay, fmt.Sprintf("%s asks for %s and does not get it: %s", call.Op, what, d.answer(call)), "Take the lock: "+call.Op+" comes back without an error once the key in Redis is yours.")
	case d.lockKey() == "":
		return d.fault(Nonsense, fmt.Sprintf("%s says that %s holds the lock, but there is no key in Redis.", call.Op, call.Client.Name), "Ask Redis, and believe its answer.")
	}
	return true
}

// refuses wants an attempt on a lock that is held to be refused. That it is not
// is a failure of the catalogue, unless the two use different keys.
func (d *day) refuses(call *world.Call) bool {
	switch keys := d.keys(); {
	case !d.ends(call):
		return false
	case call.Held() && len(keys) > 1:
		return d.fault(OtherKeys, fmt.Sprintf("A holds the lock and B gets it too: A's key is %s, B's is %s.", keys[0], keys[1]), "All owners of one name must use one key.")
	case !call.Held() && d.answer(call) != "no, without an error":
		return d.fault(NoDay, "A holds the lock, and B's TryLock ends in an error: "+d.answer(call), "That somebody else has the lock is no error: return false and nil.")
	}
	return true
}

// waits wants a Lock that is in vain to end with its context.
func (d *day) waits(call *world.Call) bool {
	if !d.ends(call) {
		return false
	}
	if answer := d.answer(call); !call.Held() && answer == "no, without an error" {
		return d.fault(Nonsense, "A holds the lock, and B's Lock comes back without an error and without the lock.", "Let Lock return ctx.Err() when it gives up.")
	}
	return true
}

// frees wants an Unlock by the holder to free the lock.
func (d *day) frees(call *world.Call) bool {
	switch {
	case !d.ends(call):
		return false
	case d.answer(call) != "done":
		return d.fault(NoDay, fmt.Sprintf("%s holds the lock, and its Unlock ends in an error: %s", call.Client.Name, d.answer(call)), "Let Unlock free what Lock has taken, and return nil.")
	case d.lockKey() != "":
		return d.fault(Nonsense, fmt.Sprintf("Unlock says that all is well, but %s is still in Redis.", d.lockKey()), "Let Unlock delete the key, and look at Redis's answer.")
	}
	return true
}

// ends wants a call to come back, in one piece, and with an answer that does not
// contradict itself.
func (d *day) ends(call *world.Call) bool {
	if !call.Over() {
		cause := stuck(call.Op, strings.TrimSuffix((10*d.w.Lease).String(), "0s"), standing())
		d.cause = &cause
		return false
	}
	if text := d.nonsense.Load(); text != nil {
		return d.fault(Nonsense, *text, "Return true and nil, false and nil, or false and an error.")
	}
	if result := d.result(call); result.Claim == world.ClaimPanic {
		cause := panics(call.Op, result.Error)
		d.cause = &cause
		return false
	}
	return true
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
		return d.fault(ClosesClient, "Your lock has closed the client that it was given: the business's next command ends with \""+redis.ErrClosed.Error()+"\".",
			"Leave the client open: it belongs to whoever made it.")
	}
	return true
}

// fault sets the cause. It returns false, for those who ask.
func (d *day) fault(kind, text, next string) bool {
	d.cause = &Cause{Kind: kind, Text: text, Next: next}
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
	return "no, without an error"
}

// keys are the names of the locks' keys in Redis, in the order of their owners.
func (d *day) keys() []string {
	var names []string
	events := d.w.Trace().Events
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.Kind == world.Executed || e.Kind == world.Expired {
			for _, key := range e.Keys {
				names = append(names, key.Name)
			}
			break
		}
	}
	return names
}

// lockKey is the first of them, "" if there is none.
func (d *day) lockKey() string {
	if keys := d.keys(); len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// lastReply is what Redis last answered to a command of the business.
func (d *day) lastReply(command string) string {
	reply := ""
	for _, e := range d.w.Trace().Events {
		if e.Kind == world.Executed && len(e.Command) > 0 && strings.EqualFold(e.Command[0], command) {
			reply = e.Reply
		}
	}
	return reply
}
