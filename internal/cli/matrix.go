package cli

import (
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

var (
	stagesTitle    = texts.New("A Redis lock, stage by stage, and what breaks it")
	playingFast    = texts.New("playing {n} failures on {locks} locks, on {where}")
	playingLive    = texts.New("playing {n} failures on {locks} locks, on {where}, in real time: half a minute")
	noFamily       = texts.New("--family {name}: there is no such family; there are: {names}")
	documentsTitle = texts.New("The locks of five documents, as written, and what breaks them")
)

// title stands above it.
func (e excerpt) title() texts.Text {
	if e.documents {
		return documentsTitle
	}
	return stagesTitle
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
		a.printMatrix(a.say(e.title()), g)
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
	return a.surprises(g)
}

// shortestTitle is how many columns a title needs to tell anything.
const shortestTitle = 12

func (a *app) printMatrix(title string, g grid) {
	fmt.Fprint(a.out, a.color.Paint(term.Bold, title)+"\n\n")
	for _, c := range g.columns {
		fmt.Fprintf(a.out, "  %s  %s\n", c.NameIn(a.lang), c.TitleIn(a.lang))
	}
	width := 0
	for _, row := range g.rows {
		f := row[0].verdict.Failure
		width = max(width, len(f.ID), term.Columns(a.say(texts.Text(f.Family)))-2)
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
			heading := term.Pad(a.say(texts.Text(family)), width+2)
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, heading+ids))
		}
		fmt.Fprintf(a.out, "  %-*s", width, f.ID)
		for n, c := range row {
			fmt.Fprint(a.out, strings.Repeat(" ", 1+len(g.columns[n].ID)), a.sign(c))
		}
		title := a.say(texts.Text(f.Title))
		if room := a.width - width - 6 - len(ids); room >= shortestTitle {
			fmt.Fprint(a.out, "   "+a.color.Paint(term.Dim, term.Clip(title, room)))
		}
		fmt.Fprintln(a.out)
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
	totalOutcomes = texts.New("  {x} broken {broken}   {o} safe {safe}   {n} noticed {noticed}: the hold is lost, and its owner is told in time")
	totalLimits   = texts.New("  {i} inherent {inherent}: no lock with a lease can prevent it   {dash} not applicable {none}")
	totalRuns     = texts.New("  {n} runs of real locks and real go-redis clients on {where}{took}; {expected}")
	totalNotTold  = texts.New("  {q} not told {n}: what the failure is about did not happen   {d} not played {m} to the end")
	totalWorld    = texts.New("  {d} world only {n}: not played here; go run . list says why")
	totalSafe     = texts.New("  safe means: not broken in this one run, whose every step is the failure's script")
	allExpected   = texts.New("every cell is what its lesson says")
	notExpected   = texts.NewPlural("1 cell (!) is not what its lesson says", "{n} cells (!) are not what their lesson says")
	inSeconds     = texts.New(", in {n} s")
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
	line := func(t texts.Text, pairs ...any) { a.line(a.say(t, pairs...)) }
	line(totalOutcomes, "x", a.signOf(failures.Broken), "broken", count[failures.Broken], "o", a.signOf(failures.Safe), "safe", count[failures.Safe],
		"n", a.signOf(failures.Noticed), "noticed", count[failures.Noticed])
	line(totalLimits, "i", a.signOf(failures.Inherent), "inherent", count[failures.Inherent],
		"dash", a.signOf(failures.NotApplicable), "none", count[failures.NotApplicable])
	expected := a.say(allExpected)
	if n := len(a.unexpected(g)); n > 0 {
		expected = a.color.Paint(term.Red, notExpected.Of(n).In(a.lang))
	}
	line(totalRuns, "n", runs, "where", w.said(), "took", a.took(took), "expected", expected)
	if n, m := count[failures.NotTold], count[failures.NotPlayed]; n+m > 0 {
		line(totalNotTold, "q", a.signOf(failures.NotTold), "n", n, "d", a.signOf(failures.NotPlayed), "m", m)
	}
	if n := count[failures.Elsewhere]; n > 0 {
		line(totalWorld, "d", a.signOf(failures.Elsewhere), "n", n)
	}
	line(totalSafe)
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
		{"go run . show check-then-delete --before-after", texts.New("the last stage that breaks, and the first that does not")},
		{"go run . diff 4", whatChanged},
		{"go test -v ./stage4_lua_unlock/...", texts.New("every failure on one stage, as tests")},
		{"go run . --steps", texts.New("the five steps from stage 5 to stage 6")},
	}
	nextOfSteps = []next{
		{"go run . show grant-reply-lost --steps --before-after", texts.New("the last step that breaks, and the first that does not")},
		{"go run . diff 6.2", whatChanged},
		{"go run . explore --stage 6.2", texts.New("all schedules of a step, up to a bound")},
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
	return isSurprise.With("failure", v.Failure.ID, "stage", v.Subject, "want", texts.Text(c.want.String()),
		"outcome", texts.Text(v.Outcome.String()), "what", v.SentenceIn(a.lang))
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
