package oracle

import (
	"maps"
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	removesOther = i18n.New("{client}'s {command} removes {key}, a key that {owner} has set")
	removes      = i18n.New("{client}'s {command} removes the lock of {owner} ({label})")
	removesHeld  = i18n.New("{client}'s {command}, sent in the background, removes the lock that {owner} holds ({label})")
	overwrites   = i18n.New("{client}'s {command} overwrites the lock of {owner} ({label})")
	becauseSame  = i18n.New("{what}: {client} and {owner} wrote the same value")
	becauseSends = i18n.New("{what}: {client} sent {owner}'s value, which {client} never wrote")
	becauseAgain = i18n.New("{what}: both holds of {client} have the same value")
	extends      = i18n.New("{client}'s {command} extends the lock of {owner} ({label})")
	staysFor     = i18n.New("{why}, and its key stays for {time}")
	isStillThere = i18n.New("{why}, and its key is still there after {time}")
	staysForEver = i18n.New("{client}'s key {key} has no lease: it stays forever")
	hasDied      = i18n.New("{client} died")
	hasFailed    = i18n.New("{call} of {client} failed")
	isOver       = i18n.New("Unlock of {client} has returned")
	isBack       = i18n.New("a failover has brought back the key of {client}, whose hold was over")
	asksOn       = i18n.New("{call} of {client} asked again after Redis had given it the lock")
)

// wrongDelete reports commands that remove or overwrite another owner's key.
func wrongDelete(f *file) func(*trace.Scene) {
	return foreign(f, map[trace.EffectKind]i18n.Text{trace.Removed: removes, trace.Overwritten: overwrites}, func(s *trace.Scene, owner trace.Owner) bool {
		return isForeign(s.Event, owner) || isHeld(s, owner)
	})
}

// isHeld reports whether a background command touched the key of a client of its own process that is inside the lock and
// does not unlock: a clean-up of another attempt that compares no owner, for instance.
func isHeld(s *trace.Scene, owner trace.Owner) bool {
	call, busy := s.Call(owner.Client)
	return s.Event.Background && owner.Process == s.Event.Process && s.Before.Holds(owner.Client) > 0 && !(busy && call.Op == trace.OpUnlock)
}

// wrongExtend reports commands that renew another process's key.
func wrongExtend(f *file) func(*trace.Scene) {
	return foreign(f, map[trace.EffectKind]i18n.Text{trace.Leased: extends}, func(s *trace.Scene, owner trace.Owner) bool {
		return s.Event.Op != trace.OpRun && owner.Process != s.Event.Process
	})
}

// foreign reports commands with one of these effects on another owner's key, with the reason if it is known.
func foreign(f *file, said map[trace.EffectKind]i18n.Text, isForeign func(*trace.Scene, trace.Owner) bool) func(*trace.Scene) {
	wrote := values{}
	business := map[string]bool{} // labels of the keys that commands of the business have set
	return func(s *trace.Scene) {
		e := s.Event
		wrote.follow(s)
		for _, effect := range e.Effects {
			text, owner := said[effect.Kind], effect.Owner
			business[owner.Label] = business[owner.Label] || effect.Kind == trace.Installed && e.Op == trace.OpRun
			if e.Kind != trace.Executed || text == "" || !isForeign(s, owner) {
				continue
			}
			pairs := []any{"client", e.Client, "command", e.Command[0], "owner", owner.Client, "label", owner.Label, "key", effect.Key}
			switch {
			case text == removes && business[owner.Label]:
				text = removesOther
			case text == removes && isHeld(s, owner):
				text = removesHeld
			}
			if why := wrote.why(s, effect); why != "" {
				text, pairs = why, []any{"what", text.Args(pairs...), "client", e.Client, "owner", owner.Client}
			}
			f.report(e, text, pairs...)
		}
	}
}

// IsOfEqualValues reports whether the finding follows from two holds with the same value.
func (f Finding) IsOfEqualValues() bool {
	return f.said.Text == becauseSame || f.said.Text == becauseAgain
}

// values are the values that each client has installed, by the label of their first installation.
type values map[string][]string

func (v values) follow(s *trace.Scene) {
	for _, effect := range s.Event.Effects {
		if client := effect.Owner.Client; effect.Kind == trace.Installed && idOf(s.Keys, effect) != "" {
			v[client] = append(v[client], effect.Owner.Value())
		}
	}
}

// why returns the reason why a command has touched another owner's key: it sent that owner's value.
// If it did not, there is no text.
func (v values) why(s *trace.Scene, effect trace.Effect) i18n.Text {
	e, owner := s.Event, effect.Owner
	id := idOf(s.Before.Keys, effect)
	switch same := slices.Contains(v[e.Client], owner.Value()); {
	case !slices.Contains(e.Command[1:], id):
		return ""
	case same && owner.Client == e.Client:
		return becauseAgain
	case same:
		return becauseSame
	case id == owner.Label && owner.Process != e.Process: // a variable that all share
		return becauseSends
	}
	return ""
}

// idOf returns the id that the owner of an effect has written into its key, "" if it is not there.
func idOf(keys []trace.Key, effect trace.Effect) string {
	for _, k := range keys {
		for _, entry := range k.Entries {
			if k.Name == effect.Key && entry.Owner.Label == effect.Owner.Label && entry.ID != "" {
				return entry.ID
			}
		}
	}
	return ""
}

// isForeign reports whether a command touched another client's key, or the key of a later
// call of the same client. A goroutine started by the lock acts for its whole process, and
// so does Close. ForceUnlock may touch any key, and commands of the business are not judged.
func isForeign(e *trace.Event, owner trace.Owner) bool {
	if e.Op == trace.OpForce || e.Op == trace.OpRun {
		return false
	}
	if e.Background || e.Op == trace.OpClose {
		return owner.Process != e.Process
	}
	return owner.Client != e.Client || owner.Call > e.Call
}

// entry is the life of one owner's entry in Redis.
type entry struct {
	owner    trace.Owner
	server   string
	by       string        // the shape of the command that made it
	orphaned *trace.Event  // the event since which no client needs it
	allowed  time.Duration // how long it may stay after that
	why      i18n.Message
}

func leak(f *file) func(*trace.Scene) {
	entries := map[string]*entry{}   // server and label → the entry in Redis now
	failed := map[int]*trace.Event{} // acquires that returned without the lock
	report := func(i *entry, e *trace.Event, until time.Duration, how i18n.Text) {
		if i.orphaned == nil || until-i.orphaned.At <= i.allowed {
			return
		}
		f.reportUntil(e, i.orphaned, how, "why", i.why, "time", inSeconds(until-i.orphaned.At))
		f.note(f.setting(i.owner, e))
		if i.orphaned.Op == trace.OpUnlock { // its command has not removed the key
			f.note(f.lastOf(i.orphaned.Call, i.orphaned))
		}
	}
	return func(s *trace.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			switch effect.Kind {
			case trace.Installed:
				if e.Op == trace.OpRun { // a command of the business
					continue
				}
				i := &entry{owner: effect.Owner, server: e.Server, by: shape(e)}
				if call, gone := failed[effect.Owner.Call]; gone { // the command was late; a clean-up may wait as long again
					i.orphan(e, max(Grace(f.Trace), e.At-call.At), hasFailed.Args("client", call.Client, "call", call.Op))
				}
				if e.Kind == trace.Server && s.Holds(effect.Owner.Client) == 0 {
					i.orphan(e, Grace(f.Trace), isBack.Args("client", effect.Owner.Client))
				}
				entries[e.Server+effect.Owner.Label] = i
			case trace.Removed, trace.Overwritten, trace.Lapsed:
				if i, ok := entries[e.Server+effect.Owner.Label]; ok {
					report(i, e, e.At, staysFor)
					delete(entries, e.Server+effect.Owner.Label)
				}
			}
		}
		if e.Kind == trace.Returned && trace.IsAcquire(e.Op) && !e.Result.Held {
			failed[e.Call] = e
		}
		for _, i := range entries {
			if e.Kind == trace.Sent && len(f.Locks(e.Client)) > 1 { // the same command, for its other lock
				break
			}
			unlocks := func(c *trace.Event) bool { return c.Client == i.owner.Client && c.Op == trace.OpUnlock }
			i.follow(e, f.Lease, Grace(f.Trace), s.Holds(i.owner.Client) > 0 || slices.ContainsFunc(s.Calls, unlocks))
		}
		if e.Kind == trace.Returned || e.Kind == trace.Crashed {
			for _, key := range s.Keys {
				i := entries[key.Server+key.Owner.Label]
				if key.TTL == trace.NoTTL && i != nil && e.Process == i.owner.Process && (e.Kind == trace.Crashed || e.Client == i.owner.Client) {
					f.report(e, staysForEver, "client", i.owner.Client, "key", key.Name)
					f.note(f.setting(i.owner, e))
				}
			}
		}
		if s.Index == len(f.Events)-1 {
			end := e.At
			if e.Kind == trace.Slept { // it is noted when it begins
				end += e.Bound
			}
			for _, at := range slices.Sorted(maps.Keys(entries)) {
				report(entries[at], e, end, isStillThere)
			}
		}
	}
}

// inSeconds returns whole seconds, or milliseconds below a second: on a real server leases are short.
func inSeconds(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Truncate(time.Millisecond)
	}
	return d.Truncate(time.Second)
}

// follow notes the event since which no client needs the entry. wanted means that
// its owner still believes that it holds the lock.
func (i *entry) follow(e *trace.Event, lease, grace time.Duration, wanted bool) {
	if e.Acquires() && e.Call == i.owner.Call { // it asked again, and was told that the key is its own
		i.orphaned = nil
	}
	if i.orphaned != nil && e.Kind != trace.Crashed {
		return
	}
	switch {
	case e.Kind == trace.Sent && e.Call == i.owner.Call && e.Call != 0 && e.Server == i.server && shape(e) == i.by:
		i.orphan(e, grace, asksOn.Args("client", e.Client, "call", e.Op))
	case e.Kind == trace.Crashed && e.Process == i.owner.Process:
		i.orphan(e, lease+grace, hasDied.Args("client", i.owner.Client))
	case e.Kind == trace.Returned && e.Call == i.owner.Call && !e.Result.Held:
		i.orphan(e, grace, hasFailed.Args("client", e.Client, "call", e.Op))
	case e.Kind == trace.Returned && e.Op == trace.OpUnlock && e.Client == i.owner.Client && e.Call > i.owner.Call && !wanted:
		i.orphan(e, grace, isOver.Args("client", e.Client))
	}
}

func (i *entry) orphan(e *trace.Event, allowed time.Duration, why i18n.Message) {
	i.orphaned, i.allowed, i.why = e, allowed, why
}
