package oracle

import (
	"maps"
	"slices"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

var (
	removes      = texts.New("{client}'s {command} removes the lock of {owner} ({label})")
	overwrites   = texts.New("{client}'s {command} overwrites the lock of {owner} ({label})")
	extends      = texts.New("{client}'s {command} extends the lock of {owner} ({label})")
	staysFor     = texts.New("{why}, and its key stays for {time}")
	isStillThere = texts.New("{why}, and its key is still there after {time}")
	staysForEver = texts.New("{client}'s key {key} has no lease: it stays for ever")
	hasDied      = texts.New("{client} died")
	hasFailed    = texts.New("{call} of {client} failed")
	isOver       = texts.New("Unlock of {client} is over")
)

// touched follows what commands do to entries in Redis. say tells what is wrong with it, ""
// for nothing.
func touched(f *file, say func(world.Event, world.Effect) texts.Text) func(*world.Scene) {
	return func(s *world.Scene) {
		e := s.Event
		if e.Kind != world.Executed {
			return
		}
		for _, x := range e.Effects {
			if text := say(e, x); text != "" {
				f.convict(e, text, "client", e.Client, "command", e.Command[0], "owner", x.Owner.Client, "label", x.Owner.Label)
			}
		}
	}
}

func wrongDelete(f *file) func(*world.Scene) {
	said := map[world.EffectKind]texts.Text{world.Removed: removes, world.Overwritten: overwrites}
	return touched(f, func(e world.Event, x world.Effect) texts.Text {
		if isForeign(e, x.Owner) {
			return said[x.Kind]
		}
		return ""
	})
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
	return touched(f, func(e world.Event, x world.Effect) texts.Text {
		if x.Kind == world.Leased && x.Owner.Process != e.Process {
			return extends
		}
		return ""
	})
}

// entry is the life of one owner's entry in Redis.
type entry struct {
	owner    world.Owner
	orphaned *world.Event  // the step since which nobody has a use for it
	allowed  time.Duration // how long it may stay after that
	why      texts.Said
}

func leak(f *file) func(*world.Scene) {
	entries := map[string]*entry{} // label → what is in Redis now
	report := func(i *entry, until time.Duration, how texts.Text) {
		if i.orphaned != nil && until-i.orphaned.At > i.allowed {
			f.convict(*i.orphaned, how, "why", i.why, "time", (until - i.orphaned.At).Truncate(time.Second))
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
					report(i, e.At, staysFor)
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
					f.convict(e, staysForEver, "client", i.owner.Client, "key", key.Name)
				}
			}
		}
		if s.Index == len(f.Events)-1 {
			for _, label := range slices.Sorted(maps.Keys(entries)) {
				report(entries[label], e.At, isStillThere)
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
		i.orphan(e, lease+grace, hasDied.With("client", i.owner.Client))
	case e.Kind == world.Returned && e.Call == i.owner.Call && !e.Result.Held:
		i.orphan(e, grace, hasFailed.With("client", e.Client, "call", e.Op))
	case e.Kind == world.Returned && e.Op == world.OpUnlock && e.Client == i.owner.Client && e.Call > i.owner.Call && !wanted:
		i.orphan(e, grace, isOver.With("client", e.Client))
	}
}

func (i *entry) orphan(e world.Event, allowed time.Duration, why texts.Said) {
	i.orphaned, i.allowed, i.why = &e, allowed, why
}
