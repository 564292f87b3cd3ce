package failures

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
)

// Expect tells which outcome is expected of a failure.
type Expect func(Failure) Outcome

// Flawless expects every failure to be absent, but for those that no lock with a
// lease can prevent.
func Flawless(f Failure) Outcome {
	if f.Inherent {
		return Inherent
	}
	return Safe
}

// stuckAfter is how long a run may take, in pauses of tick: one that comes to rest takes
// milliseconds. Pauses are counted, since a process that others keep from a processor waits
// longer for the end of each, too.
var stuckAfter = 10 * time.Second

const tick = 10 * time.Millisecond

// within ends the test if what it runs does not come to rest, and says which line spins or
// blocks: a bubble cannot be left from inside.
func within(t *testing.T, what string, run func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	for range stuckAfter / tick {
		select {
		case <-done:
			return
		case <-time.After(tick):
		}
	}
	t.Fatalf("%s does not come to rest in %v: %s", what, stuckAfter, strings.Join(world.StackDump(), ", "))
}

// Check runs the whole catalogue of a lock, one subtest for each failure, and
// fails each whose outcome is not the expected one. It ends with a summary: the failures of
// each cause. With -v it prints a line for each failure, and for one that is
// not safe the timeline, with the stage that fixes it; without, only the first timeline that was
// not expected.
func Check(t *testing.T, s Subject, expect Expect) {
	var sum summary
	checkAll(t, s, s.Failures(), func(t *testing.T, v Verdict) {
		want := expect(v.Failure)
		wrong := want != v.Outcome && !(want == Safe && v.Outcome == NotApplicable)
		how := ""
		if !wrong {
			how = ", as expected of " + strings.Replace(v.Subject, "stage", "stage ", 1)
		}
		draw := testing.Verbose() && v.Outcome != Safe || wrong && sum.wrong == nil
		v.print(t, how, draw)
		if fixed := fixedIn(v.Failure, v.Subject); draw && !v.Outcome.IsGood() && fixed != "" {
			fmt.Fprintf(t.Output(), "fixed in stage %s (go run . diff %[1]s): %s\n", fixed, v.Failure.Fixed)
		}
		sum.add(v, wrong)
		if wrong {
			t.Errorf("expected %s", want.Word())
		}
	})
	t.Log(sum.String())
}

// fixedIn returns the first lock of this repository after the one of that name that fixes a failure,
// "" if there is none.
func fixedIn(f Failure, name string) string {
	after := slices.Index(expected.Columns, strings.TrimPrefix(name, "stage")) + 1
	for _, lock := range expected.Columns[after:] {
		outcome := Expected(lock)(f)
		if after > 0 && (outcome == Safe || outcome == Noticed) && !strings.HasPrefix(lock, "doc") {
			return lock
		}
	}
	return ""
}

// Require plays the named failures on a lock, one subtest for each, and fails those that the
// lock does not survive. One that could not happen, or is about something that the lock does
// not have, is skipped. It prints the timeline of the first that fails, with -v of each.
func Require(t *testing.T, s Subject, names ...string) {
	all := make([]Failure, len(names))
	for i, name := range names {
		var ok bool
		if all[i], ok = Find(name); !ok {
			t.Fatalf("there is no failure %s", name)
		}
	}
	if s.Ignore == nil {
		s.Ignore = IsAuxKey
	}
	isFirst := true
	checkAll(t, s, all, func(t *testing.T, v Verdict) {
		fails := !v.Outcome.IsGood() && v.Outcome != NotTested
		v.print(t, "", fails && (isFirst || testing.Verbose()))
		switch {
		case fails:
			isFirst = false
			t.Fail()
		case v.Missing.Text != "":
			t.Skip()
		}
	})
}

// checkAll plays failures on a lock, each in a subtest that judge ends. It stops after a run
// that does not end: that run would hold up the others.
func checkAll(t *testing.T, s Subject, all []Failure, judge func(*testing.T, Verdict)) {
	var err error
	within(t, s.Name, func() { s, err = DiscoverScripts(t, s) })
	if err != nil && !errors.Is(err, world.ErrLeft) {
		t.Fatal(err)
	}
	for _, f := range all {
		isStuck := false
		t.Run(f.ID, func(t *testing.T) {
			isStuck = true
			var v Verdict
			within(t, f.ID+" on "+s.Name, func() { v = Run(t, f, s) })
			isStuck = false
			judge(t, v)
		})
		if isStuck {
			break
		}
	}
}

// print prints what became of the lock, and how that was meant to be, and the timeline if it is asked for.
func (v Verdict) print(t *testing.T, how string, draw bool) {
	fmt.Fprintf(t.Output(), "%s: %s%s: %s\n", v.Failure.ID, v.Outcome.Word(), how, v.Sentence())
	if v.Err != nil {
		fmt.Fprintf(t.Output(), "%v\n", v.Err)
	}
	if v.Trace != nil && draw {
		fmt.Fprintf(t.Output(), "%s\n", timeline.Text(v.Trace, v.Findings, timeline.Options{}))
	}
}

// Tone is the colour of a verdict in pictures and pages.
func (v Verdict) Tone() timeline.Tone {
	switch v.Outcome {
	case Safe:
		return timeline.Good
	case Noticed, Inherent:
		return timeline.Fair
	}
	return timeline.Bad
}
