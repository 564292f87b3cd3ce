package failures_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

func TestExpectationForAnotherLock(t *testing.T) {
	for _, f := range catalogue.All {
		want := failures.Safe
		if f.PreventedBy != "" {
			want = failures.Limit
		}
		require.Equal(t, want, failures.Flawless(f), f.ID)
	}
}

// The child process of the test below.
func TestCheckedStage(t *testing.T) {
	if os.Getenv("LOCKKATA_CHECKED") == "" {
		t.Skip("the test below runs it")
	}
	failures.Check(t, stages.MustFind("3").Subject, failures.Expected("3"))
}

func TestCheckDrawsOnlyNamedFailures(t *testing.T) {
	check := func(names string) string {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestCheckedStage$"+names)
		child.Env = append(os.Environ(), "LOCKKATA_CHECKED=yes")
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	const timeline = "K = lock:order:1001"
	all := check("")
	require.NotContains(t, all, timeline)
	require.Contains(t, all, "check-then-delete: broken, as expected of stage 3: wrong delete: A's DEL removes the lock of B (B1)\n===")
	require.Contains(t, all, "--- PASS: TestCheckedStage/second-client ")
	require.NotContains(t, all, "second-client: safe")
	require.NotContains(t, all, "renew-blip", "it does not apply")
	require.Contains(t, check("/check-then-delete"), timeline)
	require.Contains(t, check("/second-client"), timeline)
	require.Contains(t, check("/renew-blip$"), "renew-blip: not applicable, as expected of stage 3: this lock has no watchdog")
}

// The runs show the features of each stage that are visible in a trace and not declared.
func TestRunsShowTheFeaturesOfALock(t *testing.T) {
	for _, c := range stages.All() {
		unsaid := c.Subject
		unsaid.Has = nil
		shown := map[catalogue.Feature]bool{}
		for _, id := range []string{"work-outlives-ttl", "unlock-wakes"} { // one client waits for another
			f, ok := catalogue.Find(id)
			require.True(t, ok)
			f.Needs = nil
			trace := failures.Run(t, f, unsaid).Trace
			require.Empty(t, c.Subject.Shows(trace), c.ID)
			for _, feature := range unsaid.Shows(trace) {
				shown[feature] = true
			}
		}
		for _, feature := range []catalogue.Feature{catalogue.Scripts, catalogue.Watchdog, catalogue.PubSub} {
			require.Equal(t, slices.Contains(c.Subject.Has, feature), shown[feature], "%s: %s", c.ID, feature)
		}
	}
}

func TestFailureThatNeedsAFeatureDoesNotApplyWithoutIt(t *testing.T) {
	for _, c := range []struct {
		failure string
		has     []catalogue.Feature
		says    string
	}{
		{"script-flush", nil, "this lock has no scripts"},
		{"dog-per-reentry", nil, "this lock has no watchdog, re-entry"},
		{"dog-per-reentry", []catalogue.Feature{catalogue.Watchdog}, "this lock has no re-entry"},
	} {
		f, _ := catalogue.Find(c.failure)
		v := failures.Run(t, f, failures.Subject{Name: "plain", Has: c.has, New: stages.MustFind("1").Subject.New})
		require.Equal(t, failures.NotApplicable, v.Outcome)
		require.Equal(t, c.says, v.Sentence())
	}
}

func TestFixedLeaseNeedsAVariantIfThereIsAWatchdog(t *testing.T) {
	subject := stages.MustFind("5").Subject
	subject.Variants = nil
	f, _ := catalogue.Find("loss-hidden-at-unlock")
	v := failures.Run(t, f, subject)
	require.Equal(t, failures.NotApplicable, v.Outcome)
	require.Equal(t, "this lock has no fixed lease", v.Sentence())
	f, _ = catalogue.Find("renewed-for-ever")
	require.Equal(t, failures.Broken, failures.Run(t, f, subject).Outcome, "its mistake is that it has no limit")
}

// misspelt is a lock whose Lock sends a command that Redis does not have.
type misspelt struct {
	failures.Locker
	rdb redis.UniversalClient
}

func (l *misspelt) Lock(ctx context.Context) error {
	return l.rdb.Do(ctx, "GETSET2", "lock", "A").Err()
}

func TestLockThatCannotBePlayed(t *testing.T) {
	for says, lock := range map[string]world.Constructor{
		"A gets no lock: the constructor returns neither a lock nor an error": func(*world.Process, string, time.Duration) (failures.Locker, error) {
			return (*misspelt)(nil), nil
		},
		"A gets no lock: not today": func(*world.Process, string, time.Duration) (failures.Locker, error) {
			return nil, errors.New("not today")
		},
		"Redis does not know the command GETSET2, which A sends": adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			inner, err := stages.MustFind("4").Subject.New(adapters.Using(rdb), name, lease)
			return &misspelt{inner, rdb}, err
		}),
	} {
		f, _ := catalogue.Find("second-client")
		v := failures.Run(t, f, failures.Subject{New: lock})
		require.Equal(t, failures.NotPlayed, v.Outcome, says)
		require.Contains(t, v.Sentence(), "cannot be played here: "+says)
	}
}

// rude is a lock that panics, and so breaks a rule that no failure is about.
type rude struct{ failures.Locker }

func (rude) Unlock(context.Context) error { panic("not today") }

func TestViolationOfAnyOtherRuleBreaksTheLock(t *testing.T) {
	f, _ := catalogue.Find("crash-before-expire")
	subject := failures.Subject{Name: "rude", New: func(p *world.Process, name string, lease time.Duration) (failures.Locker, error) {
		gentle, err := stages.MustFind("4").Subject.New(p, name, lease)
		return rude{gentle}, err
	}}
	require.Equal(t, failures.Safe, failures.Run(t, f, subject).Outcome, "nobody unlocks in this story")
	f, _ = catalogue.Find("double-unlock")
	v := failures.Run(t, f, subject)
	require.Equal(t, failures.Broken, v.Outcome)
	require.Equal(t, "false answer: Unlock of A ends in a panic: not today", v.Sentence())

	for _, lang := range i18n.Languages { // a report has its findings in one language
		told := slices.Clone(v.Findings)
		for i := range told {
			told[i] = oracle.Finding{Rule: told[i].Rule, Text: told[i].Localize(lang), Panics: told[i].Panics}
		}
		cause := failures.Causes([]failures.Verdict{{Failure: f, Findings: told}})
		require.Equal(t, i18n.Text("a call panics").Localize(lang), cause[0].Text.Localize(lang))
	}
}

// The trace is judged up to the point at which the run was given up.
func TestUnfinishedRunIsJudged(t *testing.T) {
	f, _ := catalogue.Find("double-unlock")
	whole := f.Script
	f.Script = func(w *world.World) {
		whole(w)
		w.Client("A") // there is one already
	}
	v := failures.Run(t, f, stages.MustFind("4").Subject)
	require.Equal(t, failures.NotPlayed, v.Outcome)
	require.Equal(t, "cannot be played here: there is already a client named A", v.Sentence())
	v = failures.Run(t, f, stages.MustFind("2").Subject)
	require.Equal(t, failures.Broken, v.Outcome)
	require.ErrorContains(t, v.Err, "already a client named A")
	require.Equal(t, "wrong delete: A's DEL removes the lock of B (B1)", v.Sentence())
}

func TestVerdictNamesTheRootFinding(t *testing.T) {
	f := catalogue.Failure{Breaks: []oracle.Rule{oracle.Exclusion}, Given: []oracle.Rule{oracle.Deadlock}}
	given := f
	given.Given = append(slices.Clone(f.Given), oracle.Lease)
	for _, c := range []struct {
		failure catalogue.Failure
		found   []oracle.Rule
		against oracle.Rule
	}{
		{f, []oracle.Rule{oracle.Truth, oracle.Exclusion, oracle.Lease}, oracle.Lease},
		{f, []oracle.Rule{oracle.Truth, oracle.Exclusion}, oracle.Exclusion},
		{f, []oracle.Rule{oracle.Deadlock, oracle.Truth}, oracle.Truth},
		{f, []oracle.Rule{oracle.Deadlock}, ""},
		{f, []oracle.Rule{oracle.Context, oracle.Exclusion}, oracle.Context},
		{f, []oracle.Rule{oracle.Exclusion, oracle.Context}, oracle.Exclusion},
		{given, []oracle.Rule{oracle.Lease, oracle.Exclusion}, oracle.Exclusion},
		{given, []oracle.Rule{oracle.Lease}, ""},
	} {
		v := failures.Verdict{Failure: c.failure}
		for _, m := range c.found {
			v.Findings = append(v.Findings, oracle.Finding{Rule: m})
		}
		against, isBroken := v.Against()
		require.Equal(t, c.against, against.Rule, c.found)
		require.Equal(t, c.against != "", isBroken, c.found)
	}
}

// Only a lease that ended before two were inside can be why.
func TestLateRenewalIsNotWhyTwoWereInside(t *testing.T) {
	f := catalogue.Failure{Breaks: []oracle.Rule{oracle.WrongDelete, oracle.Exclusion}}
	given := catalogue.Failure{Breaks: []oracle.Rule{oracle.WrongDelete}, Given: []oracle.Rule{oracle.Exclusion}}
	for _, c := range []struct {
		failure catalogue.Failure
		found   []oracle.Rule
		against oracle.Rule
	}{
		{f, []oracle.Rule{oracle.Watchdog, oracle.Exclusion}, oracle.Watchdog},
		{f, []oracle.Rule{oracle.Exclusion, oracle.Watchdog}, oracle.Exclusion},
		{f, []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.Exclusion}, oracle.Exclusion},
		{given, []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.Exclusion, oracle.WrongDelete}, oracle.Watchdog},
		{given, []oracle.Rule{oracle.Exclusion, oracle.Watchdog, oracle.WrongDelete}, oracle.WrongDelete},
	} {
		v := failures.Verdict{Failure: c.failure}
		for i, m := range c.found {
			v.Findings = append(v.Findings, oracle.Finding{Rule: m, Step: i + 1})
		}
		against, _ := v.Against()
		require.Equal(t, c.against, against.Rule, c.found)
	}
}

// inSeconds is the lock of stage 2 with a lease in whole seconds: Redis refuses a lease of none.
type inSeconds struct {
	failures.Locker
	rdb   redis.UniversalClient
	name  string
	lease time.Duration
}

func (l inSeconds) Lock(ctx context.Context) error {
	return l.rdb.Do(ctx, "SET", l.name, "locked", "NX", "EX", int(l.lease/time.Second)).Err()
}

// A lock of this repository is broken as expected only if the failure itself breaks it.
func TestExpectedFailureBreaksTheLockItself(t *testing.T) {
	f, _ := catalogue.Find("lease-below-a-second")
	second := stages.MustFind("2").Subject
	require.True(t, failures.Run(t, f, second).Is(failures.Broken))
	require.False(t, failures.Run(t, f, second).Is(failures.Safe))

	rounds := second
	rounds.New = adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		inner, err := second.New(adapters.Using(rdb), name, lease)
		return inSeconds{inner, rdb, name, lease}, err
	})
	v := failures.Run(t, f, rounds)
	require.Equal(t, failures.Broken, v.Outcome, "the other rule counts")
	require.NotContains(t, f.Breaks, v.Findings[0].Rule)
	require.False(t, v.Is(failures.Broken))
	v.Subject = "doc9"
	require.True(t, v.Is(failures.Broken), "a lock of a document may break for any reason")

	other, _ := catalogue.Find("delete-foreign")
	require.True(t, failures.Run(t, other, second).Is(failures.Broken))
	other.Breaks = []oracle.Rule{oracle.Leak}
	require.False(t, failures.Run(t, other, second).Is(failures.Broken), "another rule is broken")

	unmet := f
	unmet.Breaks, unmet.Script = []oracle.Rule{oracle.Truth}, func(w *world.World) { w.Client("B").Unlock() }
	v = failures.Run(t, unmet, second)
	require.Equal(t, oracle.Truth, v.Findings[0].Rule)
	require.False(t, v.Is(failures.Broken), "A never got the lock")
}

// A finding is given up to the one for which the lock is reported. The sentence of a safe run names the
// failure that is about it.
func TestFindingThatTheStoryBreaksIsGiven(t *testing.T) {
	f, found := catalogue.Find("delete-foreign")
	require.True(t, found)
	var given []bool
	for _, x := range failures.Run(t, f, stages.MustFind("2").Subject).Findings {
		if x.Rule == oracle.Exclusion {
			given = append(given, x.Given)
		}
	}
	require.Equal(t, []bool{true, false}, given, "C walks in because of the wrong delete")
	for stage, about := range map[string]string{
		"3": "Two were inside because the work takes longer than the lease: that is work-outlives-ttl",
		"5": "Two were inside because the work takes longer than a lease that is not renewed: that is work-outlives-fixed-lease",
		"6": "no rule is broken",
	} {
		require.Equal(t, about, failures.Run(t, f, stages.MustFind(stage).Subject).Sentence())
	}
}

// Each rule that a story may break by itself has words, and the failure that is about it breaks it.
func TestGivenRulesAreExplained(t *testing.T) {
	for _, f := range catalogue.Everything {
		for _, rule := range f.Given {
			v := failures.Verdict{Failure: f, GivenBy: f.GivenBy, Outcome: failures.Safe, Findings: []oracle.Finding{{Rule: rule, Given: true}}}
			require.Regexp(t, `^SAFE from .+ in this run\. [A-Z].+(: that is `+f.GivenBy+`|: the story takes that as given)\.$`, v.Headline())
		}
		if f.GivenBy != "" {
			_, found := catalogue.Find(f.GivenBy)
			require.True(t, found, f.ID)
		}
	}
}

// The child process of the test below.
func TestRequired(t *testing.T) {
	names := os.Getenv("LOCKKATA_REQUIRED")
	if names == "" {
		t.Skip("the test below runs it")
	}
	failures.Require(t, stages.MustFind("3").Subject, strings.Fields(names)...)
}

func TestRequireFailsForNamedFailures(t *testing.T) {
	require3 := func(names string) string {
		child := exec.Command(os.Args[0], "-test.v", "-test.run=^TestRequired$")
		child.Env = append(os.Environ(), "LOCKKATA_REQUIRED="+names)
		out, _ := child.CombinedOutput() // it fails where a lock does
		return string(out)
	}
	said := require3("second-client check-then-delete renew-blip")
	require.Contains(t, said, "--- PASS: TestRequired/second-client")
	require.Contains(t, said, "--- FAIL: TestRequired/check-then-delete")
	require.Contains(t, said, "--- SKIP: TestRequired/renew-blip")
	require.Contains(t, said, "renew-blip: not applicable: this lock has no watchdog")
	require.Contains(t, said, "DEL K", "the timeline of the failing subtest")
	require.NotContains(t, said, "TestRequired/delete-foreign")
	require.Contains(t, require3("second-client"), "--- PASS: TestRequired ")
	require.Contains(t, require3("no-such"), "there is no failure no-such")
}
