package quiz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

// A takes the lock, and dies; B finds A's key without a lease.
var trace = &world.Trace{Lanes: []string{"A", "B"}, Events: []world.Event{
	{Kind: world.Called, Client: "A", Op: world.OpLock},
	{
		Kind: world.Executed, Client: "A", Effects: []world.Effect{{Kind: world.Installed, Key: "lock"}},
		Keys: []world.Key{{Name: "counter"}, {Name: "lock", TTL: world.NoTTL, Owner: world.Owner{Label: "A1"}}},
	},
	{Kind: world.Returned, Client: "A", Op: world.OpLock, Result: &world.Result{Held: true}},
	{Kind: world.Crashed, Client: "A"},
	{Kind: world.Returned, Client: "B", Op: world.OpLock, Result: &world.Result{Error: "too late", Claim: world.ClaimUnknown}},
}}

func TestRunIsCutBeforeItsMomentAndAnswersWhatComesThen(t *testing.T) {
	crash := Moment{Kind: world.Crashed, Client: "A"}.Find(trace)
	q := Quiz{Trace: trace, Cut: crash, Asks: Told("B"), Choices: []string{"held", "error"}}
	require.Len(t, q.Shown().Events, 3)
	require.Equal(t, world.Returned, q.Shown().Events[2].Kind)
	right, err := q.Right()
	require.NoError(t, err)
	require.Equal(t, 1, right)
	q.Asks = Told("C")
	_, err = q.Right()
	require.EqualError(t, err, `ends with "nothing", which is none of the choices ["held" "error"]`)
	for typed, index := range map[string]int{"1": 0, "2": 1, "0": -1, "3": -1, "": -1, "12": -1, "x": -1} {
		chosen, ok := q.Chosen(typed)
		require.Equal(t, index >= 0, ok, typed)
		if ok {
			require.Equal(t, index, chosen)
		}
	}
	require.Equal(t, -1, Moment{Kind: world.Returned, Client: "B", Nth: 2}.Find(trace))
}

func TestTruthIsReadFromTheRun(t *testing.T) {
	require.Equal(t, "A", Insiders(UpTo(trace, 3), 0))
	require.Equal(t, "nobody", Insiders(trace, 0), "who is dead believes nothing")
	require.Equal(t, "A1!", Key(trace, 0), "the lock's key, and no lease")
	require.Equal(t, "no key", Key(UpTo(trace, 1), 0))
	require.Equal(t, "A1!", KeyAfter("A")(trace, 1))
	require.Equal(t, "nothing", KeyAfter("A")(trace, 2))
	require.Equal(t, "nobody", Orders(trace, 0))
}
