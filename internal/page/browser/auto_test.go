package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A run goes on by itself up to the next finding, and stays longer at a longer text.
func TestAutoWaitsForTheReaderAndStopsAtFindings(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#delete-foreign/2", wide, high)
	type rest struct {
		Letters          int
		Time             float64
		Stopped, Finding bool
	}
	// A timer ends at once, and its time is noted.
	rests := value[[]rest](b, `(() => {
		const [real, seen] = [setTimeout, []];
		let act, time;
		setTimeout = (...timer) => { [act, time] = timer; return 1; };
		const {states, says} = stepper.players[0];
		while (!stepper.isAtEnd) {
			if (!stepper.playing) stepper.play();
			const said = {Letters: says.textContent.length, Time: time};
			act();
			seen.push({...said, Stopped: !stepper.playing, Finding: Boolean(states[stepper.position].found)});
		}
		setTimeout = real;
		return seen;
	})()`)
	require.Len(t, rests, b.count(".step")-1)
	for i, r := range rests[1:] {
		require.Equal(t, rests[i].Letters < r.Letters, rests[i].Time < r.Time, "step %d", i+2)
	}
	stops := 0
	for i, r := range rests[:len(rests)-1] {
		require.Equal(t, r.Finding, r.Stopped, "step %d", i+2)
		if r.Stopped {
			stops++
		}
	}
	require.NotZero(t, stops)
}
