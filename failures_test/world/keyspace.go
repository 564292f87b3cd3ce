package world

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// keyspace is what Redis holds, and who installed what is in it.
type keyspace struct {
	server  redisServer
	names   *names
	state   map[string]keyState
	owners  map[place]Owner // who installed what is there
	scripts []string
	ignore  func(key string) bool
	// blur is how far apart two moments must be to be told apart: nothing in fake
	// time, some milliseconds where Redis has a clock of its own.
	blur   time.Duration
	writes map[string]writing // what a key without a TTL says of its end
}

// keyState is one key as it is now.
type keyState struct {
	kind    string
	value   string            // of a string
	fields  map[string]string // of a hash
	entries []string          // what owners have put into it, in order
	counts  bool              // it is a hash with a field, and a count, for each entry; any other key has one entry
	expires time.Time         // on the server's clock; zero: never
	leased  bool              // the last command gave it a lease, also one that ends when its old one did
	set     bool              // the last command has set it, and not counted in it
}

// place is where an entry is.
type place struct{ key, entry string }

func newKeyspace(server redisServer, n *names, ignore func(string) bool, blur time.Duration) *keyspace {
	if ignore == nil {
		ignore = func(string) bool { return false }
	}
	return &keyspace{
		server: server, names: n, ignore: ignore, blur: blur,
		state: map[string]keyState{}, owners: map[place]Owner{}, writes: map[string]writing{},
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
		k = s.identify(k)
		if k.expires.IsZero() {
			k.expires = s.written(name, k)
		}
		if after[name] = k; !k.expires.IsZero() && !k.expires.After(s.server.now()) {
			delete(after, name)
		}
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
			was, existed = keyState{}, false
		}
		effects = append(effects, s.compareEntries(name, was, now, lane, call)...)
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

// identify finds out what the entries of a key are. A hash is a count for each owner, or a
// record of one owner, as any other key is. A record's random values, else its words, tell whose
// it is; the rest may change.
func (s *keyspace) identify(k keyState) keyState {
	words, random := "", strings.Join(s.names.randomParts(k.value), "")
	var owners []string
	fields := slices.Sorted(maps.Keys(k.fields))
	for _, field := range fields {
		switch value := k.fields[field]; {
		case s.names.looksRandom(field):
			owners = append(owners, field)
		case s.names.looksRandom(value):
			random += value
		case !isNumber(value):
			words += value
		}
	}
	k.entries = []string{cmp.Or(random, words, k.value)}
	switch {
	case len(owners) > 0: // what stands beside them, such as a mode, is nobody's
		k.counts, k.entries = true, owners
	case k.kind == "hash" && k.entries[0] == "":
		k.counts, k.entries = true, fields
	}
	return k
}

// farthest is how far ahead the end of a lease may be: whatever looks like a time of day and is
// further away is none.
const farthest = 24 * time.Hour

// writing is what stands in a key without a TTL, and the moment at which it says to end.
type writing struct {
	text string
	ends time.Time // zero: it says nothing
}

// written is the moment at which a key that Redis keeps for ever ends by what its owner has
// written into it: a lock may keep its lease there, and let the next client take the key over.
// It is a time of day in whatever unit, which was ahead when it was written.
func (s *keyspace) written(name string, k keyState) time.Time {
	text, now := fmt.Sprint(k.value, k.fields), s.server.now()
	if s.writes[name].text == text {
		return s.writes[name].ends
	}
	w := writing{text: text}
	for _, number := range strings.FieldsFunc(text, func(r rune) bool { return r != '.' && !unicode.IsDigit(r) }) {
		for of, _ := strconv.ParseFloat(number, 64); of > 1; of /= 1000 {
			at := time.UnixMicro(int64(math.Round(of * 1e6)))
			if ahead := at.Sub(now); ahead > s.blur && ahead < farthest {
				w.ends = at
			}
		}
	}
	s.writes[name] = w
	return w.ends
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

// sameHold tells whether what is in a key now is what was there before. A word may have been
// written again: then its lease is another one.
func (s *keyspace) sameHold(was, now keyState) bool {
	for _, entry := range was.entries {
		if slices.Contains(now.entries, entry) {
			return was.counts || s.names.looksRandom(entry) || !s.differ(was.expires, now.expires)
		}
	}
	return false
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

// compareEntries says which entries of a key went and came, and which have another count.
func (s *keyspace) compareEntries(name string, was, now keyState, lane *Client, call int) []Effect {
	var effects []Effect
	if from, to := (place{name, was.value}), (place{name, now.value}); !now.set && isStep(was.value, now.value) { // a counter is whose it was
		s.owners[to] = s.owners[from]
		delete(s.owners, from)
		return []Effect{{Counted, name, s.owners[to]}}
	}
	gone := Overwritten
	if now.counts {
		gone = Removed
	}
	for _, entry := range was.entries {
		if at := (place{name, entry}); !slices.Contains(now.entries, entry) {
			effects = append(effects, Effect{gone, name, s.owners[at]})
			delete(s.owners, at)
		}
	}
	for _, entry := range now.entries {
		at := place{name, entry}
		if !slices.Contains(was.entries, entry) {
			owner := Owner{Label: s.names.next(lane.Name), Client: lane.Name, Process: lane.process.name, Call: call}
			s.names.learn(entry, owner.Label)
			s.names.learn(now.value, owner.Label)
			s.owners[at] = owner
			effects = append(effects, Effect{Installed, name, owner})
		} else if was.fields[entry] != now.fields[entry] || was.value != now.value || !now.counts && isCounted(was.fields, now.fields) {
			effects = append(effects, Effect{Counted, name, s.owners[at]})
		}
	}
	return effects
}

// isCounted tells whether a number of a record went up or down by one, as no time of day does.
func isCounted(was, now map[string]string) bool {
	for field, value := range now {
		if isStep(was[field], value) {
			return true
		}
	}
	return false
}

func isStep(was, now string) bool {
	before, err := strconv.Atoi(was)
	after, e := strconv.Atoi(now)
	return err == nil && e == nil && (after == before+1 || after == before-1)
}

func (s *keyspace) forget(name string) {
	maps.DeleteFunc(s.owners, func(at place, _ Owner) bool { return at.key == name })
}

// ownerOf is who installed a key: its first entry.
func (s *keyspace) ownerOf(name string, k keyState) Owner {
	for _, entry := range k.entries {
		if owner, ok := s.owners[place{name, entry}]; ok {
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
			for field, value := range k.fields {
				owner := s.owners[place{name, field}]
				parts = append(parts, s.names.text(field, owner.Client)+"="+s.names.text(value, key.Owner.Client))
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
