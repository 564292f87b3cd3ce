package schedule_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// asked is a question of the suite with a stage.
type asked struct {
	stage      stages.Stage
	question   schedule.Question
	setup      schedule.Setup
	properties []schedule.Property
}

func (a asked) String() string {
	return fmt.Sprintf("%s, %s, %s", a.stage.NameText(), a.question.Env, strings.Join(a.question.Properties, " "))
}

// suite returns the questions that apply to the public stages.
func suite(t *testing.T) []asked { return questions(t, stages.Public()) }

// questions returns the questions that apply to these stages.
func questions(t *testing.T, of []stages.Stage) []asked {
	var all []asked
	for _, s := range of {
		subject, err := failures.DiscoverScripts(t, s.Subject)
		require.NoError(t, err)
		for _, q := range schedule.Suite {
			setup, properties := q.Ask(subject, 1)
			if len(properties) > 0 {
				all = append(all, asked{s, q, setup, properties})
			}
		}
	}
	return all
}

func search(t *testing.T, a asked, limits schedule.Limits) schedule.Result {
	t.Helper()
	result, err := schedule.Search(t, a.setup, a.properties, limits)
	require.NoError(t, err, a)
	return result
}

// isQuick reports whether the question takes some seconds at most.
func (a asked) isQuick() bool {
	switch a.question.Env {
	case "pause":
		return false
	case "async":
		return a.stage.ID <= "3"
	case "leave", "refusal":
		return a.question.Clients == 2
	}
	return true
}

// If a stage changes, its shortest counterexamples change. This test runs the quick questions. The
// live tests and go generate run the whole suite.
func TestQuickSearchesFindTheDocumentedCounterexamples(t *testing.T) {
	_, replayed := searchAll(t, asked.isQuick)
	require.GreaterOrEqual(t, replayed, 15)
}

// searchAll runs the questions for which is returns true. It returns the number of schedules that
// it ran, and of those that it replayed.
func searchAll(t *testing.T, is func(asked) bool) (runs, replayed int) {
	t.Helper()
	for _, a := range suite(t) {
		if is(a) {
			more, found := requireDocumented(t, a)
			runs, replayed = runs+more, replayed+found
		}
	}
	return runs, replayed
}

// requireDocumented searches and requires the result in the stage's table. It returns the number of
// schedules that it ran, and of those that it replayed.
func requireDocumented(t *testing.T, a asked) (runs, replayed int) {
	t.Helper()
	limits := schedule.Limits{Bound: a.question.Bound}
	if a.stage.Hidden { // of up to 45,000: a result "none" is not checked
		limits.Runs = 3000
	}
	if strings.HasPrefix(a.stage.ID, "doc") {
		limits.Runs = 6000 // as doc2 needs
	}
	result := search(t, a, limits)
	require.True(t, result.Exhausted || a.stage.Hidden, a)
	for _, p := range a.properties {
		want, got := a.stage.Search(p.Name, a.question.Env), "none"
		if want == got && !result.Exhausted {
			continue
		}
		if found := result.Found[p.Name]; found != nil {
			got = fmt.Sprintf("%d/%d", found.Cost, len(found.Schedule))
			requireReplays(t, a, p, found.Schedule)
			replayed++
		}
		require.Equal(t, want, got, "%v: %s", a, p.Name)
	}
	return result.Runs, replayed
}

// The live tests run the other questions about hidden stages.
func TestQuickSearchesOfStepsFindTheDocumentedCounterexamples(t *testing.T) {
	for _, a := range questions(t, stages.Steps()) {
		if a.stage.Hidden && a.isQuick() {
			requireDocumented(t, a)
		}
	}
}

// hidden returns the questions that apply to hidden stages.
func hidden(t *testing.T) []asked {
	return questions(t, slices.DeleteFunc(slices.Clone(stages.Table), func(c stages.Stage) bool { return !c.Hidden }))
}

// requireReplays requires that a counterexample gives the same trace twice and breaks the property.
func requireReplays(t *testing.T, a asked, p schedule.Property, steps []string) {
	t.Helper()
	a.setup.Property = p
	var traces [][]byte
	for range 2 {
		var astray error
		played, err := schedule.Play(t, a.setup, schedule.Follow(steps, &astray))
		require.NoError(t, err, a)
		require.NoError(t, astray, a)
		traces = append(traces, played.Trace.Bytes())
		require.NotEmpty(t, oracle.Ask(played.Trace, p.Breaks...), "%v: %s", a, schedule.Text(a.setup, steps))
	}
	require.True(t, bytes.Equal(traces[0], traces[1]), a)
}

func TestSearchAgreesWithPlainEnumeration(t *testing.T) { requirePlainAgrees(t, 60, 60) }

// requirePlainAgrees requires that merging states hides nothing: plain enumeration finds equally
// cheap and short counterexamples where it needs no more than that many schedules.
func requirePlainAgrees(t *testing.T, runs, atLeast int) {
	cases := 0
	for _, a := range suite(t) {
		for bound := range 2 {
			plain := search(t, a, schedule.Limits{Bound: bound, Plain: true, Runs: runs})
			if !plain.Exhausted {
				continue // too many to be run one by one
			}
			merged := search(t, a, schedule.Limits{Bound: bound})
			for _, p := range a.properties {
				cases++
				one, other := merged.Found[p.Name], plain.Found[p.Name]
				require.Equal(t, other == nil, one == nil, "%v, bound %d: %s", a, bound, p.Name)
				if one != nil {
					require.Equal(t, other.Cost, one.Cost, "%v, bound %d: %s", a, bound, p.Name)
					require.Len(t, one.Schedule, len(other.Schedule), "%v, bound %d: %s", a, bound, p.Name)
				}
			}
		}
	}
	t.Logf("%d cases", cases)
	require.GreaterOrEqual(t, cases, atLeast)
}

func TestStoppedSearchIsNotExhausted(t *testing.T) {
	a := suite(t)[0]
	result := search(t, a, schedule.Limits{Bound: 4, Runs: 3})
	require.False(t, result.Exhausted)
	require.Equal(t, 3, result.Runs)
	asked := 0
	result = search(t, a, schedule.Limits{Bound: 4, Stop: func(p schedule.Progress) bool { asked++; return p.Runs == 5 }})
	require.False(t, result.Exhausted)
	require.Equal(t, 6, asked)
}

// counted returns the numbers of runs and states of some searches, to compare with another process.
func counted(t *testing.T) string {
	var b strings.Builder
	for _, a := range suite(t) {
		if a.question.Env == "short-pauses" || a.question.Env == "reply-loss" || a.question.Env == "async" && a.stage.ID < "4" {
			result := search(t, a, schedule.Limits{Bound: 2})
			fmt.Fprintf(&b, "%v: %d runs, %d states\n", a, result.Runs, result.States)
		}
	}
	return b.String()
}

const countOnly = "LOCKKATA_COUNT_SCHEDULES"

func TestTwoProcessesVisitTheSameStates(t *testing.T) {
	mine := counted(t)
	if os.Getenv(countOnly) != "" {
		fmt.Printf("<%s>", mine)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcessesVisitTheSameStates$")
	cmd.Env = append(os.Environ(), countOnly+"=1")
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "<"+mine+">")
}

func TestParseReadsWhatTextWrites(t *testing.T) {
	text := "v1/stage3/2c/1x/async/wrong-delete/a.A.b.B.t"
	setup, subject, steps, err := schedule.Parse(text)
	require.NoError(t, err)
	require.Equal(t, "stage3", subject)
	setup.Subject = stages.MustFind("3").Subject
	require.Equal(t, text, schedule.Text(setup, steps))
	setup.Together, setup.Clients = true, 3
	again, _, _, err := schedule.Parse(schedule.Text(setup, steps))
	require.NoError(t, err)
	require.True(t, again.Together)
	for bad, says := range map[string]string{
		"":                               "is not a schedule",
		"v2/stage3/2c/1x/async/leak/a":   "is not a schedule",
		"v1/stage3/c/1x/async/leak/a":    "a number from 1 to 9",
		"v1/stage3/2c/0x/async/leak/a":   "a number from 1 to 9",
		"v1/stage3/2c/1x/nowhere/leak/a": "there is no environment \"nowhere\"",
		"v1/stage3/2c/1x/async/luck/a":   "there is no property \"luck\"",
	} {
		_, _, _, err := schedule.Parse(bad)
		require.ErrorContains(t, err, says)
	}
}

func TestImpossibleStepIsReported(t *testing.T) {
	a := suite(t)[0]
	a.setup.Property = a.properties[0]
	var astray error
	_, err := schedule.Play(t, a.setup, schedule.Follow([]string{"a", "A", "zb"}, &astray))
	require.NoError(t, err)
	require.ErrorContains(t, astray, "step 3, zb, is not possible")
}
