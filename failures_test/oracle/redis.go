package oracle

import (
	"fmt"
	"time"

	"lockkata/failures_test/world"
)

func wrongDelete(trace *world.Trace) []Finding {
	var found []Finding
	for _, e := range trace.Events {
		if e.Kind != world.Executed {
			continue
		}
		for _, effect := range e.Effects {
			if effect.Kind != world.Removed && effect.Kind != world.Overwritten {
				continue
			}
			if isForeign(e, effect.Owner) {
				found = append(found, findingAt(e, fmt.Sprintf(
					"%s's %s %s the lock of %s (%s)", e.Client, e.Command[0], verb(effect.Kind), effect.Owner.Client, effect.Owner.Label)))
			}
		}
	}
	return found
}

func verb(kind world.EffectKind) string {
	if kind == world.Overwritten {
		return "overwrites"
	}
	return "removes"
}

// isForeign tells whether a command touched what is not its own: another
// client's, or what a later call of the same client installed. A goroutine of
// the lock's own acts for its whole process; who unlocks by force does it by right.
func isForeign(e world.Event, owner world.Owner) bool {
	if e.Op == world.OpForce {
		return false
	}
	if e.Background {
		return owner.Process != e.Process
	}
	return owner.Client != e.Client || owner.Call > e.Call
}

// installation is the life of one owner's entry in Redis.
type installation struct {
	owner    world.Owner
	at       world.Event   // the step that installed it
	orphaned *world.Event  // the step since which nobody has a use for it
	allowed  time.Duration // how long it may stay after that
	why      string
}

func leak(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	alive := map[string]*installation{} // label → what is in Redis now
	report := func(i *installation, until time.Duration, how string) {
		if i.orphaned != nil && until-i.orphaned.At > i.allowed {
			found = append(found, findingAt(*i.orphaned, fmt.Sprintf("%s, and its key %s %v",
				i.why, how, (until-i.orphaned.At).Truncate(time.Second))))
		}
	}
	for n := range trace.Events {
		e := trace.Events[n]
		for _, effect := range e.Effects {
			switch effect.Kind {
			case world.Installed:
				alive[effect.Owner.Label] = &installation{owner: effect.Owner, at: e}
			case world.Removed, world.Overwritten, world.Lapsed:
				if i, ok := alive[effect.Owner.Label]; ok {
					report(i, e.At, "stays for")
					delete(alive, effect.Owner.Label)
				}
			}
		}
		b.follow(e)
		for _, i := range alive {
			i.follow(e, trace.Lease, Grace(trace), b.holds[i.owner.Client] > 0)
		}
		found = append(found, endless(trace, n, alive)...)
	}
	if len(trace.Events) > 0 {
		end := trace.Events[len(trace.Events)-1]
		for _, label := range sortedLabels(alive) {
			report(alive[label], end.At, "is still there after")
		}
	}
	return found
}

// follow notices the moment from which an entry is of no use to anybody. wanted
// tells whether its owner still believes in a hold.
func (i *installation) follow(e world.Event, lease, grace time.Duration, wanted bool) {
	if i.orphaned != nil && e.Kind != world.Crashed {
		return
	}
	switch {
	case e.Kind == world.Crashed && e.Process == i.owner.Process:
		i.orphan(e, lease+grace, i.owner.Client+" died")
	case e.Kind == world.Returned && e.Call == i.owner.Call && !e.Result.Held:
		i.orphan(e, grace, fmt.Sprintf("%s of %s failed", e.Op, e.Client))
	case e.Kind == world.Returned && e.Op == world.OpUnlock && e.Client == i.owner.Client && e.Call > i.owner.Call && !wanted:
		i.orphan(e, grace, fmt.Sprintf("Unlock of %s is over", e.Client))
	}
}

func (i *installation) orphan(e world.Event, allowed time.Duration, why string) {
	i.orphaned, i.allowed, i.why = &e, allowed, why
}

// endless finds the keys that have no lease although the call that made them is
// over or its client dead. It is told once for each installation.
func endless(trace *world.Trace, n int, alive map[string]*installation) []Finding {
	e := trace.Events[n]
	if e.Kind != world.Returned && e.Kind != world.Crashed {
		return nil
	}
	var found []Finding
	for _, key := range lastKeys(trace, n) {
		i := alive[key.Owner.Label]
		if key.TTL != world.NoTTL || i == nil {
			continue
		}
		if e.Process == i.owner.Process && (e.Kind == world.Crashed || e.Call == i.owner.Call) {
			found = append(found, findingAt(e, fmt.Sprintf("%s's key %s has no lease: it stays for ever", i.owner.Client, key.Name)))
		}
	}
	return found
}

// lastKeys is what Redis held at event n.
func lastKeys(trace *world.Trace, n int) []world.Key {
	for ; n >= 0; n-- {
		switch trace.Events[n].Kind {
		case world.Executed, world.Expired, world.Server:
			return trace.Events[n].Keys
		}
	}
	return nil
}
