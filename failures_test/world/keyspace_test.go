package world

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shelf is a Redis that holds what a test says.
type shelf struct {
	redisServer
	clock time.Time
	state map[string]keyState
}

func (s *shelf) now() time.Time { return s.clock }

func (s *shelf) read(func(string) bool) map[string]keyState { return s.state }

func kinds(effects []Effect) []EffectKind {
	var kinds []EffectKind
	for _, e := range effects {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// On a clock of its own, Redis can end a lease between the world's look and the
// command that profits by it.
func TestCommandThatFindsALeaseJustOverIsNoWrongDelete(t *testing.T) {
	start := time.Now()
	owner := &Client{Name: "A", process: &process{name: "A"}}
	key := func(value string, expires time.Duration) map[string]keyState {
		return map[string]keyState{"k": {kind: "string", value: value, expires: start.Add(expires)}}
	}
	for name, c := range map[string]struct {
		at    time.Duration
		after map[string]keyState
		want  []EffectKind
	}{
		"taken at the end of the lease":           {time.Second, key("locked", 2*time.Second), []EffectKind{Lapsed, Installed}},
		"taken in the middle of the lease":        {time.Second / 2, key("other", 2*time.Second), []EffectKind{Overwritten, Installed, Leased}},
		"gone at the end of the lease":            {time.Second, nil, []EffectKind{Lapsed}},
		"gone in the middle of the lease":         {time.Second / 2, nil, []EffectKind{Removed}},
		"renewed":                                 {time.Second / 2, key("locked", 3*time.Second/2), []EffectKind{Leased}},
		"untouched, read a few milliseconds late": {time.Second / 2, key("locked", time.Second+3*time.Millisecond), nil},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{clock: start, state: key("locked", time.Second)}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 20*time.Millisecond)
			keys.compare(owner, 1, false)
			redis.clock, redis.state = start.Add(c.at), c.after
			require.Equal(t, c.want, kinds(keys.compare(owner, 2, false)))
		})
	}
}

// A string may have more in it than its owner's random value.
func TestStringIsARecordOfOneOwner(t *testing.T) {
	owner := &Client{Name: "A", process: &process{name: "A"}}
	const one, other = "f81d4fae-7dec-11d0-a765", "9c5b94b1-a8f3-41e2-b0d1"
	for name, c := range map[string]struct {
		before, after, shown string
		want                 []EffectKind
	}{
		"a count":           {one + ":1", one + ":2", "A1:2", []EffectKind{Counted}},
		"a date":            {one + " until 5", one + " until 9", "A1 until 9", []EffectKind{Counted}},
		"another owner":     {one + ":1", other + ":1", "A2", []EffectKind{Overwritten, Installed}},
		"another value":     {one, other, "A2", []EffectKind{Overwritten, Installed}},
		"a number of words": {"locked:1", "locked:2", "locked:2", []EffectKind{Overwritten, Installed}},
		"a time of day":     {"1000", "1500", "1500", []EffectKind{Overwritten, Installed}},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{state: map[string]keyState{"k": {kind: "string", value: c.before}}}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
			keys.compare(owner, 1, false)
			redis.state = map[string]keyState{"k": {kind: "string", value: c.after}}
			require.Equal(t, c.want, kinds(keys.compare(owner, 2, false)))
			require.Equal(t, c.shown, keys.keys()[0].Value)
		})
	}
}

// Tokens go up by one too: who sets another one overwrites the first.
func TestNumberThatIsSetIsNoCounter(t *testing.T) {
	owner := &Client{Name: "A", process: &process{name: "A"}}
	for set, want := range map[bool][]EffectKind{false: {Counted}, true: {Overwritten, Installed}} {
		redis := &shelf{state: map[string]keyState{"k": {kind: "string", value: "1"}}}
		keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
		keys.compare(owner, 1, false)
		redis.state = map[string]keyState{"k": {kind: "string", value: "2", set: set}}
		require.Equal(t, want, kinds(keys.compare(owner, 2, false)))
	}
}

// A hash may be a record of who holds the lock, of which a heartbeat is a part.
func TestHashIsARecordOfOneOwnerOrACountForEach(t *testing.T) {
	owner := &Client{Name: "A", process: &process{name: "A"}}
	hash := func(pairs ...string) map[string]keyState {
		k := keyState{kind: "hash", fields: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			k.fields[pairs[i]] = pairs[i+1]
		}
		return map[string]keyState{"k": k}
	}
	const one, other = "f81d4fae7dec11d0a765", "9c5b94b1a8f341e2b0d1"
	for name, c := range map[string]struct {
		before, after map[string]keyState
		want          []EffectKind
	}{
		"a beat":              {hash("owner", one, "since", "5"), hash("owner", one, "since", "5", "beat", "9"), nil},
		"another owner":       {hash("owner", one, "since", "5"), hash("owner", other, "since", "9"), []EffectKind{Overwritten, Installed}},
		"a beat of a word":    {hash("owner", "worker", "beat", "5"), hash("owner", "worker", "beat", "9"), nil},
		"another word":        {hash("owner", "worker", "beat", "5"), hash("owner", "boss", "beat", "5"), []EffectKind{Overwritten, Installed}},
		"another state":       {hash("owner", one, "state", "new"), hash("owner", one, "state", "renewed"), nil},
		"a record's count":    {hash("owner", one, "count", "1"), hash("owner", one, "count", "2"), []EffectKind{Counted}},
		"a record goes":       {hash("owner", one, "since", "5"), nil, []EffectKind{Removed}},
		"a count":             {hash(one, "1"), hash(one, "2"), []EffectKind{Counted}},
		"a second owner":      {hash(one, "1"), hash(one, "1", other, "1"), []EffectKind{Installed}},
		"another for one":     {hash(one, "1"), hash(other, "1"), []EffectKind{Removed, Installed}},
		"a mode and an owner": {hash("mode", "write", one, "1"), hash("mode", "write", one, "2"), []EffectKind{Counted}},
		"another mode":        {hash("mode", "write", one, "1"), hash("mode", "read", one, "1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{state: c.before}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
			keys.compare(owner, 1, false)
			require.NotContains(t, keys.keys()[0].Value, one, "it has a name")
			redis.state = c.after
			effects := keys.compare(owner, 2, false)
			require.Equal(t, c.want, kinds(effects))
			for _, e := range effects {
				require.Equal(t, "A", e.Owner.Client)
			}
		})
	}
}

// A lock may keep its lease in the value, and Redis its key for ever.
func TestLeaseMayStandInWhatIsWritten(t *testing.T) {
	start, owner := time.Unix(946684800, 0), &Client{Name: "A", process: &process{name: "A"}}
	for name, c := range map[string]struct {
		value string
		field bool          // of a hash
		ends  time.Duration // 0: never
	}{
		"milliseconds":          {value: "946684830000", ends: 30 * time.Second},
		"seconds":               {value: "946684830", ends: 30 * time.Second},
		"seconds and a part":    {value: "946684830.5", ends: 30*time.Second + time.Second/2},
		"microseconds":          {value: "946684830000001", ends: 30*time.Second + time.Microsecond},
		"nanoseconds":           {value: "946684830000000000", ends: 30 * time.Second},
		"beside an owner":       {value: "f81d4fae-7dec-11d0-a765 until 946684830000", ends: 30 * time.Second},
		"in a hash":             {value: "946684830000", field: true, ends: 30 * time.Second},
		"the time of writing":   {value: "946684800000"},
		"a moment that is over": {value: "946684799000"},
		"next year":             {value: "978307200000"},
		"a number":              {value: "30000"},
		"two numbers":           {value: "946684830.000.5"},
	} {
		t.Run(name, func(t *testing.T) {
			k := keyState{kind: "string", value: c.value}
			if c.field {
				k = keyState{kind: "hash", fields: map[string]string{"owner": "me", "until": c.value}}
			}
			redis := &shelf{clock: start, state: map[string]keyState{"k": k}}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
			take := func(at time.Duration) []EffectKind {
				redis.clock, redis.state = start.Add(at), map[string]keyState{"k": k}
				return kinds(keys.compare(owner, 1, true))
			}
			take(0)
			if c.ends == 0 {
				require.Equal(t, NoTTL, keys.keys()[0].TTL)
				require.Empty(t, take(time.Hour))
				return
			}
			require.Equal(t, c.ends, keys.keys()[0].TTL)
			require.Empty(t, take(c.ends-time.Microsecond))
			require.Equal(t, []EffectKind{Lapsed}, take(c.ends))
			require.Empty(t, keys.keys())
			require.Empty(t, take(2*c.ends))
		})
	}
}
