package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

const (
	narrowestTitle = 24 // the fewest columns in which a title is printed
	mostOfAStep    = 4  // the most failures that --steps shows for each step
)

// Texts around the results.
var (
	stagesTitle    = i18n.New("A Redis lock, stage by stage, and what breaks it")
	documentsTitle = i18n.New("The locks of five documents, as written, and what breaks them")
	redlockTitle   = i18n.New("RedLock, over five servers, and what breaks it")
	redlockShows   = i18n.New("RedLock survives what happens to a minority: servers that are down, fail over or have a wrong clock. It relies on servers that do not forget and on clocks that do not jump, and it has no fencing token against a holder that pauses. A lock over one server breaks in the same way at its first failover, but costs a fifth. Where two must never write, the resource itself has to refuse.")
	guardsTitle    = i18n.New("What no lock with a lease prevents, and a guard of the resource does")
	guardsShow     = i18n.New("Here ✓ means that the ledger is right, even if two clients held the lock. The lock saves work: while one client works, the others wait. The resource protects the data: a guard checks at the moment of the write, so it works on stage 1, and without any lock. Only the fencing token needs a lock that issues it. Which guard fits depends on the resource: it must be able to compare, and an e-mail that is sent cannot.")
	someFailures   = i18n.New("{n} of {all} failures are shown; all were run. To see all, by family: {command}")
	someChanges    = i18n.New("{n} of {changed} failures whose result changes from step to step are shown, at most {most} for each step. All {all} were run. To see all, by family: {command}")
	totalRuns      = i18n.New("{n} runs on {where}{took}: {expected}")
	allExpected    = i18n.New("all results are as expected")
	notExpected    = i18n.NewPlural("1 result (!) is not as expected", "{n} results (!) are not as expected")
	inSeconds      = i18n.New(", in {n} s")
	tryNext        = i18n.New("Try next:")
	whatChanged    = i18n.New("what the fix changed")
	bothSides      = i18n.New("before and after")
	otherLanguage  = i18n.New("中文：go run . --lang zh，docs/zh-CN/README.md")
)

// Commands to try after each table.
var (
	afterStages = []row{
		{"go run . show check-then-delete --stage 3", i18n.New("the failure, step by step")},
		{"go run . show check-then-delete --before-after", bothSides},
		{"go run . diff 4", whatChanged},
		{"go test -v ./stage4_lua_unlock/...", i18n.New("the failures, as tests")},
		{"go run . --steps", i18n.New("five steps to stage 6")},
		{"go run . --guards", i18n.New("how the resource can protect itself")},
	}
	afterGuards = []row{
		{"go run . show process-pause --stage 1", i18n.New("two clients hold the lock, and the ledger takes both orders")},
		{"go run . show process-pause-unique --stage 1", i18n.New("two clients hold the lock, and the ledger refuses the second order")},
		{"go run . --redlock", i18n.New("a lock over five servers")},
	}
	afterRedLock = []row{
		{"go run . show redlock-restart-empty", i18n.New("two majorities, step by step")},
		{"go run . show redlock-pause", i18n.New("what five servers do not help against")},
		{"go run . --guards", i18n.New("what helps there")},
	}
	afterSteps = []row{
		{"go run . show grant-reply-lost --steps --before-after", bothSides},
		{"go run . diff 6.2", whatChanged},
		{"go run . explore --stage 6.2", i18n.New("all its schedules")},
	}
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
	{failures.Noticed, term.Cyan, "◐", i18n.New("noticed {n}: the lock was lost, but its owner was told before it did harm")},
	{failures.Limit, term.Yellow, "~", i18n.New("unavoidable {n}: no lock that expires can prevent this")},
	{failures.NotTested, term.Yellow, "?", i18n.New("not tested {n}: what the failure is about did not happen")},
	{failures.NotPlayed, term.Alarm, "…", i18n.New("not played to the end {n}")},
	{failures.Elsewhere, term.Dim, "·", i18n.New("world only {n}: not played here; go run . list --long says why")},
	{failures.NotApplicable, term.Dim, "–", i18n.New("not applicable {n}: the lock lacks what the failure is about")},
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
	if r.totals || r.documents || len(r.families) > 0 {
		return
	}
	next := afterStages
	switch {
	case r.guards:
		next = afterGuards
	case r.redlock:
		next = afterRedLock
	case r.steps:
		next = afterSteps
	}
	a.section(a.say(tryNext), next)
	fmt.Fprintln(a.out, a.say(otherLanguage))
}

// rows returns the failures that are shown, and a sentence about the others.
func (r request) rows(g grid) (rows [][]failures.Verdict, rest i18n.Message) {
	switch {
	case r.redlock:
		return g.rows, redlockShows.Args()
	case r.byFamily():
		return g.rows, i18n.Message{}
	case r.guards:
		return g.rows, guardsShow.Args()
	case r.steps:
		rows, changed := g.changes()
		return rows, someChanges.Args("n", len(rows), "changed", changed, "most", mostOfAStep, "all", len(g.rows), "command", "go run . --steps --all")
	}
	for _, row := range g.rows {
		if row[0].Failure.FirstScreen {
			rows = append(rows, row)
		}
	}
	sortByFix(rows, stages.All())
	command := "go run . --all"
	if r.documents {
		command = "go run . --documents --all"
	}
	return rows, someFailures.Args("n", len(rows), "all", len(g.rows), "command", command)
}

// sortByFix sorts the failures by the lock that fixes them, unfixed ones last.
func sortByFix(rows [][]failures.Verdict, of []stages.Stage) {
	place := func(row []failures.Verdict) int {
		if _, fixed := stages.FixedBy(of, row[0].Failure); fixed != nil {
			return slices.Index(stages.IDs(of), fixed.ID)
		}
		return len(of)
	}
	slices.SortStableFunc(rows, func(a, b []failures.Verdict) int { return cmp.Compare(place(a), place(b)) })
}

// changes returns the rows that --steps shows, ordered by step, and how many failures change.
func (g grid) changes() (shown [][]failures.Verdict, changed int) {
	want := func(row []failures.Verdict, column int) failures.Outcome {
		return g.columns[column].Expect(row[0].Failure)
	}
	left := slices.DeleteFunc(slices.Clone(g.rows), func(row []failures.Verdict) bool {
		return !slices.ContainsFunc(g.columns, func(c stages.Stage) bool { return c.Expect(row[0].Failure) != want(row, 0) })
	})
	sortByFix(left, g.columns)
	at := make([][][]failures.Verdict, len(g.columns))
	for _, row := range left {
		for n := 1; n < len(g.columns); n++ {
			was, is := want(row, n-1), want(row, n)
			if was != is && is != failures.Broken && len(at[n]) < mostOfAStep {
				at[n] = append(at[n], row)
				break
			}
		}
	}
	return slices.Concat(at...), len(left)
}

// printRows prints the locks and the results.
func (a *app) printRows(r request, g grid) {
	a.askForRoom()
	title := stagesTitle
	switch {
	case r.guards:
		title = guardsTitle
	case r.documents:
		title = documentsTitle
	case r.redlock:
		title = redlockTitle
	}
	a.heading(term.Bold, a.say(title))
	fmt.Fprintln(a.out)
	for _, c := range g.columns {
		fmt.Fprintf(a.out, "  %s  %s\n", c.NameIn(a.lang), c.TitleIn(a.lang))
	}
	family := func(row []failures.Verdict) string {
		if !r.byFamily() {
			return ""
		}
		return a.say(i18n.Text(row[0].Failure.Family))
	}
	rows, rest := r.rows(g)
	var cells [][]string
	titles := map[int]i18n.Text{} // of lines without a heading
	for i, row := range rows {
		if i == 0 || family(row) != family(rows[i-1]) {
			cells = append(cells, append([]string{family(row)}, stages.IDs(g.columns)...))
		}
		titles[len(cells)] = i18n.Text(row[0].Failure.Title)
		cells = append(cells, append([]string{"  " + row[0].Failure.ID}, a.signs(g, row)...))
	}
	lines := align(cells)
	width := 0
	for _, line := range lines {
		width = max(width, term.Columns(line))
	}
	for i, line := range lines {
		switch title, ok := titles[i]; {
		case !ok:
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, line))
		case a.width-width-3 < narrowestTitle:
			fmt.Fprintln(a.out, line)
		default:
			a.item(term.Pad(line, width)+"   ", a.color.Paint(term.Dim, a.say(title)))
		}
	}
	if len(r.families) == 0 {
		fmt.Fprintln(a.out)
	}
	a.prose("", 0, rest.Localize(a.lang))
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
