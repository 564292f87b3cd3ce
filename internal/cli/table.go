package cli

import (
	"fmt"
	"slices"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// narrowestTitle is the fewest columns that a title needs next to its row. With fewer it is printed below.
const narrowestTitle = 24

// Texts around the results.
var (
	totalRuns     = i18n.New("{n} runs on {where}{took}: {expected}")
	allExpected   = i18n.New("all results are as expected")
	notExpected   = i18n.NewPlural("1 result (!) is not as expected", "{n} results (!) are not as expected")
	inSeconds     = i18n.New(", in {n} s")
	tryNext       = i18n.New("Try next:")
	otherLanguage = i18n.New("中文：go run . --lang zh，docs/zh-CN/README.md")
)

// mark is an outcome's sign, and its explanation next to the count.
type mark struct {
	failures.Outcome
	style term.Style
	sign  string
	means i18n.Text
}

var marks = []mark{
	{failures.Broken, term.Red, "✗", i18n.New("broken {n}")},
	{failures.Safe, term.Green, "✓", i18n.New("safe {n}: this one scripted run did not break the lock. It is no proof.")},
	{failures.Noticed, term.Cyan, "◐", i18n.New("noticed {n}: the owner is told of the loss by the first answered renewal, within " +
		"1/3 + 1/6 of a lease, or at its end. Until then two may be inside")},
	{failures.Limit, term.Yellow, "~", i18n.New("not by this lock {n}: no lock over one server can. The row says who")},
	{failures.NotTested, term.Yellow, "?", i18n.New("not tested {n}: what the failure is about did not happen")},
	{failures.NotPlayed, term.Alarm, "…", i18n.New("not played to the end {n}")},
	{failures.Elsewhere, term.Dim, "·", i18n.New("world only {n}: not played here, each for its own reason")},
	{failures.NotApplicable, term.Dim, "–", i18n.New("not applicable {n}, not run: the lock lacks what the failure is about")},
}

func markFor(o failures.Outcome) mark {
	return marks[slices.IndexFunc(marks, func(m mark) bool { return m.Outcome == o })]
}

// signOf returns the painted sign of an outcome.
func (a *app) signOf(o failures.Outcome) string {
	m := markFor(o)
	return a.color.Paint(m.style, m.sign)
}

// printMatrix prints the locks, a row for each failure that is shown, the totals, and commands to try.
func (a *app) printMatrix(r request, g grid, took time.Duration) {
	if !r.totals {
		a.printRows(r, g)
	}
	if r.totals || len(r.families) == 0 {
		a.printTotals(r, g, took)
	}
	a.printElsewhere(g)
	if r.totals || len(r.next) == 0 || len(r.families) > 0 {
		return
	}
	a.section(a.say(tryNext), r.next)
	fmt.Fprintln(a.out, a.say(otherLanguage))
}

// printRows prints the locks and the results.
func (a *app) printRows(r request, g grid) {
	a.askForRoom()
	a.heading(term.Bold, a.say(r.title))
	fmt.Fprintln(a.out)
	for _, c := range g.columns {
		fmt.Fprintf(a.out, "  %s  %s\n", c.NameIn(a.lang), c.TitleIn(a.lang))
	}
	rows, note := g.rows, i18n.Message{}
	chosen := r.all || len(r.families) > 0
	if r.byFamily || !chosen {
		rows, note = r.shown(g)
	}
	family := func(row []failures.Verdict) string {
		if !r.byFamily && !chosen {
			return ""
		}
		return a.say(i18n.Text(row[0].Failure.Family))
	}
	var cells [][]string
	at := map[int]int{} // line → its row, for lines that are no heading
	for i, row := range rows {
		if i == 0 || family(row) != family(rows[i-1]) {
			cells = append(cells, append([]string{family(row)}, stages.IDs(g.columns)...))
		}
		at[len(cells)] = i
		cells = append(cells, append([]string{"  " + row[0].Failure.ID}, a.signs(g, row)...))
	}
	lines := align(cells)
	width, firstColumn := 0, 0
	for i, line := range lines {
		width, firstColumn = max(width, term.Columns(line)), max(firstColumn, term.Columns(cells[i][0]))
	}
	for i, line := range lines {
		n, isRow := at[i]
		if !isRow {
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, line))
			continue
		}
		f, part := rows[n][0].Failure, g.partOf(rows[n])
		inPart := r.inParts && !chosen && part > 0
		if inPart && part != g.partOf(rows[n-1]) {
			fmt.Fprintf(a.out, "\n  %s\n", a.say(parts[part]))
		}
		title := i18n.Text(f.Title)
		if told, isTwin := catalogue.Find(f.GivenBy); inPart && isTwin { // the heading names the token
			title = i18n.Text(told.Title)
		}
		if g.isLimit(rows[n]) {
			who := a.color.Paint(term.Yellow, a.say(i18n.Text(f.PreventedBy)))
			line = term.Pad(cells[i][0], firstColumn+2) + who
		}
		if a.width-width-3 < narrowestTitle {
			fmt.Fprintln(a.out, line)
			a.prose(term.Dim, 4, a.say(title))
		} else {
			a.item(term.Pad(line, width)+"   ", a.color.Paint(term.Dim, a.say(title)))
		}
	}
	if len(r.families) == 0 {
		fmt.Fprintln(a.out)
	}
	a.prose("", 0, note.Localize(a.lang))
}

// parts are the headings of the parts of a first screen.
var parts = []i18n.Text{
	"", i18n.New("No lock in this table can prevent these. Who can?"), i18n.New("With a resource that checks the token:"),
}

// partOf returns the part of a first screen to which a row belongs.
func (g grid) partOf(row []failures.Verdict) int {
	switch {
	case g.isLimit(row):
		return 1
	case row[0].Failure.Family == catalogue.Fences:
		return 2
	}
	return 0
}

// signs returns the sign of each result of a failure.
func (a *app) signs(g grid, row []failures.Verdict) (signs []string) {
	for n, v := range row {
		sign := a.signOf(v.Outcome)
		if g.isWrong(v, n) {
			sign = a.color.Paint(term.Alarm, "!")
		}
		signs = append(signs, sign)
	}
	return signs
}

// printTotals counts the results.
func (a *app) printTotals(r request, g grid, took time.Duration) {
	count, wrong := map[failures.Outcome]int{}, 0
	for _, row := range g.rows {
		for n, v := range row {
			count[v.Outcome]++
			if g.isWrong(v, n) {
				wrong++
			}
		}
	}
	a.printCounts(count)
	expected := a.say(allExpected)
	if wrong > 0 {
		expected = a.color.Paint(term.Red, notExpected.Of(wrong).Localize(a.lang))
	}
	inTime := "" // for a person only: output for a file or a document must not vary
	if a.watched {
		inTime = a.say(inSeconds, "n", fmt.Sprintf("%.1f", took.Seconds()))
	}
	runs := len(g.rows)*len(g.columns) - count[failures.NotApplicable] - count[failures.Elsewhere]
	a.item("  ", a.say(totalRuns, "n", runs, "where", r.where(), "took", inTime, "expected", expected))
}

// printCounts prints the number of each outcome that occurs, with its explanation.
func (a *app) printCounts(count map[failures.Outcome]int) {
	for _, m := range marks {
		if n := count[m.Outcome]; n > 0 {
			a.item("  "+a.signOf(m.Outcome)+" ", a.say(m.means, "n", n))
		}
	}
}
