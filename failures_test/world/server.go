package world

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// redisServer is the embedded Redis, and who installed what is in it.
type redisServer struct {
	mini    *miniredis.Miniredis
	names   *names
	skew    time.Duration // how far its clock is ahead of the clients'
	state   map[string]keyState
	owners  map[string]Owner // key, or key + "\x00" + field → who installed it
	scripts []string
	ignore  func(key string) bool
}

// keyState is one key as it is now.
type keyState struct {
	kind    string
	value   string            // of a string
	fields  map[string]string // of a hash
	expires time.Time         // zero: never
}

func newServer(n *names, scripts []string, ignore func(string) bool) (*redisServer, error) {
	if ignore == nil {
		ignore = func(string) bool { return false }
	}
	s := &redisServer{
		mini: miniredis.NewMiniRedis(), names: n,
		state: map[string]keyState{}, owners: map[string]Owner{}, ignore: ignore,
	}
	// Dial starts a server without a listener; the connection itself is not used.
	conn, err := s.mini.Dial()
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, err
	}
	s.mini.ClockTTL(true)
	for _, source := range scripts {
		s.load(source)
	}
	return s, nil
}

func (s *redisServer) load(source string) {
	s.scripts = append(s.scripts, source)
	s.nameScript(source)
	w := newWire(&process{})
	s.dispatch(w, []string{"SCRIPT", "LOAD", source})
}

func (s *redisServer) nameScript(source string) {
	sum := sha1.Sum([]byte(source))
	s.names.scripts[hex.EncodeToString(sum[:])] = scriptName(source)
}

// dispatch runs one command and returns what Redis answered.
func (s *redisServer) dispatch(w *wire, args []string) []byte {
	s.tick()
	s.mini.Server().Dispatch(w.peer, args)
	w.peer.Flush()
	return w.sink.take()
}

// tick sets the server's clock: the fake time, and how far it was made to jump.
func (s *redisServer) tick() { s.mini.SetTime(s.now()) }

func (s *redisServer) now() time.Time { return time.Now().Add(s.skew) }

// read takes stock of every key.
func (s *redisServer) read() map[string]keyState {
	s.tick()
	now := s.now()
	state := map[string]keyState{}
	for _, name := range s.mini.Keys() {
		if s.ignore(name) {
			continue
		}
		k := keyState{kind: s.mini.Type(name)}
		switch k.kind {
		case "string":
			k.value, _ = s.mini.Get(name)
		case "hash":
			k.fields = map[string]string{}
			fields, _ := s.mini.HKeys(name)
			for _, field := range fields {
				k.fields[field] = s.mini.HGet(name, field)
			}
		}
		if ttl := s.mini.TTL(name); ttl > 0 {
			k.expires = now.Add(ttl)
		}
		state[name] = k
	}
	return state
}

// nextExpiry is when, on the clients' clock, the next key's lease ends.
func (s *redisServer) nextExpiry() (at time.Time, ok bool) {
	for _, k := range s.state {
		if k.expires.IsZero() {
			continue
		}
		if end := k.expires.Add(-s.skew); !ok || end.Before(at) {
			at, ok = end, true
		}
	}
	return at, ok
}

// compare takes stock and says what has changed since it last did, as an effect
// of what the lane did in that call.
func (s *redisServer) compare(lane *Client, call int, lapse bool) []Effect {
	before, after := s.state, s.read()
	s.state = after
	var effects []Effect
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
		case now.kind == "hash":
			effects = append(effects, s.compareFields(name, was, now, lane, call)...)
		case !existed:
			effects = append(effects, s.install(name, name, now.value, lane, call))
		case was.value != now.value:
			effects = append(effects, Effect{Overwritten, name, s.owners[name]})
			effects = append(effects, s.install(name, name, now.value, lane, call))
		}
		if existed && !was.expires.Equal(now.expires) {
			kind := Leased
			if now.expires.IsZero() {
				kind = Persisted
			}
			effects = append(effects, Effect{kind, name, s.ownerOf(name, now)})
		}
	}
	return effects
}

// compareFields treats each field of a hash as an owner with a count.
func (s *redisServer) compareFields(name string, was, now keyState, lane *Client, call int) []Effect {
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

func (s *redisServer) install(id, key, value string, lane *Client, call int) Effect {
	owner := Owner{Label: s.names.next(lane.Name), Client: lane.Name, Process: lane.process.name, Call: call}
	s.names.learn(value, owner.Label)
	s.owners[id] = owner
	return Effect{Installed, key, owner}
}

func (s *redisServer) forget(name string) {
	for id := range s.owners {
		if id == name || strings.HasPrefix(id, name+"\x00") {
			delete(s.owners, id)
		}
	}
}

// ownerOf is who installed a key; of a hash, who installed its first field.
func (s *redisServer) ownerOf(name string, k keyState) Owner {
	if k.kind != "hash" {
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
func (s *redisServer) keys() []Key {
	now := s.now()
	var keys []Key
	for _, name := range slices.Sorted(maps.Keys(s.state)) {
		k := s.state[name]
		key := Key{Name: name, Type: k.kind, Owner: s.ownerOf(name, k), TTL: NoTTL}
		key.Value = s.names.text(k.value, key.Owner.Client)
		if k.kind == "hash" {
			var parts []string
			for _, field := range slices.Sorted(maps.Keys(k.fields)) {
				owner := s.owners[name+"\x00"+field]
				parts = append(parts, s.names.text(field, owner.Client)+"="+k.fields[field])
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

// isWrite tells whether a command can change anything. Scripts count as writes.
func (s *redisServer) isWrite(name string) bool {
	switch name {
	case "PING", "ECHO", "TIME", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE", "SUNSUBSCRIBE",
		"MULTI", "WATCH", "UNWATCH", "SCRIPT", "INFO", "COMMAND":
		return false
	}
	return !s.mini.IsReadOnlyCommand(name)
}

// flushScripts empties the script cache, as SCRIPT FLUSH and a restart do.
func (s *redisServer) flushScripts() {
	s.dispatch(newWire(&process{}), []string{"SCRIPT", "FLUSH"})
}

func (s *redisServer) evict(names ...string) {
	for _, name := range names {
		s.mini.Del(name)
	}
}

// jump moves the server's clock. Redis keeps the moment at which a key expires,
// so a jump forward shortens every lease and a jump back lengthens it.
func (s *redisServer) jump(d time.Duration) {
	s.skew += d
	if d < 0 {
		s.mini.FastForward(d)
	}
}

func (s *redisServer) close(wires []*wire) {
	for _, w := range wires {
		s.unsubscribe(w)
	}
	s.mini.Close()
}

// unsubscribe ends the goroutines that Redis keeps for a subscriber.
func (s *redisServer) unsubscribe(w *wire) {
	if !w.subscribed {
		return
	}
	w.subscribed = false
	s.dispatch(w, []string{"UNSUBSCRIBE"})
	s.dispatch(w, []string{"PUNSUBSCRIBE"})
}
