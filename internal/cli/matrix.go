package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
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

// grid is failures on columns: a row for each failure.
type grid struct {
	columns []columns.Column
	rows    [][]cell
}

// judgeAll runs the whole catalogue on the columns.
func (a *app) judgeAll(w where, of []columns.Column) (grid, error) {
	ready, err := columns.Ready(a.t, of)
	if err != nil {
		return grid{}, failedError{err.Error()}
	}
	if !w.live {
		return expecting(ready, columns.Judge(a.t, ready)), nil
	}
	verdicts, err := a.judgeLive(w, ready)
	return expecting(ready, verdicts), err
}

// expecting are verdicts with what the lessons say.
func expecting(of []columns.Column, rows [][]failures.Verdict) grid {
	g := grid{columns: of}
	for _, row := range rows {
		var cells []cell
		for n, v := range row {
			cells = append(cells, cell{v, of[n].Expect(v.Failure)})
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// excerpt is the part of the matrix that is printed.
type excerpt struct {
	families  []string // only these; none: all of them, and the totals
	totals    bool     // the totals only
	steps     bool     // the columns are those that lead to the last stage
	documents bool     // the columns are the locks of the documents
	asJSON    bool
}

// columns are those that it is about.
func (e excerpt) columns() []columns.Column {
	switch {
	case e.documents:
		return columns.Documents()
	case e.steps:
		return columns.Steps()
	}
	return columns.Shown()
}

// title stands above it.
func (e excerpt) title() string {
	if e.documents {
		return "The locks of five documents, as written, and what breaks them"
	}
	return "A Redis lock, stage by stage, and what breaks it"
}

// of returns the grid with the rows of the families that are asked for.
func (e excerpt) of(g grid) (grid, error) {
	if len(e.families) == 0 {
		return g, nil
	}
	var rows [][]cell
	var names []string
	unknown := slices.Clone(e.families)
	for _, row := range g.rows {
		// "owner" is "the owner".
		name := strings.TrimPrefix(string(row[0].verdict.Failure.Family), "the ")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		named := func(asked string) bool { return strings.TrimPrefix(asked, "the ") == name }
		if slices.ContainsFunc(e.families, named) {
			rows = append(rows, row)
			unknown = slices.DeleteFunc(unknown, named)
		}
	}
	if len(unknown) > 0 {
		return g, fmt.Errorf("--family %q: there is no such family; there are: %s", unknown[0], strings.Join(names, ", "))
	}
	g.rows = rows
	return g, nil
}

// matrix prints every failure on every stage.
func (a *app) matrix(w where, e excerpt) error {
	if err := w.check(); err != nil {
		return err
	}
	start := time.Now()
	slow := ""
	if w.live {
		slow = ", in real time: half a minute"
	}
	a.say("playing %d failures on %d locks, on %s%s", len(failures.All), len(e.columns()), w, slow)
	g, err := a.judgeAll(w, e.columns())
	a.say("")
	if err == nil {
		g, err = e.of(g)
	}
	if err != nil {
		return err
	}
	switch {
	case e.asJSON:
		err = a.matrixJSON(g)
	case e.totals:
		a.printTotals(g, w, time.Since(start))
	default:
		a.printMatrix(e.title(), g)
		if len(e.families) == 0 {
			fmt.Fprintln(a.out)
			a.printTotals(g, w, time.Since(start))
			if !e.documents {
				a.printNext(e.steps)
			}
		}
	}
	if err != nil {
		return err
	}
	return surprises(g)
}

func (a *app) printMatrix(title string, g grid) {
	fmt.Fprint(a.out, a.color.Paint(term.Bold, title)+"\n\n")
	for _, c := range g.columns {
		fmt.Fprintf(a.out, "  %s  %s\n", c.Name(), c.Title)
	}
	width := 0
	for _, row := range g.rows {
		f := row[0].verdict.Failure
		width = max(width, len(f.ID), len(f.Family)-2)
	}
	ids := ""
	for _, c := range g.columns {
		ids += "  " + c.ID
	}
	var family failures.Family
	for _, row := range g.rows {
		f := row[0].verdict.Failure
		if f.Family != family {
			family = f.Family
			heading := fmt.Sprintf("%-*s", width+2, family)
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, heading+ids))
		}
		fmt.Fprintf(a.out, "  %-*s", width, f.ID)
		for n, c := range row {
			fmt.Fprint(a.out, strings.Repeat(" ", 1+len(g.columns[n].ID)), a.sign(c))
		}
		title := f.Title
		if room := a.width - width - 6 - len(ids); room > 20 {
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
	failures.NotTold:       {term.Yellow, "?"},
	failures.NotPlayed:     {term.Alarm, "…"},
}

func (a *app) printTotals(g grid, w where, took time.Duration) {
	count := map[failures.Outcome]int{}
	runs := 0
	for _, row := range g.rows {
		for _, c := range row {
			count[c.verdict.Outcome]++
			if c.verdict.Outcome != failures.NotApplicable && c.verdict.Outcome != failures.Elsewhere {
				runs++
			}
		}
	}
	fmt.Fprintf(a.out, "  %s broken %d   %s safe %d   %s noticed %d: the hold is lost, and its owner is told in time\n",
		a.color.Paint(term.Red, "✗"), count[failures.Broken], a.color.Paint(term.Green, "✓"), count[failures.Safe],
		a.color.Paint(term.Cyan, "◐"), count[failures.Noticed])
	fmt.Fprintf(a.out, "  %s inherent %d: no lock with a lease can prevent it   %s not applicable %d\n",
		a.color.Paint(term.Yellow, "~"), count[failures.Inherent], a.color.Paint(term.Dim, "–"), count[failures.NotApplicable])
	expected := "every cell is what its lesson says"
	if n := len(unexpected(g)); n > 0 {
		expected = a.color.Paint(term.Red, fmt.Sprintf("%d cells (!) are not what their lesson says", n))
	}
	fmt.Fprintf(a.out, "  %d runs of real locks and real go-redis clients on %s%s; %s\n", runs, w, a.took(took), expected)
	if n, m := count[failures.NotTold], count[failures.NotPlayed]; n+m > 0 {
		fmt.Fprintf(a.out, "  %s not told %d: what the failure is about did not happen   %s not played %d to the end\n",
			a.color.Paint(term.Yellow, "?"), n, a.color.Paint(term.Alarm, "…"), m)
	}
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

func (a *app) printNext(steps bool) {
	if steps {
		fmt.Fprint(a.out, "\nTry next:\n"+
			"  go run . show grant-reply-lost --steps --before-after    the last step that breaks, and the first that does not\n"+
			"  go run . diff 6.2                                        what the fix changed\n"+
			"  go run . explore --stage 6.2                             all schedules of a step, up to a bound\n")
		return
	}
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

func unexpected(g grid) []string {
	var lines []string
	for _, row := range g.rows {
		for _, c := range row {
			if !c.asExpected() {
				lines = append(lines, surprise(c))
			}
		}
	}
	return lines
}

func surprises(g grid) error {
	if lines := unexpected(g); len(lines) > 0 {
		return failedError{strings.Join(lines, "\n")}
	}
	return nil
}

func (a *app) matrixJSON(g grid) error {
	type jsonCell struct {
		Failure  string `json:"failure"`
		Family   string `json:"family"`
		Stage    string `json:"stage"`
		Outcome  string `json:"outcome"`
		Expected string `json:"expected"`
		Sentence string `json:"sentence"`
	}
	var all []jsonCell
	for _, row := range g.rows {
		for n, c := range row {
			all = append(all, jsonCell{
				c.verdict.Failure.ID, string(c.verdict.Failure.Family), g.columns[n].ID,
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
