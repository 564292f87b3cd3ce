package failures

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Verdict is what one failure did to one lock.
type Verdict struct {
	Failure  Failure
	Subject  string
	Outcome  Outcome
	Findings []oracle.Finding
	Trace    *world.Trace
	Err      error        // why the run did not end
	Missing  i18n.Message // what the lock lacks, or what did not happen, where that is the outcome
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
	if v.Missing = s.lacks(f); v.Missing.Text != "" {
		v.Outcome = NotApplicable
		return v
	}
	if v.Trace, v.Err = play(f.Config(s), f.Script); v.Trace != nil {
		about := f.Breaks
		if slices.Contains(f.Needs, PubSub) { // who is to be woken need not ask
			about = append(slices.Clip(about), oracle.CommandCount)
		}
		v.Findings = oracle.Judge(v.Trace, about...)
		if slices.ContainsFunc(v.Findings, oracle.Finding.IsOfEqualValues) {
			v.askTheTime(s, play)
		}
	}
	v.decide()
	return v
}

// askTheTime plays the failure again where each command takes a microsecond. If values are no longer
// equal there, their findings say so.
func (v *Verdict) askTheTime(s Subject, play Play) {
	config := v.Failure.Config(s)
	client := config.Client
	config.Client = func(o *redis.Options) {
		if client != nil {
			client(o)
		}
		o.Limiter = slowly{}
	}
	again, err := play(config, v.Failure.Script)
	if err != nil || v.Failure.unmet(again).Text != "" || slices.ContainsFunc(oracle.Judge(again), oracle.Finding.IsOfEqualValues) {
		return
	}
	for i, found := range v.Findings {
		if found.IsOfEqualValues() {
			v.Findings[i] = found.InNoTime()
		}
	}
}

// slowly is a limiter that lets a microsecond pass before each command.
type slowly struct{}

func (slowly) Allow() error {
	time.Sleep(time.Microsecond)
	return nil
}

func (slowly) ReportResult(error) {}

// DiscoverScripts returns the lock with the Lua scripts that it uses on an ordinary day,
// so that Redis knows them from the beginning. The error says that it does not survive
// that day.
func DiscoverScripts(t *testing.T, s Subject) (Subject, error) {
	var err error
	if _, s.Scripts, err = world.Discover(t, s.Config()); err != nil {
		err = fmt.Errorf("%s does not survive an ordinary day: %w", s.Name, err)
	}
	return s, err
}

// Config is what a world needs to know of the lock.
func (s Subject) Config() world.Config {
	return world.Config{New: s.New, Ignore: s.Ignore, AttributeTo: s.AttributeTo, SkipFrames: s.SkipFrames, Scripts: s.Scripts}
}

// Config is the world in which the failure is played on a lock.
func (f Failure) Config(s Subject) world.Config {
	config := s.Config()
	config.Client, config.Fenced, config.Lease = f.Client, f.Fenced, f.Lease
	if variant, ok := s.Variants[f.Variant]; ok {
		config.New = variant
	} else if f.Variant == Nested {
		config.New = adapters.Nested(s.New)
		config.Ignore = func(key string) bool {
			return strings.Contains(key, adapters.Another) || s.Ignore != nil && s.Ignore(key)
		}
	}
	return config
}

// Applies tells whether the lock has what the failure is about.
func (f Failure) Applies(s Subject) bool { return s.lacks(f).Text == "" }

// Why a failure does not apply to a lock.
var (
	lacksFeature = i18n.New("this lock has no {features}")
	lacksVariant = i18n.New("this lock has no {variant}")
	notWith      = i18n.New("not for a lock with {features}")
)

// lacks says why a failure does not apply; no text if it does.
func (s Subject) lacks(f Failure) i18n.Message {
	_, varies := s.Variants[f.Variant]
	has := func(feature Feature) bool { return slices.Contains(s.Has, feature) }
	missing := named(f.Needs, func(n Feature) bool { return !has(n) })
	barred := named(f.Unless, has)
	switch {
	case missing != "":
		return lacksFeature.Args("features", missing)
	case barred != "":
		return notWith.Args("features", barred)
	case !varies && (f.Variant == FixedLease && has(Watchdog) || slices.Contains([]Variant{Beside, BesideRenewed, Crowded}, f.Variant)):
		return lacksVariant.Args("variant", i18n.Text(f.Variant))
	}
	return i18n.Message{}
}

// named are the names of some features.
func named(all []Feature, some func(Feature) bool) string {
	var names []string
	for _, f := range all {
		if some(f) {
			names = append(names, string(f))
		}
	}
	return strings.Join(names, ", ")
}

// decide turns findings into the outcome. A conviction by a rule that the story does not
// break by itself is never passed over, also where the run did not come to its end.
func (v *Verdict) decide() {
	f := v.Failure
	against, convicted := v.Against()
	ended := v.Err == nil || errors.Is(v.Err, world.ErrLeft)
	if ended {
		v.Missing = f.unmet(v.Trace)
	}
	switch about := slices.Contains(f.Breaks, against.Monitor); {
	case convicted && !(about && f.Inherent):
		v.Outcome = Broken
	case !ended:
		v.Outcome = NotPlayed
	case v.Missing.Text != "":
		v.Outcome = NotTested
	case convicted:
		v.Outcome = Inherent
	case f.Loss && oracle.Noticed(v.Trace):
		v.Outcome = Noticed
	default:
		v.Outcome = Safe
	}
}

// Against is the finding that convicts the lock. It is the first of these that there is:
//
//   - a lease that is not the one asked for, since the rest follows from it;
//   - a finding by a rule that the failure is about;
//   - a finding by a rule that the failure's story does not break by itself.
//
// What comes after a call that is under way beyond its context is a consequence, and does not count.
func (v Verdict) Against() (found oracle.Finding, ok bool) {
	other := func(x oracle.Finding) bool { return !slices.Contains(v.Failure.Given, x.Monitor) }
	root := func(x oracle.Finding) bool { return x.Monitor == oracle.Lease && other(x) }
	about := func(x oracle.Finding) bool { return slices.Contains(v.Failure.Breaks, x.Monitor) }
	findings := v.Findings
	if late := slices.IndexFunc(findings, func(x oracle.Finding) bool { return x.Monitor == oracle.Context && other(x) }); late >= 0 {
		findings = findings[:late+1]
	}
	for _, counts := range []func(oracle.Finding) bool{root, about, other} {
		if i := slices.IndexFunc(findings, counts); i >= 0 {
			return findings[i], true
		}
	}
	return found, false
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

// Check runs the whole catalogue on a lock, one subtest for each failure, and
// fails each whose outcome is not the expected one. It ends with a summary: the failures of
// each cause. With -v it prints a line for each failure, and for one that is
// not safe the timeline, with the stage that fixes it; without, only the first timeline that was
// not expected.
func Check(t *testing.T, s Subject, expect Expect) {
	var sum summary
	checkAll(t, s, All, func(t *testing.T, v Verdict) {
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
