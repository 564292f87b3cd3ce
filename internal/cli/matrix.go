package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// cell is one failure on one stage.
type cell struct {
	verdict failures.Verdict
	want    failures.Outcome
}

func (c cell) asExpected() bool {
	return c.verdict.Outcome == c.want || c.verdict.Outcome == failures.Elsewhere
}

// judgeAll runs the whole catalogue on every stage.
func (a *app) judgeAll(w where) ([][]cell, error) {
	scripts, err := stages.Rehearse(a.t)
	if err != nil {
		return nil, failedError{err.Error()}
	}
	if w.live {
		return a.judgeLive(w, scripts)
	}
	return expecting(stages.Judge(a.t, scripts)), nil
}

// expecting are verdicts with what the lessons say.
func expecting(rows [][]failures.Verdict) [][]cell {
	cells := make([][]cell, len(rows))
	for i, row := range rows {
		for n, v := range row {
			cells[i] = append(cells[i], cell{v, failures.Stage(stages.All[n].Number)(v.Failure)})
		}
	}
	return cells
}

// matrix prints every failure on every stage.
func (a *app) matrix(w where, asJSON bool) error {
	if err := w.check(); err != nil {
		return err
	}
	start := time.Now()
	cells, err := a.judgeAll(w)
	if err != nil {
		return err
	}
	if asJSON {
		err = a.matrixJSON(cells)
	} else {
		a.printMatrix(cells)
		a.printTotals(cells, w, time.Since(start))
		a.printNext()
	}
	if err != nil {
		return err
	}
	return surprises(cells)
}

func (a *app) printMatrix(cells [][]cell) {
	fmt.Fprint(a.out, a.color.Paint(term.Bold, "A Redis lock, stage by stage, and what breaks it")+"\n\n")
	for _, s := range stages.All {
		fmt.Fprintf(a.out, "  stage %d  %s\n", s.Number, s.Title)
	}
	width := 0
	for _, f := range failures.All {
		width = max(width, len(f.ID), len(f.Family)-2)
	}
	numbers := ""
	for _, s := range stages.All {
		numbers += fmt.Sprintf("  %d", s.Number)
	}
	var family failures.Family
	for i, f := range failures.All {
		if f.Family != family {
			family = f.Family
			heading := fmt.Sprintf("%-*s", width+2, family)
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, heading+numbers))
		}
		fmt.Fprintf(a.out, "  %-*s", width, f.ID)
		for _, c := range cells[i] {
			fmt.Fprint(a.out, "  "+a.sign(c))
		}
		title := f.Title
		if room := a.width - width - 6 - 3*len(cells[i]); room > 20 {
			title = term.Clip(title, room)
		}
		fmt.Fprintf(a.out, "   %s\n", a.color.Paint(term.Dim, title))
	}
}

// sign is a cell's mark. One that is not as expected is marked as such.
func (a *app) sign(c cell) string {
	if !c.asExpected() {
		return a.color.Paint(term.Alarm, "!")
	}
	mark, ok := outcomeMarks[c.verdict.Outcome]
	if !ok {
		mark = outcomeMarks[failures.NotApplicable]
	}
	return a.color.Paint(mark.style, mark.sign)
}

// outcomeMarks are the outcomes' signs, and how a terminal paints them.
var outcomeMarks = map[failures.Outcome]struct {
	style term.Style
	sign  string
}{
	failures.Broken:        {term.Red, "✗"},
	failures.Safe:          {term.Green, "✓"},
	failures.Inherent:      {term.Yellow, "~"},
	failures.Noticed:       {term.Cyan, "◐"},
	failures.Elsewhere:     {term.Dim, "·"},
	failures.NotApplicable: {term.Dim, "–"},
}

func (a *app) printTotals(cells [][]cell, w where, took time.Duration) {
	count := map[failures.Outcome]int{}
	runs := 0
	for _, row := range cells {
		for _, c := range row {
			count[c.verdict.Outcome]++
			if c.verdict.Outcome != failures.NotApplicable && c.verdict.Outcome != failures.Elsewhere {
				runs++
			}
		}
	}
	fmt.Fprintf(a.out, "\n  %s broken %d   %s safe %d   %s noticed %d: the hold is lost, and its owner is told in time\n",
		a.color.Paint(term.Red, "✗"), count[failures.Broken], a.color.Paint(term.Green, "✓"), count[failures.Safe],
		a.color.Paint(term.Cyan, "◐"), count[failures.Noticed])
	fmt.Fprintf(a.out, "  %s inherent %d: no lock with a lease can prevent it   %s not applicable %d\n",
		a.color.Paint(term.Yellow, "~"), count[failures.Inherent], a.color.Paint(term.Dim, "–"), count[failures.NotApplicable])
	expected := "every cell is what its lesson says"
	if n := len(unexpected(cells)); n > 0 {
		expected = a.color.Paint(term.Red, fmt.Sprintf("%d cells (!) are not what their lesson says", n))
	}
	fmt.Fprintf(a.out, "  %d runs of real locks and real go-redis clients on %s%s; %s\n", runs, w, a.took(took), expected)
	if n := count[failures.Elsewhere]; n > 0 {
		fmt.Fprintf(a.out, "  %s world only %d: not played here; go run . list says why\n", a.color.Paint(term.Dim, "·"), n)
	}
	fmt.Fprintf(a.out, "  safe means: not broken in this one run, whose every step is the failure's script\n")
}

// took says how long something took, to a person: what goes into a file or a
// document is the same each time.
func (a *app) took(d time.Duration) string {
	if !a.watched {
		return ""
	}
	return fmt.Sprintf(", in %.1f s", d.Seconds())
}

func (a *app) printNext() {
	fmt.Fprint(a.out, "\nTry next:\n"+
		"  go run . show check-then-delete --stage 3          the failure, step by step\n"+
		"  go run . show check-then-delete --before-after     the last stage that breaks, and the first that does not\n"+
		"  go run . diff 4                                    what the fix changed\n"+
		"  go test -v ./stage4_lua_unlock/...                 every failure on one stage, as tests\n"+
		"中文：docs/zh-CN/README.md，go run . interview --lang zh\n")
}

// surprise is a line about a cell that is not as expected.
func surprise(c cell) string {
	return fmt.Sprintf("%s on %s: expected %s, got %s: %s",
		c.verdict.Failure.ID, c.verdict.Subject, c.want, c.verdict.Outcome, c.verdict.Sentence())
}

func unexpected(cells [][]cell) []string {
	var lines []string
	for _, row := range cells {
		for _, c := range row {
			if !c.asExpected() {
				lines = append(lines, surprise(c))
			}
		}
	}
	return lines
}

func surprises(cells [][]cell) error {
	if lines := unexpected(cells); len(lines) > 0 {
		return failedError{strings.Join(lines, "\n")}
	}
	return nil
}

func (a *app) matrixJSON(cells [][]cell) error {
	type jsonCell struct {
		Failure  string `json:"failure"`
		Family   string `json:"family"`
		Stage    int    `json:"stage"`
		Outcome  string `json:"outcome"`
		Expected string `json:"expected"`
		Sentence string `json:"sentence"`
	}
	var all []jsonCell
	for _, row := range cells {
		for n, c := range row {
			all = append(all, jsonCell{
				c.verdict.Failure.ID, string(c.verdict.Failure.Family), stages.All[n].Number,
				c.verdict.Outcome.String(), c.want.String(), c.verdict.Sentence(),
			})
		}
	}
	return a.printJSON(all)
}

func (a *app) printJSON(value any) error {
	encoder := json.NewEncoder(a.out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
