package failures

import (
	"fmt"
	"slices"
	"testing"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
)

// Verdict is what one failure did to one lock.
type Verdict struct {
	Failure  Failure
	Subject  string
	Outcome  Outcome
	Findings []oracle.Finding
	Trace    *world.Trace
	Err      error // why the run did not end
}

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

// Run plays one failure on one lock and judges it.
func Run(t *testing.T, f Failure, s Subject) Verdict {
	return Judge(f, s, func(c world.Config, scenario func(*world.World)) (*world.Trace, error) {
		return world.Run(t, c, scenario)
	})
}

// Play runs a scenario in a world of some kind.
type Play func(world.Config, func(*world.World)) (*world.Trace, error)

// Judge is [Run] in the world that play makes.
func Judge(f Failure, s Subject, play Play) Verdict {
	v := Verdict{Failure: f, Subject: s.Name}
	if !s.has(f.Needs) || s.hasAny(f.Unless) {
		v.Outcome = NotApplicable
		return v
	}
	config := s.Config()
	config.Client, config.Fenced = f.Client, f.Fenced
	if variant, ok := s.Variants[f.Variant]; ok {
		config.New = variant
	}
	v.Trace, v.Err = play(config, f.Script)
	if v.Err != nil {
		v.Outcome = Astray
		return v
	}
	v.Findings = oracle.Judge(v.Trace)
	v.Outcome = f.outcome(v.Findings, v.Trace)
	return v
}

// DiscoverScripts returns the lock with the Lua scripts that it uses on an ordinary day,
// so that Redis knows them from the beginning. The error says that it does not survive
// that day.
func DiscoverScripts(t *testing.T, s Subject) (Subject, error) {
	var err error
	if s.Scripts, err = world.DiscoverScripts(t, s.Config()); err != nil {
		err = fmt.Errorf("%s does not survive an ordinary day: %w", s.Name, err)
	}
	return s, err
}

// Config is what a world needs to know of the lock.
func (s Subject) Config() world.Config {
	return world.Config{New: s.New, Ignore: s.Ignore, AttributeTo: s.AttributeTo, SkipFrames: s.SkipFrames, Scripts: s.Scripts}
}

func (s Subject) hasAny(features []Feature) bool {
	return slices.ContainsFunc(features, func(f Feature) bool { return slices.Contains(s.Has, f) })
}

func (s Subject) has(needs []Feature) bool {
	return !slices.ContainsFunc(needs, func(n Feature) bool { return !slices.Contains(s.Has, n) })
}

// outcome turns findings into the failure's outcome. A conviction by a rule that
// the failure is not about is never passed over.
func (f Failure) outcome(found []oracle.Finding, trace *world.Trace) Outcome {
	switch {
	case oracle.Convicts(found, f.Breaks...) && f.Inherent:
		return Inherent
	case oracle.Convicts(found, f.Breaks...):
		return Broken
	case slices.ContainsFunc(found, func(x oracle.Finding) bool { return !slices.Contains(f.Given, x.Monitor) }):
		return Astray
	case f.Loss && oracle.Noticed(trace):
		return Noticed
	}
	return Safe
}

// Sentence says in one line what happened.
func (v Verdict) Sentence() string {
	switch v.Outcome {
	case NotApplicable:
		if len(v.Failure.Needs) == 0 {
			return fmt.Sprintf("not for a lock with %v", v.Failure.Unless)
		}
		return fmt.Sprintf("needs %v, which this lock does not have", v.Failure.Needs)
	case Safe:
		return "no rule is broken"
	case Noticed:
		return "the hold is lost, and its owner is told in time"
	}
	if v.Err != nil {
		return v.Err.Error()
	}
	for _, found := range v.Findings {
		if v.Outcome == Astray && !slices.Contains(v.Failure.Given, found.Monitor) ||
			slices.Contains(v.Failure.Breaks, found.Monitor) {
			return fmt.Sprintf("%s: %s", found.Monitor, found.Text)
		}
	}
	return v.Outcome.String()
}

// Check runs the whole catalogue on a lock, one subtest for each failure, and
// fails each whose outcome is not the expected one. With -v it prints a line for
// each, and for one that is broken the timeline.
func Check(t *testing.T, s Subject, expect Expect) {
	s, err := DiscoverScripts(t, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range All {
		t.Run(f.ID, func(t *testing.T) {
			v := Run(t, f, s)
			want := expect(f)
			fmt.Fprintf(t.Output(), "%s: %s: %s\n", f.ID, v.Outcome, v.Sentence())
			if testing.Verbose() && v.Trace != nil && v.Outcome != Safe {
				fmt.Fprintf(t.Output(), "%s\n", timeline.Text(v.Trace, v.Findings, timeline.Options{}))
			}
			if want != v.Outcome && !(want == Safe && v.Outcome == NotApplicable) {
				t.Errorf("%s on %s: expected %s, got %s (%s)", f.ID, s.Name, want, v.Outcome, v.Sentence())
			}
		})
	}
}
