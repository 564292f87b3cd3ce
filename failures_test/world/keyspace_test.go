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
			keys.refresh(installer{client: "A", process: "A", call: 1}, false)
			redis.clock, redis.state = start.Add(c.at), c.after
			require.Equal(t, c.want, kinds(keys.refresh(installer{client: "A", process: "A", call: 2}, false)))
		})
	}
}

func TestCounterThatIsPutBackToZeroIsNoLock(t *testing.T) {
	redis := &shelf{clock: time.Now()}
	keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
	for i, c := range []struct {
		value string
		want  []trace.EffectKind
	}{
		{"1", []trace.EffectKind{trace.Installed}},
		{"0", []trace.EffectKind{trace.Removed}},
		{"0", nil},
		{"1", []trace.EffectKind{trace.Installed}},
		{"", []trace.EffectKind{trace.Removed}},
		{"0", []trace.EffectKind{trace.Installed}}, // the value of a lock
	} {
		redis.state = map[string]KeyState{"k": {Kind: "string", Value: c.value}}
		if c.value == "" {
			redis.state = nil
		}
		require.Equal(t, c.want, kinds(keys.refresh(installer{client: "A", process: "A", call: i + 1}, false)), "%d: %s", i, c.value)
	}
}

func TestUnlockThatWritesZeroTakesNoLock(t *testing.T) {
	redis := &shelf{clock: time.Now(), state: map[string]KeyState{"k": {Kind: "string", Value: "0"}}}
	keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
	require.Empty(t, keys.refresh(installer{client: "A", process: "A", call: 1, unlocks: true}, false))
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
			keys.refresh(installer{client: "A", process: "A", call: 1}, false)
			require.Equal(t, "A1=1", keys.keys("")[0].Value())
			redis.state = c.after
			effects := keys.refresh(installer{client: "A", process: "A", call: 2}, false)
			require.Equal(t, c.want, kinds(effects))
			for _, e := range effects {
				require.Equal(t, "A", e.Owner.Client)
			}
		})
	}
}

// A hash has its owners in fields or in values, and may say more about them.
func TestOwnerOfAHashIsWhatDiffersFromHoldToHold(t *testing.T) {
	const one, other = "f81d4fae7dec11d0a765", "9c5b94b1a8f341e2b0d1"
	type fields = map[string]string
	for name, c := range map[string]struct {
		was, now fields
		by       string // the process that changes it
		want     []trace.EffectKind
	}{
		"time changed":                  {fields{"owner": one, "since": "17"}, fields{"owner": one, "since": "18"}, "B", []trace.EffectKind{trace.Counted}},
		"random value replaced":         {fields{"owner": one, "n": "1"}, fields{"owner": other, "n": "2"}, "A", []trace.EffectKind{trace.Overwritten, trace.Installed}},
		"number replaced by another":    {fields{"owner": "47", "pid": "12"}, fields{"owner": "48", "pid": "12"}, "B", []trace.EffectKind{trace.Overwritten, trace.Installed}},
		"number replaced by its owner":  {fields{"owner": "47", "pid": "12"}, fields{"owner": "47", "pid": "13"}, "A", []trace.EffectKind{trace.Counted}},
		"owner removed":                 {fields{"owner": one, "since": "17"}, fields{"since": "17"}, "A", []trace.EffectKind{trace.Removed}},
		"field added by another":        {fields{"owner": "47", "pid": "12"}, fields{"owner": "47", "pid": "12", "refused": "1"}, "B", []trace.EffectKind{trace.Counted}},
		"mode next to a field of owner": {fields{one: "1", "mode": "write"}, fields{one: "1", "mode": "read"}, "A", nil},
		"count of a short name":         {fields{"me": "1"}, fields{"me": "2"}, "A", []trace.EffectKind{trace.Counted}},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{state: map[string]KeyState{"k": {Kind: "hash", Fields: c.was}}}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
			require.Equal(t, []trace.EffectKind{trace.Installed}, kinds(keys.refresh(installer{client: "A", process: "A", call: 1}, false)))
			redis.state = map[string]KeyState{"k": {Kind: "hash", Fields: c.now}}
			require.Equal(t, c.want, kinds(keys.refresh(installer{client: c.by, process: c.by, call: 2}, false)))
		})
	}
}

func TestCountOfHoldsBeginsAtOne(t *testing.T) {
	const owner = "f81d4fae7dec11d0a765"
	type fields = map[string]string
	for name, c := range map[string]struct {
		states []fields
		counts string // the field
	}{
		"in a field of the owner":        {[]fields{{owner: "1"}}, "A1"},
		"no time":                        {[]fields{{owner: "17000"}}, ""},
		"next to the owner, once it has": {[]fields{{"owner": owner, "n": "1", "token": "1"}, {"owner": owner, "n": "2", "token": "1"}}, "n"},
		"not before":                     {[]fields{{"owner": owner, "n": "1", "token": "1"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			redis := &shelf{}
			keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
			for i, state := range c.states {
				redis.state = map[string]KeyState{"k": {Kind: "hash", Fields: state}}
				keys.refresh(installer{client: "A", process: "A", call: i + 1}, false)
			}
			counts := ""
			for _, entry := range keys.keys("")[0].Entries {
				if entry.Counts {
					counts += entry.Field
					require.Equal(t, "A", entry.Owner.Client)
				}
			}
			require.Equal(t, c.counts, counts)
		})
	}
}

func TestNumberThatRedisCountedKeepsItsOwner(t *testing.T) {
	for counted, want := range map[bool][]trace.EffectKind{true: {trace.Counted}, false: {trace.Overwritten, trace.Installed}} {
		redis := &shelf{state: map[string]KeyState{"k": {Kind: "string", Value: "1"}}}
		keys := newKeyspace(redis, newNames("order:1001"), nil, 0)
		keys.refresh(installer{client: "A", process: "A", call: 1}, false)
		redis.state = map[string]KeyState{"k": {Kind: "string", Value: "2", Counted: counted}}
		effects := keys.refresh(installer{client: "B", process: "B", call: 2}, false)
		require.Equal(t, want, kinds(effects))
		require.Equal(t, "A", effects[0].Owner.Client)
	}
}
