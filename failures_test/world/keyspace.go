package world

import (
	"maps"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
)

// keyspace tracks the keys of a Redis and who installed each entry.
type keyspace struct {
	server  Redis
	names   *names
	state   map[string]KeyState
	owners  map[place]trace.Owner // the owner of each entry
	layouts map[string]layout     // of each hash
	counts  map[place]bool        // fields that began at 1: whether they count holds
	atZero  map[string]bool       // counters that were put back to 0, and are no lock
	scripts []string
	ignore  func(key string) bool
	// blur is the distance up to which two moments count as equal: 0 in fake time, some
	// milliseconds where Redis has its own clock.
	blur time.Duration
}

func newKeyspace(server Redis, n *names, ignore func(string) bool, blur time.Duration) *keyspace {
	if ignore == nil {
		ignore = func(string) bool { return false }
	}
	return &keyspace{
		server: server, names: n, ignore: ignore, blur: blur,
		state: map[string]KeyState{}, owners: map[place]trace.Owner{}, layouts: map[string]layout{}, counts: map[place]bool{}, atZero: map[string]bool{},
	}
}

// learnScript records that Redis knows a script.
func (s *keyspace) learnScript(source string) {
	if !slices.Contains(s.scripts, source) {
		s.scripts = append(s.scripts, source)
	}
	s.names.scripts[compile(source).sha] = scriptName(source)
}

// refresh reads the keys and returns what has changed since the last refresh, as effects of that
// installer's command.
func (s *keyspace) refresh(by installer, lapse bool) []trace.Effect {
	before := s.state
	after, err := s.server.Keys(s.ignore)
	if err != nil {
		fail("%w", err)
	}
	s.dropZeros(before, after, by)
	s.state = after
	effects := s.lapsed(before, after)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, still := after[name]; !still {
			kind := trace.Removed
			if lapse {
				kind = trace.Lapsed
			}
			effects = append(effects, trace.Effect{Kind: kind, Key: name, Owner: s.ownerOf(name, before[name])})
			s.forget(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		now := after[name]
		was, existed := before[name]
		if existed && was.Kind != now.Kind {
			effects = append(effects, trace.Effect{Kind: trace.Overwritten, Key: name, Owner: s.ownerOf(name, was)})
			s.forget(name)
			was, existed = KeyState{}, false
		}
		effects = append(effects, s.refreshEntries(name, was, now, by)...)
		if existed && (s.differ(was.Expires, now.Expires) || now.Leased) {
			kind := trace.Leased
			if now.Expires.IsZero() {
				kind = trace.Persisted
			}
			effects = append(effects, trace.Effect{Kind: kind, Key: name, Owner: s.ownerOf(name, now)})
		}
	}
	return effects
}

// dropZeros removes counters that a command has put back to 0, or an Unlock has set to 0: they are keys, but no longer
// locks. A lock may begin with the value 0.
func (s *keyspace) dropZeros(before, after map[string]KeyState, by installer) {
	wasZero := s.atZero
	s.atZero = map[string]bool{}
	for name, now := range after {
		was, existed := before[name]
		if now.Kind == "string" && now.Value == "0" && (wasZero[name] || by.unlocks && !existed || existed && was.Value != "0") {
			s.atZero[name] = true
			delete(after, name)
		}
	}
}

// lapsed removes from before the keys whose lease ended just before another client's command, and
// returns their effects. Where Redis has its own clock, that command can be the first to show it.
func (s *keyspace) lapsed(before, after map[string]KeyState) []trace.Effect {
	if s.blur == 0 {
		return nil
	}
	var effects []trace.Effect
	latest := s.server.Now().Add(s.blur)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, now := before[name], after[name]
		if was.Expires.IsZero() || was.Expires.After(latest) || s.sameHold(name, was, now) {
			continue
		}
		effects = append(effects, trace.Effect{Kind: trace.Lapsed, Key: name, Owner: s.ownerOf(name, was)})
		s.forget(name)
		delete(before, name)
	}
	return effects
}

// sameHold reports whether a key still has the hold that it had before. A fixed value may have been
// written again: then the lease differs.
func (s *keyspace) sameHold(name string, was, now KeyState) bool {
	for _, entry := range s.entries(name, was) {
		if slices.Contains(s.entries(name, now), entry) {
			return was.Kind == "hash" || s.names.looksRandom(entry) || !s.differ(was.Expires, now.Expires)
		}
	}
	return false
}

// differ reports whether two moments are different.
func (s *keyspace) differ(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() != b.IsZero()
	}
	return a.Sub(b).Abs() > s.blur
}

// nextExpiry returns when, on the clients' clock, the next lease ends, or end if that is earlier.
func (s *keyspace) nextExpiry(end time.Time) time.Time {
	here, there := time.Now(), s.server.Now()
	for _, k := range s.state {
		if k.Expires.IsZero() {
			continue
		}
		at := here.Add(k.Expires.Sub(there))
		if s.blur > 0 { // Redis ends a lease just after its last millisecond
			at = here.Add(max(0, k.Expires.Sub(there)) + 2*time.Millisecond)
		}
		if at.Before(end) {
			end = at
		}
	}
	return end
}

// refreshEntries returns the effects of entries that were removed or added, or whose count or other
// fields changed.
func (s *keyspace) refreshEntries(name string, was, now KeyState, by installer) []trace.Effect {
	var effects []trace.Effect
	before, after := s.entries(name, was), s.entries(name, now)
	s.noteCounts(name, was, now, by)
	if len(before) == 1 && len(after) == 1 && before[0] != after[0] && s.isSameHold(name, before[0], now, by) {
		s.owners[place{name, after[0]}] = s.owners[place{name, before[0]}]
		delete(s.owners, place{name, before[0]})
		before = after
	}
	gone := trace.Overwritten
	if s.layouts[name].byField || len(after) == 0 {
		gone = trace.Removed
	}
	for _, entry := range before {
		if at := (place{name, entry}); !slices.Contains(after, entry) {
			effects = append(effects, trace.Effect{Kind: gone, Key: name, Owner: s.owners[at]})
			delete(s.owners, at)
		}
	}
	for _, entry := range after {
		at := place{name, entry}
		isChanged := was.Value != now.Value || was.Fields[entry] != now.Fields[entry] || !s.layouts[name].byField && !maps.Equal(was.Fields, now.Fields)
		if !slices.Contains(before, entry) {
			owner := s.names.owner(entry, by)
			s.owners[at] = owner
			effects = append(effects, trace.Effect{Kind: trace.Installed, Key: name, Owner: owner})
		} else if isChanged {
			effects = append(effects, trace.Effect{Kind: trace.Counted, Key: name, Owner: s.owners[at]})
		}
	}
	return effects
}

func (s *keyspace) forget(name string) {
	maps.DeleteFunc(s.owners, func(at place, _ trace.Owner) bool { return at.key == name })
	maps.DeleteFunc(s.counts, func(at place, _ bool) bool { return at.key == name })
	delete(s.layouts, name)
}

// ownerOf returns who installed the first entry of a key.
func (s *keyspace) ownerOf(name string, k KeyState) trace.Owner {
	for _, entry := range s.entries(name, k) {
		if owner, ok := s.owners[place{name, entry}]; ok {
			return owner
		}
	}
	return trace.Owner{}
}

// haveLease reports whether a key of some kind has a lease.
func (s *keyspace) haveLease(is func(name string, k KeyState) bool) bool {
	for name, k := range s.state {
		if !k.Expires.IsZero() && is(name, k) {
			return true
		}
	}
	return false
}

// keys returns the state for the trace, as that of a server.
func (s *keyspace) keys(server string) []trace.Key {
	now := s.server.Now()
	var keys []trace.Key
	for _, name := range slices.Sorted(maps.Keys(s.state)) {
		k := s.state[name]
		key := trace.Key{Name: name, Type: k.Kind, Owner: s.ownerOf(name, k), Server: server, TTL: trace.NoTTL}
		if k.Kind != "hash" {
			id := s.names.text(k.Value, key.Owner.Client)
			key.Entries = []trace.Entry{{Value: id, ID: id, Owner: key.Owner}}
		}
		for _, field := range slices.Sorted(maps.Keys(k.Fields)) {
			raw := s.entryOf(name, k, field)
			entry := trace.Entry{Owner: s.owners[place{name, raw}], Value: s.names.text(k.Fields[field], key.Owner.Client), Counts: s.counts[place{name, field}]}
			entry.Field, entry.ID = s.names.text(field, entry.Owner.Client), s.names.text(raw, entry.Owner.Client)
			if raw == "" && entry.Counts {
				entry.Owner = key.Owner
			}
			key.Entries = append(key.Entries, entry)
		}
		slices.SortFunc(key.Entries, func(a, b trace.Entry) int { return strings.Compare(a.Field, b.Field) })
		if !k.Expires.IsZero() {
			key.TTL = k.Expires.Sub(now)
		}
		keys = append(keys, key)
	}
	return keys
}
