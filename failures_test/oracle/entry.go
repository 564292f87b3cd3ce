package oracle

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"lockkata/failures_test/world"
)

func wrongDelete(f *file) func(*world.Scene) {
	verbs := map[world.EffectKind]string{world.Removed: "removes", world.Overwritten: "overwrites"}
	return func(s *world.Scene) {
		e := s.Event
		if e.Kind != world.Executed {
			return
		}
		for _, effect := range e.Effects {
			if verb := verbs[effect.Kind]; verb != "" && isForeign(e, effect.Owner) {
				f.convict(e, "%s's %s %s the lock of %s (%s)", e.Client, e.Command[0], verb, effect.Owner.Client, effect.Owner.Label)
			}
		}
	}
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

// wrongExtend finds commands that give a new lease to another process's key.
func wrongExtend(f *file) func(*world.Scene) {
	return func(s *world.Scene) {
		e := s.Event
		if e.Kind != world.Executed {
			return
		}
		for _, effect := range e.Effects {
			if effect.Kind == world.Leased && effect.Owner.Process != e.Process {
				f.convict(e, "%s's %s extends the lock of %s (%s)", e.Client, e.Command[0], effect.Owner.Client, effect.Owner.Label)
			}
		}
	}
}

// entry is the life of one owner's entry in Redis.
type entry struct {
	owner    world.Owner
	orphaned *world.Event  // the step since which nobody has a use for it
	allowed  time.Duration // how long it may stay after that
	why      string
}

func leak(f *file) func(*world.Scene) {
	entries := map[string]*entry{} // label → what is in Redis now
	report := func(i *entry, until time.Duration, how string) {
		if i.orphaned != nil && until-i.orphaned.At > i.allowed {
			f.convict(*i.orphaned, "%s, and its key %s %v", i.why, how, (until - i.orphaned.At).Truncate(time.Second))
		}
	}
	return func(s *world.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			switch effect.Kind {
			case world.Installed:
				entries[effect.Owner.Label] = &entry{owner: effect.Owner}
			case world.Removed, world.Overwritten, world.Lapsed:
				if i, ok := entries[effect.Owner.Label]; ok {
					report(i, e.At, "stays for")
					delete(entries, effect.Owner.Label)
				}
			}
		}
		for _, i := range entries {
			i.follow(e, f.Lease, Grace(f.Trace), s.Holds(i.owner.Client) > 0)
		}
		if e.Kind == world.Returned || e.Kind == world.Crashed {
			for _, key := range s.Keys {
				i := entries[key.Owner.Label]
				if key.TTL == world.NoTTL && i != nil && e.Process == i.owner.Process && (e.Kind == world.Crashed || e.Call == i.owner.Call) {
					f.convict(e, "%s's key %s has no lease: it stays for ever", i.owner.Client, key.Name)
				}
			}
		}
		if s.Index == len(f.Events)-1 {
			for _, label := range slices.Sorted(maps.Keys(entries)) {
				report(entries[label], e.At, "is still there after")
			}
		}
	}
}

// follow notices the moment from which an entry is of no use to anybody. wanted
// tells whether its owner still believes in a hold.
func (i *entry) follow(e world.Event, lease, grace time.Duration, wanted bool) {
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

func (i *entry) orphan(e world.Event, allowed time.Duration, why string) {
	i.orphaned, i.allowed, i.why = &e, allowed, why
}
