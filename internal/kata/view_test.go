package kata

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
	"lockkata/internal/term"
)

var codeInText = regexp.MustCompile("(?s)```.*?```|`[^`]*`|go run \\. \\S+ \\S+")

func TestTextsFitASmallTerminalAndTheChineseIsChinese(t *testing.T) {
	for _, e := range exercises.All {
		for _, l := range i18n.Languages {
			text := e.Text(l)
			all := append([]string{text.Task, text.Fixed, text.Predict, text.Blind, text.Question}, text.Choices...)
			for _, said := range append(all, text.Hints[:]...) {
				for line := range strings.Lines((View{Width: narrow, Lang: l}).markdown(said)) {
					require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), narrow, line)
				}
				if l == i18n.Chinese {
					require.NotRegexp(t, `[a-z]+ [a-z]+ [a-z]+`, codeInText.ReplaceAllString(said, ""))
				}
			}
		}
	}
}

func TestMarkdownIsLaidOutForATerminal(t *testing.T) {
	text := "Read [the page](../page.md) that\nfollows.\n\n- one item that is longer\n- two\n\n```go\nif a {\n\tb()\n}\n```\n\nEnd."
	require.Equal(t, "Read the page that\nfollows.\n\n- one item that is\n  longer\n- two\n\n    if a {\n    \tb()\n    }\n\nEnd.\n", View{Width: 20}.markdown(text))
	require.Equal(t, "锁丢了，通知持有者，\n它就停下。\n", View{Width: 20}.markdown("锁丢了，通知\n持有者，它就停下。"))
}

func TestLongDrawingIsShortened(t *testing.T) {
	for found, says := range map[int]string{5: "line 39\n⋮ 60 lines left out: go run . kata check --all\n\n", 98: "line 9\n⋮ 60 lines left out: go run . kata check --all\nline 70\n"} {
		drawing := ""
		for n := range 100 {
			drawing += fmt.Sprintf("line %d\n", n)
		}
		drawing = strings.Replace(drawing, fmt.Sprintf("line %d\n", found), "✗ leak: forever\n", 1) + "\n"
		require.Contains(t, View{}.shortened(drawing, "leak"), says)
		require.Contains(t, View{}.shortened(drawing, "leak"), "✗ leak: forever\n")
		require.Equal(t, drawing, View{All: true}.shortened(drawing, "leak"))
	}
}

func TestHintsComeOneByOneAndTheLastStays(t *testing.T) {
	f := newFolder(t, "4")
	fails := func(failure string) {
		p, err := f.Progress()
		require.NoError(t, err)
		p.Failed = failure
		require.NoError(t, f.Save(p))
	}
	hint := func() string {
		text, err := Hint(f, View{Width: 100})
		require.NoError(t, err)
		return text
	}
	fails("check-then-delete")
	require.Contains(t, hint(), "Hint 1 of 3:", "the fix of a failure is too much for the first one")
	require.Contains(t, hint(), "Hint for check-then-delete: ")
	fails("delete-foreign")
	require.Contains(t, hint(), "Hint for delete-foreign: ")
	fails("second-client")
	require.Contains(t, hint(), "Hint 2 of 3:", "the check has shown the fix")
	_, err := f.Start(exercise(t, "4"), false)
	require.NoError(t, err)
	p, err := f.Progress()
	require.NoError(t, err)
	require.Empty(t, p.Failed+p.Hinted)
	for _, want := range []string{"Hint 3 of 3:", "Hint 3 of 3:"} {
		require.Contains(t, hint(), want)
	}
}

func TestMethodThatIsYetToBeWrittenComesBehindTheExercisesOwnFailures(t *testing.T) {
	cell := func(id string, cause *guard.Cause) failures.Cell {
		f, _ := catalogue.Find(id)
		outcome := failures.Broken
		if cause != nil {
			outcome = failures.NotPlayed
		}
		return failures.Cell{Verdict: failures.Verdict{Failure: f, Outcome: outcome}, Required: true, Cause: cause}
	}
	lacks := (&guard.Guard{}).CauseOf(world.MissingError{Method: "ForceUnlock(ctx) (bool, error)"})
	r := CheckResult{Exercise: exercise(t, "6.5"), Report: apart.Report{Verdicts: []failures.Cell{
		cell("forced-unlock", lacks), cell("process-pause-fenced", nil),
	}}}
	require.Equal(t, "process-pause-fenced", r.red()[0].Failure.ID)
	require.Len(t, r.red(), 2)
}

func TestRuleThatMostFailuresOfEarlierExercisesBreakComesFirst(t *testing.T) {
	broken := func(id string, rule oracle.Rule) failures.Cell {
		f, _ := catalogue.Find(id)
		return failures.Cell{Required: true, Verdict: failures.Verdict{Failure: f, Outcome: failures.Broken, Findings: []oracle.Finding{{Rule: rule}}}}
	}
	own, earlier := broken("delete-sibling", oracle.Truth), []string{"renew-blips", "renew-blip", "renew-hangs", "work-outlives-ttl"}
	for n, first := range map[int]string{several - 1: "delete-sibling", several: "renew-blips"} {
		r := CheckResult{Exercise: exercise(t, "6.1"), Report: apart.Report{Verdicts: []failures.Cell{own}}}
		for _, id := range earlier[:n] {
			r.Report.Verdicts = append(r.Report.Verdicts, broken(id, oracle.EarlyLoss))
		}
		require.Equal(t, first, r.red()[0].Failure.ID, "%d of them", n)
	}
}
