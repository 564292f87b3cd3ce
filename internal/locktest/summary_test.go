package locktest

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// asStage is set in a process that runs the tests of this package as those of stage 1.
var asStage = os.Getenv("LOCKTEST_AS_STAGE") != ""

func TestMain(m *testing.M) {
	if asStage {
		os.Exit(Summarize(m, Lock{Subject: stages.MustFind("1").Subject}).Run())
	}
	m.Run()
}

func TestContract(t *testing.T) {
	if !asStage {
		t.Skip("for a process that runs as a stage")
	}
	Test(t, Lock{Subject: stages.MustFind("1").Subject})
}

func TestSummaryEndsAWholeRunWithV(t *testing.T) {
	if asStage {
		t.Skip("this is the process that it starts")
	}
	for _, c := range []struct {
		flags []string
		ends  bool
	}{
		{[]string{"-test.v"}, true},
		{nil, false},
		{[]string{"-test.v", "-test.run=Test"}, false},
		{[]string{"-test.v", "-test.skip=Nothing"}, false},
		{[]string{"-test.v", "-test.list=."}, false},
	} {
		run := exec.CommandContext(t.Context(), os.Args[0], c.flags...)
		run.Env = append(os.Environ(), "LOCKTEST_AS_STAGE=1")
		out, err := run.Output()
		require.NoError(t, err, "%s", out)
		require.Equal(t, c.ends, strings.Contains(string(out), "\nPASS\n── Stage 1 in one screen"), c.flags)
		require.Equal(t, c.ends, strings.Contains(string(out), "in one screen"), c.flags)
	}
}

// summaries calls do for each stage, with its summary and the run that it draws.
func summaries(t *testing.T, do func(p point, run failures.Verdict, lines []string)) {
	t.Helper()
	if asStage {
		t.Skip("not of a stage")
	}
	require.Equal(t, len(points), len(stages.Public()))
	for _, s := range stages.Public() {
		l := Lock{Subject: s.Subject}
		run := l.show(t)
		do(points[l.stage()], run, l.summary(run, s.Dir))
	}
}

// With PASS above and ok below, a summary fits into 36 lines.
func TestSummaryFitsOnAScreen(t *testing.T) {
	summaries(t, func(p point, _ failures.Verdict, lines []string) {
		require.LessOrEqual(t, len(lines), 34, p.stage)
		for _, line := range lines {
			require.LessOrEqual(t, term.Columns(line), columns, line)
		}
	})
}

func TestSummaryDrawsItsRun(t *testing.T) {
	timed := regexp.MustCompile(`^  \d[\d.smh]* +([A-Z] |▸)`)
	summaries(t, func(p point, run failures.Verdict, lines []string) {
		rows := 0
		for _, line := range lines {
			if timed.MatchString(line) {
				rows++
			}
		}
		require.Len(t, told(run), rows, p.stage)
		for _, e := range run.Trace.Events {
			if e.Kind == trace.Executed {
				require.Contains(t, strings.Join(lines, "\n"), e.Source.Short(), p.stage)
			}
		}
		first := slices.IndexFunc(run.Trace.Events, func(e trace.Event) bool { return e.Kind == trace.Executed })
		run.Trace.Events[first].Reply = "falsified"
		again := Lock{Subject: failures.Subject{Name: "stage" + p.stage}}.summary(run, "")
		require.Contains(t, strings.Join(again, "\n"), "falsified", "no row is typed by hand")
	})
}

// Each note is a part of a row of that client in the run of the stage before.
func TestNotesAreOfTheStageBefore(t *testing.T) {
	summaries(t, func(p point, run failures.Verdict, lines []string) {
		require.Equal(t, len(p.notes), strings.Count(strings.Join(lines, "\n"), "(stage "), "each note has its row")
		number := slices.IndexFunc(stages.Public(), func(s stages.Stage) bool { return s.ID == p.stage })
		if number == 0 {
			return
		}
		before, err := failures.DiscoverScripts(t, stages.Public()[number-1].Subject)
		require.NoError(t, err)
		v := failures.Run(t, run.Failure, before)
		require.True(t, v.Is(failures.Broken), p.stage)
		rows := timeline.NewStory(v.Trace, v.Findings, "en").Rows()
		for _, n := range p.notes {
			says, at, isTimed := strings.Cut(n.says, " at ")
			isTold := slices.ContainsFunc(rows, func(r timeline.Row) bool {
				isItsClient := r.Event.Client == "" || strings.HasPrefix(n.on, r.Event.Client+" ") || n.on == "lease over"
				whole := strings.Join(append(r.Findings, r.Text, r.Redis, r.Ledger), "\n")
				return isItsClient && strings.Contains(whole, says) && (says != "" || n.isOn(r)) && (!isTimed || r.At.String() == at)
			})
			require.Equal(t, n.says != "", isTold, "%s: %s", n.on, n.says)
		}
	})
}

// The failure that a summary proposes to draw is one of those on the first screen that break the stage.
func TestSummaryProposesAFailureOfTheFirstScreen(t *testing.T) {
	proposed := regexp.MustCompile(`TestFailures/(\S+)\$' `)
	summaries(t, func(p point, _ failures.Verdict, lines []string) {
		id := proposed.FindStringSubmatch(lines[len(lines)-1])
		require.NotNil(t, id, p.stage)
		f, _ := catalogue.Find(id[1])
		require.True(t, f.FirstScreen, f.ID)
		require.Contains(t, []failures.Outcome{failures.Broken, failures.Limit}, failures.Expected(p.stage)(f))
	})
}

func TestQuestionGivesNothingAway(t *testing.T) {
	summaries(t, func(p point, run failures.Verdict, lines []string) {
		f, isKnown := catalogue.Find(p.asks)
		require.True(t, isKnown)
		require.Contains(t, []failures.Outcome{failures.Broken, failures.Limit}, failures.Expected(p.stage)(f))
		for _, f := range catalogue.All {
			require.NotContains(t, p.question, f.ID)
		}
		for _, rule := range oracle.Rules() {
			require.NotContains(t, p.question, string(rule))
		}
		require.NotContains(t, strings.Join(lines, "\n"), p.asks, "the summary names it nowhere")
		require.NotContains(t, strings.Join(lines, "\n"), f.Fixed)
	})
}
