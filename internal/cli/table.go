package cli

import (
	"fmt"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// narrowestTitle is the least room, in columns, in which titles are printed.
const narrowestTitle = 24

// printMatrix prints the locks, a row for each failure that is shown, and what is said of the others.
func (a *app) printMatrix(e excerpt, g grid) {
	title := stagesTitle
	if e.documents {
		title = documentsTitle
	}
	fmt.Fprint(a.out, a.color.Paint(term.Bold, a.say(title))+"\n\n")
	ids := ""
	for _, c := range g.columns {
		fmt.Fprintf(a.out, "  %s  %s\n", c.NameIn(a.lang), c.TitleIn(a.lang))
		ids += "  " + c.ID
	}
	heading := func(row []cell) string {
		if !e.byFamily() {
			return ""
		}
		return a.say(i18n.Text(row[0].verdict.Failure.Family))
	}
	rows, rest := e.rows(g)
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0].verdict.Failure.ID)+2, term.Columns(heading(row)))
	}
	for i, row := range rows {
		if i == 0 || heading(row) != heading(rows[i-1]) {
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, term.Pad(heading(row), width)+ids))
		}
		a.printRow(row, g.columns, width, len(ids))
	}
	if len(e.families) == 0 {
		fmt.Fprintln(a.out)
	}
	if rest.Text != "" {
		a.prose(rest)
	}
}

// printRow prints a failure's results, and beside them its title where there is room.
func (a *app) printRow(row []cell, of []stages.Stage, width, signs int) {
	f := row[0].verdict.Failure
	line := term.Pad("  "+f.ID, width)
	for n, c := range row {
		line += strings.Repeat(" ", 1+len(of[n].ID)) + a.sign(c)
	}
	room := a.width - width - signs - 3
	if room < narrowestTitle {
		fmt.Fprintln(a.out, line)
		return
	}
	for _, part := range term.Wrap(a.say(i18n.Text(f.Title)), room) {
		fmt.Fprintln(a.out, line+"   "+a.color.Paint(term.Dim, part))
		line = strings.Repeat(" ", width+signs)
	}
}

// sign is a cell's mark. One that is not as expected is marked as such.
func (a *app) sign(c cell) string {
	if !c.asExpected() {
		return a.color.Paint(term.Alarm, "!")
	}
	return a.signOf(c.verdict.Outcome)
}

func (a *app) signOf(o failures.Outcome) string {
	return a.color.Paint(outcomeMarks[o].style, outcomeMarks[o].sign)
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
	failures.NotTested:     {term.Yellow, "?"},
	failures.NotPlayed:     {term.Alarm, "…"},
}

// What is counted below the matrix.
var (
	totalOutcomes = i18n.New("  {x} broken {broken}   {o} safe {safe}   {dash} not applicable {none}")
	totalRuns     = i18n.New("  {n} runs on {where}{took}: {expected}")
	totalSafe     = i18n.New("\"safe\" means that this one scripted run did not break the lock. It is no proof.")
	allExpected   = i18n.New("all results are as expected")
	notExpected   = i18n.NewPlural("1 result (!) is not as expected", "{n} results (!) are not as expected")
	inSeconds     = i18n.New(", in {n} s")
	totalOfOthers = []struct {
		failures.Outcome
		means i18n.Text
	}{
		{failures.Noticed, i18n.New("noticed {n}: the hold is lost, and its owner is told in time")},
		{failures.Inherent, i18n.New("unavoidable {n}: no lock that expires can prevent this")},
		{failures.NotTested, i18n.New("not tested {n}: what the failure is about did not happen")},
		{failures.NotPlayed, i18n.New("not played to the end {n}")},
		{failures.Elsewhere, i18n.New("world only {n}: not played here; go run . list --long says why")},
	}
)

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
	a.line(a.say(totalOutcomes, "x", a.signOf(failures.Broken), "broken", count[failures.Broken], "o", a.signOf(failures.Safe),
		"safe", count[failures.Safe], "dash", a.signOf(failures.NotApplicable), "none", count[failures.NotApplicable]))
	for _, other := range totalOfOthers {
		if n := count[other.Outcome]; n > 0 {
			a.item("  "+a.signOf(other.Outcome)+" ", a.say(other.means, "n", n))
		}
	}
	expected := a.say(allExpected)
	if n := len(a.unexpected(g)); n > 0 {
		expected = a.color.Paint(term.Red, notExpected.Of(n).Localize(a.lang))
	}
	a.line(a.say(totalRuns, "n", runs, "where", w.said(), "took", a.took(took), "expected", expected))
	a.line(a.say(totalSafe))
}

// took says how long something took, to a person: what goes into a file or a
// document is the same each time.
func (a *app) took(d time.Duration) string {
	if !a.watched {
		return ""
	}
	return a.say(inSeconds, "n", fmt.Sprintf("%.1f", d.Seconds()))
}

var (
	tryNext       = i18n.New("Try next:")
	whatChanged   = i18n.New("what the fix changed")
	oneFailure    = i18n.New("the failure, step by step")
	bothSides     = i18n.New("before and after")
	asTests       = i18n.New("the failures, as tests")
	fiveSteps     = i18n.New("five steps to stage 6")
	itsSchedules  = i18n.New("all its schedules")
	otherLanguage = i18n.New("中文：go run . --lang zh，docs/zh-CN/README.md")
)

// printNext prints commands to try.
func (a *app) printNext(steps bool) {
	next := []row{
		{"go run . show check-then-delete --stage 3", a.say(oneFailure)},
		{"go run . show check-then-delete --before-after", a.say(bothSides)},
		{"go run . diff 4", a.say(whatChanged)},
		{"go test -v ./stage4_lua_unlock/...", a.say(asTests)},
		{"go run . --steps", a.say(fiveSteps)},
	}
	if steps {
		next = []row{
			{"go run . show grant-reply-lost --steps --before-after", a.say(bothSides)},
			{"go run . diff 6.2", a.say(whatChanged)},
			{"go run . explore --stage 6.2", a.say(itsSchedules)},
		}
	}
	fmt.Fprintf(a.out, "\n%s\n%s%s\n", a.say(tryNext), a.table(next), a.say(otherLanguage))
}
