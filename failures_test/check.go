package failures

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
)

// Expect returns the outcome that is expected of a failure.
type Expect func(catalogue.Failure) Outcome

// Flawless expects the lock to be safe from every failure, except those that no lock
// over one server can prevent.
func Flawless(f catalogue.Failure) Outcome {
	if f.PreventedBy != "" {
		return Limit
	}
	return Safe
}

// stuckAfter is how much processor time a run may take. Most take milliseconds; other tests of the process
// run meanwhile.
var stuckAfter = 10 * time.Second

// within fails the test if run does not end, and says why: a bubble cannot be left from inside.
func within(t *testing.T, what string, run func()) {
	t.Helper()
	if cause := (&guard.Guard{Limit: stuckAfter}).Run(run); cause != nil {
		t.Fatalf("%s does not end: your lock %s: %s %s", what, cause.Kind, cause.Text, cause.Next)
	}
}

// Check runs the whole catalogue on a lock, one subtest for each failure that applies, and fails each
// subtest whose outcome is not the expected one. If that is a basic failure, Check does not
// run those that are not basic. It ends with a summary of the failures by cause. With -v it prints a
// line for each failure that is not safe, and a timeline for each one that was not expected or that -run
// names; without -v, only the first timeline that was not expected.
func Check(t *testing.T, s Subject, expect Expect) {
	count, unexpected := map[Outcome]int{}, []Verdict(nil)
	isNamed := strings.Contains(flag.Lookup("test.run").Value.String(), "/")
	all := slices.DeleteFunc(catalogue.BasicFirst(s.Failures()), func(f catalogue.Failure) bool {
		want := expect(f)
		if Applies(f, s) || isNamed || want != Safe && want != NotApplicable {
			return false
		}
		count[NotApplicable]++
		return true
	})
	goesOn := func(f catalogue.Failure) bool {
		return f.Basic || !slices.ContainsFunc(unexpected, func(v Verdict) bool { return v.Failure.Basic })
	}
	checkAll(t, s, all, goesOn, func(t *testing.T, v Verdict) {
		want := expect(v.Failure)
		wrong := !v.Is(want) && !(want == Safe && v.Outcome == NotApplicable)
		how := ""
		if !wrong {
			how = ", as expected of " + strings.Replace(v.Subject, "stage", "stage ", 1)
		}
		draw := testing.Verbose() && (isNamed || wrong) || wrong && unexpected == nil
		if wrong || isNamed || v.Outcome != Safe {
			v.print(t, how, draw)
		}
		if fixed := fixedIn(v.Failure, v.Subject); draw && !v.Outcome.IsGood() && fixed != "" {
			fmt.Fprintf(t.Output(), "fixed in stage %s (go run . diff %[1]s): %s\n", fixed, v.Failure.Fixed)
		}
		count[v.Outcome]++
		if wrong {
			v.Trace = nil // it is large
			unexpected = append(unexpected, v)
			if want == v.Outcome {
				t.Errorf("expected that one of these rules is broken: %v", v.Failure.Breaks)
			} else {
				t.Errorf("expected %s", want.Word())
			}
		}
	})
	t.Log(summary(count, unexpected))
}

// fixedIn returns the first lock of this repository, after the named one, that fixes a failure, or "".
func fixedIn(f catalogue.Failure, name string) string {
	after := slices.Index(expected.Columns, strings.TrimPrefix(name, "stage")) + 1
	for _, lock := range expected.Columns[after:] {
		outcome := Expected(lock)(f)
		if after > 0 && (outcome == Safe || outcome == Noticed) && !strings.HasPrefix(lock, "doc") {
			return lock
		}
	}
	return ""
}

// Require runs the named failures on a lock, one subtest for each, and fails those that the
// lock does not survive. It skips failures that could not happen or do not apply. It prints
// the timeline of the first subtest that fails, with -v of each.
func Require(t *testing.T, s Subject, names ...string) {
	all := make([]catalogue.Failure, len(names))
	for i, name := range names {
		var ok bool
		if all[i], ok = catalogue.Find(name); !ok {
			t.Fatalf("there is no failure %s", name)
		}
	}
	if s.Ignore == nil {
		s.Ignore = IsAuxKey
	}
	isFirst := true
	checkAll(t, s, all, func(catalogue.Failure) bool { return true }, func(t *testing.T, v Verdict) {
		fails := !v.Passes()
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

// checkAll runs failures on a lock, each in a subtest that judge decides. It stops at the first one
// with which it does not go on, and after a run that does not end, since that would block the others.
func checkAll(t *testing.T, s Subject, all []catalogue.Failure, goesOn func(catalogue.Failure) bool, judge func(*testing.T, Verdict)) {
	var err error
	within(t, s.Name, func() { s, err = DiscoverScripts(t, s) })
	if err != nil && !errors.Is(err, world.ErrLeft) {
		t.Fatal(err)
	}
	for _, f := range all {
		if !goesOn(f) {
			break
		}
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

// print prints the outcome and how it was expected to be, and the timeline if draw is set.
func (v Verdict) print(t *testing.T, how string, draw bool) {
	fmt.Fprintf(t.Output(), "%s: %s%s: %s\n", v.Failure.ID, v.Outcome.Word(), how, v.Sentence())
	if cause := (&guard.Guard{}).CauseOf(v.Err); cause != nil {
		fmt.Fprintf(t.Output(), "your lock %s: %s %s\n", cause.Kind, cause.Text, cause.Next)
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
	case Noticed, Limit:
		return timeline.Limit
	}
	return timeline.Bad
}
