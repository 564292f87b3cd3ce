package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/world"
)

// watchdog finds keys that expired under a holder whose watchdog could have
// renewed them, and renewals of holds that are over.
func watchdog(trace *world.Trace) []Finding {
	var found []Finding
	b := newBeliefs()
	renewal := renewals(trace)
	over := &finished{made: map[int]string{}, held: map[string]string{}, over: map[string]bool{}}
	dogs := map[string]*dog{}
	for n, e := range trace.Events {
		d := dogs[e.Process]
		if d == nil {
			d = &dog{}
			dogs[e.Process] = d
		}
		if e.Kind == world.Expired {
			found = append(found, expired(trace, n, b, dogs)...)
		}
		b.follow(e)
		d.follow(e, b)
		if label := over.follow(e, b); label != "" {
			found = append(found, findingAt(e, fmt.Sprintf(
				"%s of %s reaches Redis for %s, after its Unlock returned", shape(e), e.Client, label)))
		}
		if e.Kind == world.Sent && renewal(e) && d.released && e.At-d.since > Grace(trace) {
			found = append(found, findingAt(e, fmt.Sprintf(
				"%s renews a lock that it gave back %v ago", e.Client, (e.At-d.since).Truncate(time.Millisecond))))
		}
	}
	return found
}

// finished follows which installation is whose hold, and which are given back.
// What a goroutine of the lock's own still has under way for one of those is too
// late: its Unlock should have waited for it.
type finished struct {
	made map[int]string    // call → the label that it installed last
	held map[string]string // lane → the label of its hold
	over map[string]bool   // label → it was given back
}

// follow returns the label of a finished installation that a command in the
// background is about.
func (f *finished) follow(e world.Event, b *beliefs) string {
	for _, effect := range e.Effects {
		if effect.Kind == world.Installed {
			f.made[effect.Owner.Call] = effect.Owner.Label
		}
	}
	switch {
	case e.Kind == world.Returned && isAcquire(e.Op) && e.Result.Held && b.holds[e.Client] == 1:
		f.held[e.Client] = f.made[e.Call]
	case e.Kind == world.Returned && e.Op == world.OpUnlock && e.Result.Claim == world.ClaimDone && b.holds[e.Client] == 0:
		f.over[f.held[e.Client]] = true
	case e.Kind == world.Executed && e.Background:
		for _, arg := range e.Command {
			if f.over[arg] && arg != "" {
				return arg
			}
		}
	}
	return ""
}

// expired finds the keys that expired although their watchdog had time to renew.
func expired(trace *world.Trace, n int, b *beliefs, dogs map[string]*dog) []Finding {
	var found []Finding
	e := trace.Events[n]
	for _, effect := range e.Effects {
		owner := effect.Owner
		d := dogs[owner.Process]
		if effect.Kind != world.Lapsed || b.holds[owner.Client] == 0 || d == nil {
			continue
		}
		hindered := d.away || d.hindered > 0 && e.At-d.hindered <= trace.Lease/3+Grace(trace)
		if d.lastHeard < owner.Call || hindered || isTold(trace.Events[n:], owner.Client, e.At) {
			continue
		}
		found = append(found, Finding{
			Step: e.Step, At: e.At, Client: owner.Client,
			Text: fmt.Sprintf("the lock of %s expires while it holds it: its watchdog did not renew", owner.Client),
		})
	}
	return found
}

// dog is the watchdog of one process, as far as a trace shows it.
type dog struct {
	lastAcquire int           // the newest call that gave a lane of the process the lock
	lastHeard   int           // the newest such call at the time of its last command
	away        bool          // the process is frozen, dead or without a network
	hindered    time.Duration // when something last kept it from renewing
	released    bool          // no lane of the process believes, and one has
	since       time.Duration // when the last of them gave the lock back
}

func (d *dog) follow(e world.Event, b *beliefs) {
	switch e.Kind {
	case world.Frozen, world.Crashed, world.Cut:
		d.away = true
	case world.Thawed, world.Healed:
		d.away, d.hindered = false, e.At
	case world.Refused, world.Dropped, world.Delayed:
		if e.Background {
			d.hindered = e.At
		}
	case world.Sent:
		if e.Background && e.Command[0] != "SUBSCRIBE" {
			d.lastHeard = d.lastAcquire
		}
	}
	if e.Kind == world.Returned && isAcquire(e.Op) && e.Result.Held {
		d.lastAcquire, d.released = e.Call, false
		return
	}
	gaveBack := e.Kind == world.Lost || e.Kind == world.Returned && e.Op == world.OpUnlock
	if gaveBack && d.lastAcquire > 0 && !b.believes(e.Process) {
		d.released, d.since = true, e.At
	}
}

// believes tells whether any lane of that process does.
func (b *beliefs) believes(process string) bool {
	for lane, p := range b.lanes {
		if p == process && b.holds[lane] > 0 {
			return true
		}
	}
	return false
}

// renewals tells which commands of a trace are renewals: those that look like one
// which, somewhere in the trace, gave a key a new lease in the background.
func renewals(trace *world.Trace) func(world.Event) bool {
	var known []string
	for _, e := range trace.Events {
		if e.Kind != world.Executed || !e.Background {
			continue
		}
		for _, effect := range e.Effects {
			if effect.Kind == world.Leased {
				known = append(known, shape(e))
			}
		}
	}
	return func(e world.Event) bool { return e.Background && slices.Contains(known, shape(e)) }
}

// shape is what a command is, without what it is about: its name, and of a script
// which one it is.
func shape(e world.Event) string {
	if len(e.Command) > 1 && strings.HasPrefix(e.Command[0], "EVAL") {
		return e.Command[1]
	}
	if len(e.Command) > 0 {
		return e.Command[0]
	}
	return ""
}
