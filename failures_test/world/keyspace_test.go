package world

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
)

// shelf is a Redis whose time and keys the test sets.
type shelf struct {
	Redis
	clock time.Time
	state map[string]KeyState
}

func (s *shelf) Now() time.Time { return s.clock }

func (s *shelf) Keys(func(string) bool) (map[string]KeyState, error) { return s.state, nil }

func kinds(effects []trace.Effect) []trace.EffectKind {
	var kinds []trace.EffectKind
	for _, e := range effects {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// Where Redis has its own clock, a lease can end between the world's last look and another client's
// command.
func TestKeyThatJustExpiredCountsAsLapsed(t *testing.T) {
	start := time.Now()
	key := func(value string, expires time.Duration) map[string]KeyState {
		return map[string]KeyState{"k": {Kind: "string", Value: value, Expires: start.Add(expires)}}
	}
	for name, c := range map[string]struct {
		at    time.Duration
		after map[string]KeyState
		want  []trace.EffectKind
	}{
		"taken at the end of the lease":           {time.Second, key("locked", 2*time.Second), []trace.EffectKind{trace.Lapsed, trace.Installed}},
		"taken in the middle of the lease":        {time.Second / 2, key("other", 2*time.Second), []trace.EffectKind{trace.Overwritten, trace.Installed, trace.Leased}},
		"gone at the end of the lease":            {time.Second, nil, []trace.EffectKind{trace.Lapsed}},
		"gone in the middle of the lease":         {time.Second / 2, nil, []trace.EffectKind{trace.Removed}},
		"renewed":                                 {time.Second / 2, key("locked", 3*time.Second/2), []trace.EffectKind{trace.Leased}},
		"untouched, read a few milliseconds late": {time.Second / 2, key("locked", time.Second+3*time.Millisecond), nil},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{clock: start, state: key("locked", time.Second)}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 20*time.Millisecond)
			keys.refresh(installer{"A", "A", 1}, false)
			redis.clock, redis.state = start.Add(c.at), c.after
			require.Equal(t, c.want, kinds(keys.refresh(installer{"A", "A", 2}, false)))
		})
	}
}

func TestHashHasAnEntryForEachField(t *testing.T) {
	hash := func(pairs ...string) map[string]KeyState {
		k := KeyState{Kind: "hash", Fields: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			k.Fields[pairs[i]] = pairs[i+1]
		}
		return map[string]KeyState{"k": k}
	}
	const one, other = "f81d4fae7dec11d0a765", "9c5b94b1a8f341e2b0d1"
	for name, c := range map[string]struct {
		after map[string]KeyState
		want  []trace.EffectKind
	}{
		"count changed":  {hash(one, "2"), []trace.EffectKind{trace.Counted}},
		"owner added":    {hash(one, "1", other, "1"), []trace.EffectKind{trace.Installed}},
		"owner replaced": {hash(other, "1"), []trace.EffectKind{trace.Removed, trace.Installed}},
		"key deleted":    {nil, []trace.EffectKind{trace.Removed}},
		"string instead": {map[string]KeyState{"k": {Kind: "string", Value: other}}, []trace.EffectKind{trace.Overwritten, trace.Installed}},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{state: hash(one, "1")}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
			keys.refresh(installer{"A", "A", 1}, false)
			require.Equal(t, "A1=1", keys.keys()[0].Value())
			redis.state = c.after
			effects := keys.refresh(installer{"A", "A", 2}, false)
			require.Equal(t, c.want, kinds(effects))
			for _, e := range effects {
				require.Equal(t, "A", e.Owner.Client)
			}
		})
	}
}
