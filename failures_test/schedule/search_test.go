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

// asked is a question about a stage.
type asked struct {
	stage      stages.Stage
	question   schedule.Question
	setup      schedule.Setup
	properties []schedule.Property
}

func (a asked) String() string {
	return fmt.Sprintf("%s, %s, %s", a.stage.Name(), a.question.Env, strings.Join(a.question.Properties, " "))
}

// suite asks every question of the suite that applies to a stage.
func suite(t *testing.T) []asked { return questions(t, stages.Public()) }

// questions are those of the suite that apply to the columns.
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

// isQuick leaves out what takes more than some seconds.
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

// A stage that changes has another shortest way to break it, or none. Here is what takes
// no time: the whole suite is searched with the tag live, and by go generate.
func TestSearchFindsWhatTheLessonsSay(t *testing.T) {
	_, replayed := searchAll(t, asked.isQuick)
	require.GreaterOrEqual(t, replayed, 15)
}

// searchAll asks those questions of the suite. It returns how many schedules it ran, and
// how many it replayed.
func searchAll(t *testing.T, is func(asked) bool) (runs, replayed int) {
	t.Helper()
	for _, a := range suite(t) {
		if is(a) {
			more, found := findWhatTheLessonSays(t, a)
			runs, replayed = runs+more, replayed+found
		}
	}
	return runs, replayed
}

// findWhatTheLessonSays returns how many schedules it ran, and how many it replayed.
func findWhatTheLessonSays(t *testing.T, a asked) (runs, replayed int) {
	t.Helper()
	limits := schedule.Limits{Bound: a.question.Bound}
	if a.stage.Hidden { // of up to 45,000: what is found is, what is none may not be
		limits.Runs = 3000
	}
	if strings.HasPrefix(a.stage.ID, "doc") {
		limits.Runs = 6000 // doc2 needs so many
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

// Only what takes no time is asked about the steps to the last stage, and nothing about the
// locks of the documents: the live tests ask the rest.
func TestQuickSearchesFindWhatTheLessonsOfStepsSay(t *testing.T) {
	for _, a := range questions(t, stages.Steps()) {
		if a.stage.Hidden && a.isQuick() {
			findWhatTheLessonSays(t, a)
		}
	}
}

// hidden asks every question about the columns that are shown to those who ask for them.
func hidden(t *testing.T) []asked {
	return questions(t, slices.DeleteFunc(slices.Clone(stages.Table), func(c stages.Stage) bool { return !c.Hidden }))
}

// requireReplays asks of a counterexample for the same trace twice, and for what it breaks.
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

// requirePlainAgrees wants merging of states to hide nothing: plain enumeration finds the
// same, as cheap and as short, where it takes no more than so many schedules.
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

func TestSearchThatIsCutShortSaysSo(t *testing.T) {
	a := suite(t)[0]
	result := search(t, a, schedule.Limits{Bound: 4, Runs: 3})
	require.False(t, result.Exhausted)
	require.Equal(t, 3, result.Runs)
	asked := 0
	result = search(t, a, schedule.Limits{Bound: 4, Stop: func(p schedule.Progress) bool { asked++; return p.Runs == 5 }})
	require.False(t, result.Exhausted)
	require.Equal(t, 6, asked)
}

// counted is what a search of each kind visits, for another process to compare.
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

func TestHuntIsTheSameForTheSameSeed(t *testing.T) {
	for _, a := range suite(t) {
		if a.stage.ID != "2" || a.question.Env != "async" {
			continue
		}
		a.setup.Property = a.properties[1] // exclusion
		first, err := schedule.Hunt(t, a.setup, 7, 500, nil)
		require.NoError(t, err)
		again, err := schedule.Hunt(t, a.setup, 7, 500, nil)
		require.NoError(t, err)
		require.NotNil(t, first.Found["exclusion"], "stage 2 does not survive 500 schedules at random")
		require.Equal(t, first, again)
	}
}

func TestScheduleIsReadAsItIsWritten(t *testing.T) {
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
		"":                               "is no schedule",
		"v2/stage3/2c/1x/async/leak/a":   "is no schedule",
		"v1/stage3/c/1x/async/leak/a":    "a number from 1 to 9",
		"v1/stage3/2c/0x/async/leak/a":   "a number from 1 to 9",
		"v1/stage3/2c/1x/nowhere/leak/a": "there is no environment \"nowhere\"",
		"v1/stage3/2c/1x/async/luck/a":   "there is no property \"luck\"",
	} {
		_, _, _, err := schedule.Parse(bad)
		require.ErrorContains(t, err, says)
	}
}

func TestScheduleThatDoesNotFitSaysWhereItEnds(t *testing.T) {
	a := suite(t)[0]
	a.setup.Property = a.properties[0]
	var astray error
	_, err := schedule.Play(t, a.setup, schedule.Follow([]string{"a", "A", "zb"}, &astray))
	require.NoError(t, err)
	require.ErrorContains(t, astray, "step 3, zb, is not possible any more")
}
