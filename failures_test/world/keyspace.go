package world

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// keyspace is what Redis holds, and who installed what is in it.
type keyspace struct {
	server  redisServer
	names   *names
	state   map[string]keyState
	owners  map[string]Owner // key, or key + "\x00" + field → who installed it
	scripts []string
	ignore  func(key string) bool
	// blur is how far apart two moments must be to be told apart: nothing in fake
	// time, some milliseconds where Redis has a clock of its own.
	blur time.Duration
}

// keyState is one key as it is now.
type keyState struct {
	kind    string
	value   string            // of a string
	fields  map[string]string // of a hash
	record  bool              // a hash that says who holds the lock, and more; else its fields are owners
	expires time.Time         // on the server's clock; zero: never
	leased  bool              // the last command gave it a lease, also one that ends when its old one did
}

func newKeyspace(server redisServer, n *names, ignore func(string) bool, blur time.Duration) *keyspace {
	if ignore == nil {
		ignore = func(string) bool { return false }
	}
	return &keyspace{
		server: server, names: n, ignore: ignore, blur: blur,
		state: map[string]keyState{}, owners: map[string]Owner{},
	}
}

// load makes Redis know a script.
func (s *keyspace) load(source string) error {
	s.learnScript(source)
	return s.server.loadScript(source)
}

// learnScript remembers a script that Redis knows.
func (s *keyspace) learnScript(source string) {
	if !slices.Contains(s.scripts, source) {
		s.scripts = append(s.scripts, source)
	}
	s.names.scripts[compile(source).sha] = scriptName(source)
}

// compare takes stock and says what has changed since it last did, as an effect
// of what the lane did in that call.
func (s *keyspace) compare(lane *Client, call int, lapse bool) []Effect {
	before, after := s.state, s.server.read(s.ignore)
	for name, k := range after {
		after[name] = s.identify(k)
	}
	s.state = after
	effects := s.lapsed(before, after)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, still := after[name]; !still {
			kind := Removed
			if lapse {
				kind = Lapsed
			}
			effects = append(effects, Effect{kind, name, s.ownerOf(name, before[name])})
			s.forget(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		now := after[name]
		was, existed := before[name]
		if existed && was.kind != now.kind {
			effects = append(effects, Effect{Overwritten, name, s.ownerOf(name, was)})
			s.forget(name)
			existed = false
		}
		switch {
		case now.kind == "hash" && !now.record:
			effects = append(effects, s.compareFields(name, was, now, lane, call)...)
		case !existed:
			effects = append(effects, s.install(name, name, now.value, lane, call))
		case was.value != now.value:
			effects = append(effects, Effect{Overwritten, name, s.owners[name]})
			effects = append(effects, s.install(name, name, now.value, lane, call))
		}
		if existed && (s.differ(was.expires, now.expires) || now.leased) {
			kind := Leased
			if now.expires.IsZero() {
				kind = Persisted
			}
			effects = append(effects, Effect{kind, name, s.ownerOf(name, now)})
		}
	}
	return effects
}

// identify finds out what a hash is: a count for each owner, or a record of one owner. A
// record's random values, else its words, tell whose it is; the rest may change.
func (s *keyspace) identify(k keyState) keyState {
	words, random := "", ""
	for _, field := range slices.Sorted(maps.Keys(k.fields)) {
		switch value := k.fields[field]; {
		case s.names.looksRandom(field):
			return k
		case s.names.looksRandom(value):
			random += value
		case !isNumber(value):
			words += value
		}
	}
	if k.value = cmp.Or(random, words, k.value); k.kind == "hash" {
		k.record = k.value != ""
	}
	return k
}

// lapsed takes out of before the keys whose lease ended just when somebody else's
// command came: where Redis has a clock of its own, the command can be the first
// to show it.
func (s *keyspace) lapsed(before, after map[string]keyState) []Effect {
	if s.blur == 0 {
		return nil
	}
	var effects []Effect
	latest := s.server.now().Add(s.blur)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, now := before[name], after[name]
		if was.expires.IsZero() || was.expires.After(latest) || s.sameHold(was, now) {
			continue
		}
		effects = append(effects, Effect{Lapsed, name, s.ownerOf(name, was)})
		s.forget(name)
		delete(before, name)
	}
	return effects
}

// sameHold tells whether what is in a key now is what was there before.
func (s *keyspace) sameHold(was, now keyState) bool {
	for field := range was.fields {
		if _, still := now.fields[field]; still {
			return true
		}
	}
	if was.kind != now.kind || was.kind != "string" || was.value != now.value {
		return false
	}
	return s.names.looksRandom(was.value) || !s.differ(was.expires, now.expires)
}

// differ tells whether two moments are two.
func (s *keyspace) differ(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() != b.IsZero()
	}
	return a.Sub(b).Abs() > s.blur
}

// nextExpiry is when, on the clients' clock, the next key's lease ends.
func (s *keyspace) nextExpiry() (at time.Time, ok bool) {
	here, there := time.Now(), s.server.now()
	for _, k := range s.state {
		if k.expires.IsZero() {
			continue
		}
		end := here.Add(k.expires.Sub(there))
		if s.blur > 0 { // Redis ends a lease just after its last millisecond
			end = here.Add(max(0, k.expires.Sub(there)) + 2*time.Millisecond)
		}
		if !ok || end.Before(at) {
			at, ok = end, true
		}
	}
	return at, ok
}

// compareFields treats each field of a hash as an owner with a count.
func (s *keyspace) compareFields(name string, was, now keyState, lane *Client, call int) []Effect {
	var effects []Effect
	for _, field := range slices.Sorted(maps.Keys(was.fields)) {
		if _, still := now.fields[field]; !still {
			id := name + "\x00" + field
			effects = append(effects, Effect{Removed, name, s.owners[id]})
			delete(s.owners, id)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(now.fields)) {
		id := name + "\x00" + field
		if old, existed := was.fields[field]; !existed {
			effects = append(effects, s.install(id, name, field, lane, call))
		} else if old != now.fields[field] {
			effects = append(effects, Effect{Counted, name, s.owners[id]})
		}
	}
	return effects
}

func (s *keyspace) install(id, key, value string, lane *Client, call int) Effect {
	owner := Owner{Label: s.names.next(lane.Name), Client: lane.Name, Process: lane.process.name, Call: call}
	s.names.learn(value, owner.Label)
	s.owners[id] = owner
	return Effect{Installed, key, owner}
}

func (s *keyspace) forget(name string) {
	for id := range s.owners {
		if id == name || strings.HasPrefix(id, name+"\x00") {
			delete(s.owners, id)
		}
	}
}

// ownerOf is who installed a key; of a hash, who installed its first field.
func (s *keyspace) ownerOf(name string, k keyState) Owner {
	if k.kind != "hash" || k.record {
		return s.owners[name]
	}
	for _, field := range slices.Sorted(maps.Keys(k.fields)) {
		if owner, ok := s.owners[name+"\x00"+field]; ok {
			return owner
		}
	}
	return Owner{}
}

// keys is the state for the trace.
func (s *keyspace) keys() []Key {
	now := s.server.now()
	var keys []Key
	for _, name := range slices.Sorted(maps.Keys(s.state)) {
		k := s.state[name]
		key := Key{Name: name, Type: k.kind, Owner: s.ownerOf(name, k), TTL: NoTTL}
		key.Value = s.names.text(k.value, key.Owner.Client)
		if k.kind == "hash" {
			var parts []string
			for _, field := range slices.Sorted(maps.Keys(k.fields)) {
				owner := s.owners[name+"\x00"+field]
				parts = append(parts, s.names.text(field, owner.Client)+"="+s.names.text(k.fields[field], key.Owner.Client))
			}
			slices.Sort(parts)
			key.Value = strings.Join(parts, " ")
		}
		if !k.expires.IsZero() {
			key.TTL = k.expires.Sub(now)
		}
		keys = append(keys, key)
	}
	return keys
}
