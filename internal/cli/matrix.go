package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/term"
	"lockkata/internal/texts"
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

// judgeAll runs failures on the columns.
func (a *app) judgeAll(w where, all []failures.Failure, of []columns.Column) (grid, error) {
	ready, err := columns.Ready(a.t, of)
	if err != nil {
		return grid{}, failedError{err}
	}
	if !w.live {
		return expecting(ready, columns.Judge(a.t, all, ready)), nil
	}
	verdicts, err := a.judgeLive(w, all, ready)
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
	all       bool     // every failure, by family
	totals    bool     // the totals only
	steps     bool     // the columns are those that lead to the last stage
	documents bool     // the columns are the locks of the documents
	asJSON    bool
}

// columns are the locks of the excerpt.
func (e excerpt) columns() []columns.Column {
	switch {
	case e.documents:
		return columns.Documents()
	case e.steps:
		return columns.Steps()
	}
	return columns.Shown()
}

// byFamily reports whether the rows are a whole catalogue or whole families of it.
func (e excerpt) byFamily() bool { return e.all || len(e.families) > 0 }

var (
	stagesTitle    = texts.New("A Redis lock, stage by stage, and what breaks it")
	documentsTitle = texts.New("The locks of five documents, as written, and what breaks them")
	playingFast    = texts.New("playing {n} failures on {locks} locks, on {where}")
	playingLive    = texts.New("playing {n} failures on {locks} locks, on {where}, in real time: half a minute")
	noFamily       = texts.New("--family {name}: there is no such family; there are: {names}")
	someFailures   = texts.New("{n} of {all} failures are shown; all were run. {command} shows all, by family.")
	someChanges    = texts.New("{n} of {changed} failures that a step changes: up to {most} for each, those it fixes first. All {all} were run. {command} shows all, by family.")
)

// rows returns the failures that are shown, and what is said of the others.
func (e excerpt) rows(g grid) (rows [][]cell, rest texts.Said) {
	switch {
	case e.byFamily():
		return g.rows, texts.Said{}
	case e.steps:
		rows, changed := g.changes()
		return rows, someChanges.With("n", len(rows), "changed", changed, "most", mostOfAStep, "all", len(g.rows), "command", "go run . --steps --all")
	}
	for _, row := range g.rows {
		if row[0].verdict.Failure.Lesson {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b []cell) int {
		return cmp.Compare(placeOfFix(a[0].verdict.Failure), placeOfFix(b[0].verdict.Failure))
	})
	command := "go run . --all"
	if e.documents {
		command = "go run . --documents --all"
	}
	return rows, someFailures.With("n", len(rows), "all", len(g.rows), "command", command)
}

// placeOfFix is the place of the stage or step that fixes the failure. What none fixes comes last.
func placeOfFix(f failures.Failure) int {
	stairs := columns.Stairs()
	if _, fixed := columns.Turn(stairs, f); fixed != nil {
		return slices.Index(columns.IDs(stairs), fixed.ID)
	}
	return len(stairs)
}

// mostOfAStep is how many failures --steps shows for each step.
const mostOfAStep = 4

// changes returns the rows that --steps shows, by step, and how many rows change at all. A failure
// is shown once.
func (g grid) changes() (shown [][]cell, changed int) {
	left := slices.DeleteFunc(slices.Clone(g.rows), func(row []cell) bool {
		return !slices.ContainsFunc(row, func(c cell) bool { return c.want != row[0].want })
	})
	changed = len(left)
	for step := 1; step < len(g.columns); step++ {
		isFixed := func(row []cell) bool { return row[step-1].want == failures.Broken && row[step].want != failures.Broken }
		applies := func(row []cell) bool { return row[step-1].want != row[step].want && row[step].want != failures.Broken }
		room := mostOfAStep
		for _, isChanged := range []func([]cell) bool{isFixed, applies} {
			left = slices.DeleteFunc(left, func(row []cell) bool {
				take := room > 0 && isChanged(row)
				if take {
					shown, room = append(shown, row), room-1
				}
				return take
			})
		}
	}
	return shown, changed
}

// failures are those that it is about.
func (e excerpt) failures() ([]failures.Failure, error) {
	if len(e.families) == 0 {
		return failures.All, nil
	}
	var asked []failures.Failure
	var names []string // in quotes: some have spaces
	unknown := slices.Clone(e.families)
	for _, f := range failures.All {
		// "owner" is "the owner", and its name in Chinese.
		name, chinese := strings.TrimPrefix(string(f.Family), "the "), texts.Text(f.Family).In(texts.Chinese)
		if quoted := strconv.Quote(name); !slices.Contains(names, quoted) {
			names = append(names, quoted)
		}
		named := func(family string) bool { return strings.TrimPrefix(family, "the ") == name || family == chinese }
		if slices.ContainsFunc(e.families, named) {
			asked = append(asked, f)
			unknown = slices.DeleteFunc(unknown, named)
		}
	}
	if len(unknown) > 0 {
		return nil, noFamily.With("name", strconv.Quote(unknown[0]), "names", strings.Join(names, ", "))
	}
	return asked, nil
}

// matrix prints every failure on every stage.
func (a *app) matrix(w where, e excerpt) error {
	if err := w.check(); err != nil {
		return err
	}
	all, err := e.failures()
	if err != nil {
		return err
	}
	start := time.Now()
	playing := playingFast
	if w.live {
		playing = playingLive
	}
	a.doing(a.say(playing, "n", len(all), "locks", len(e.columns()), "where", w.said()))
	g, err := a.judgeAll(w, all, e.columns())
	a.doing("")
	if err != nil {
		return err
	}
	switch {
	case e.asJSON:
		err = a.matrixJSON(g)
	case e.totals:
		a.printTotals(g, w, time.Since(start))
	default:
		a.printMatrix(e, g)
		if len(e.families) == 0 {
			a.printTotals(g, w, time.Since(start))
			if !e.documents {
				a.printNext(e.steps)
			}
		}
	}
	if err != nil {
		return err
	}
	return a.surprises(g)
}

// narrowestTitle is how many columns a title needs to take two lines at most.
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
	rows, rest := e.rows(g)
	width := 0
	for _, row := range rows {
		f := row[0].verdict.Failure
		width = max(width, len(f.ID))
		if e.byFamily() {
			width = max(width, term.Columns(a.say(texts.Text(f.Family)))-2)
		}
	}
	heading := func(family failures.Family) {
		fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, term.Pad(a.say(texts.Text(family)), width+2)+ids))
	}
	if !e.byFamily() {
		heading("")
	}
	var family failures.Family
	for _, row := range rows {
		f := row[0].verdict.Failure
		if e.byFamily() && f.Family != family {
			family = f.Family
			heading(family)
		}
		line := "  " + term.Pad(f.ID, width)
		for n, c := range row {
			line += strings.Repeat(" ", 1+len(g.columns[n].ID)) + a.sign(c)
		}
		room := a.width - width - 5 - len(ids)
		if room < narrowestTitle {
			fmt.Fprintln(a.out, line)
			continue
		}
		for _, part := range term.Wrap(a.say(texts.Text(f.Title)), room) {
			fmt.Fprintln(a.out, line+"   "+a.color.Paint(term.Dim, part))
			line = strings.Repeat(" ", width+2+len(ids))
		}
	}
	fmt.Fprintln(a.out)
	if rest.Text != "" {
		a.prose(rest)
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
	mark, ok := outcomeMarks[o]
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

// What is counted below the matrix.
var (
	totalOutcomes = texts.New("  {x} broken {broken}   {o} safe {safe}   {dash} not applicable {none}")
	totalRuns     = texts.New("  {n} runs on {where}{took}: {expected}")
	totalSafe     = texts.New("\"safe\" means that this one scripted run did not break the lock. It is no proof.")
	allExpected   = texts.New("all results are as expected")
	notExpected   = texts.NewPlural("1 result (!) is not as expected", "{n} results (!) are not as expected")
	inSeconds     = texts.New(", in {n} s")
	totalOfOthers = []struct {
		failures.Outcome
		means texts.Text
	}{
		{failures.Noticed, texts.New("noticed {n}: the hold is lost, and its owner is told in time")},
		{failures.Inherent, texts.New("unavoidable {n}: no lock that expires can prevent this")},
		{failures.NotTold, texts.New("not tested {n}: what the failure is about did not happen")},
		{failures.NotPlayed, texts.New("not played to the end {n}")},
		{failures.Elsewhere, texts.New("world only {n}: not played here; go run . list --long says why")},
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
		expected = a.color.Paint(term.Red, notExpected.Of(n).In(a.lang))
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

// next is a command to try, and what it shows.
type next struct {
	command string
	shows   texts.Text
}

var (
	tryNext      = texts.New("Try next:")
	whatChanged  = texts.New("what the fix changed")
	nextOfStages = []next{
		{"go run . show check-then-delete --stage 3", texts.New("the failure, step by step")},
		{"go run . show check-then-delete --before-after", texts.New("before and after")},
		{"go run . diff 4", whatChanged},
		{"go test -v ./stage4_lua_unlock/...", texts.New("the failures, as tests")},
		{"go run . --steps", texts.New("five steps to stage 6")},
	}
	nextOfSteps = []next{
		{"go run . show grant-reply-lost --steps --before-after", texts.New("before and after")},
		{"go run . diff 6.2", whatChanged},
		{"go run . explore --stage 6.2", texts.New("all its schedules")},
	}
	otherLanguage = texts.New("中文：go run . --lang zh，docs/zh-CN/README.md")
)

func (a *app) printNext(steps bool) {
	all := nextOfStages
	if steps {
		all = nextOfSteps
	}
	var rows []row
	for _, n := range all {
		rows = append(rows, row{n.command, a.say(n.shows)})
	}
	fmt.Fprintf(a.out, "\n%s\n%s%s\n", a.say(tryNext), a.table(rows), a.say(otherLanguage))
}

var isSurprise = texts.New("{failure} on {stage}: expected {want}, got {outcome}: {what}")

// surprise is a line about a cell that is not as expected.
func (a *app) surprise(c cell) texts.Said {
	v := c.verdict
	return isSurprise.With("failure", v.Failure.ID, "stage", v.Subject, "want", c.want.Word(),
		"outcome", v.Outcome.Word(), "what", v.SentenceIn(a.lang))
}

func (a *app) unexpected(g grid) (lines []string) {
	for _, row := range g.rows {
		for _, c := range row {
			if !c.asExpected() {
				lines = append(lines, a.surprise(c).In(a.lang))
			}
		}
	}
	return lines
}

func (a *app) surprises(g grid) error {
	if lines := a.unexpected(g); len(lines) > 0 {
		return failedError{errors.New(strings.Join(lines, "\n"))}
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
