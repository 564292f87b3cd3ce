package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
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
	columns []stages.Stage
	rows    [][]cell
}

// judge plays the catalogue. The tests keep what it returns, since many of them print the same
// verdicts.
var judge = stages.Judge

// judgeAll runs failures on the columns.
func (a *app) judgeAll(w where, all []failures.Failure, of []stages.Stage) (grid, error) {
	ready, err := stages.Ready(a.t, of)
	if err != nil {
		return grid{}, failedError{err}
	}
	if !w.live {
		return expecting(ready, judge(a.t, all, ready)), nil
	}
	verdicts, err := a.judgeLive(w, all, ready)
	return expecting(ready, verdicts), err
}

// expecting puts the expected outcomes beside verdicts.
func expecting(of []stages.Stage, rows [][]failures.Verdict) grid {
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
func (e excerpt) columns() []stages.Stage {
	switch {
	case e.documents:
		return stages.Documents()
	case e.steps:
		return stages.Steps()
	}
	return stages.Public()
}

// byFamily reports whether the rows are a whole catalogue or whole families of it.
func (e excerpt) byFamily() bool { return e.all || len(e.families) > 0 }

var (
	stagesTitle    = i18n.New("A Redis lock, stage by stage, and what breaks it")
	documentsTitle = i18n.New("The locks of five documents, as written, and what breaks them")
	playingFast    = i18n.New("playing {n} failures on {locks} locks, on {where}")
	playingLive    = i18n.New("playing {n} failures on {locks} locks, on {where}, in real time: half a minute")
	noFamily       = i18n.New("--family {name}: there is no such family")
	someFailures   = i18n.New("{n} of {all} failures are shown; all were run. To see all, by family: {command}")
	someChanges    = i18n.New("{n} of {changed} failures that a step changes: up to {most} for each, those it fixes first. All {all} were run. To see all, by family: {command}")
)

// rows returns the failures that are shown, and what is said of the others.
func (e excerpt) rows(g grid) (rows [][]cell, rest i18n.Message) {
	switch {
	case e.byFamily():
		return g.rows, i18n.Message{}
	case e.steps:
		rows, changed := g.changes()
		return rows, someChanges.Args("n", len(rows), "changed", changed, "most", mostOfAStep, "all", len(g.rows), "command", "go run . --steps --all")
	}
	for _, row := range g.rows {
		if row[0].verdict.Failure.Lesson {
			rows = append(rows, row)
		}
	}
	sortByFix(rows, stages.All())
	command := "go run . --all"
	if e.documents {
		command = "go run . --documents --all"
	}
	return rows, someFailures.Args("n", len(rows), "all", len(g.rows), "command", command)
}

// sortByFix puts those first that an earlier lock fixes, and those last that none fixes.
func sortByFix(rows [][]cell, of []stages.Stage) {
	slices.SortStableFunc(rows, func(a, b []cell) int { return cmp.Compare(fixedIn(a, of), fixedIn(b, of)) })
}

// fixedIn is the place of the lock that fixes a failure; len(of) if none does.
func fixedIn(row []cell, of []stages.Stage) int {
	if _, fixed := stages.FixedBy(of, row[0].verdict.Failure); fixed != nil {
		return slices.Index(stages.IDs(of), fixed.ID)
	}
	return len(of)
}

// mostOfAStep is how many failures --steps shows for each step.
const mostOfAStep = 4

// changes returns the rows that --steps shows, by the step that changes them, and how many change.
func (g grid) changes() (shown [][]cell, changed int) {
	var left [][]cell
	for _, row := range g.rows {
		if slices.ContainsFunc(row, func(c cell) bool { return c.want != row[0].want }) {
			left = append(left, row)
		}
	}
	changed = len(left)
	sortByFix(left, g.columns)
	for step := range g.columns[1:] {
		room := mostOfAStep
		left = slices.DeleteFunc(left, func(row []cell) bool {
			was, is := row[step].want, row[step+1].want
			take := room > 0 && was != is && is != failures.Broken
			if take {
				shown, room = append(shown, row), room-1
			}
			return take
		})
	}
	return shown, changed
}

// failures returns those of the families, or all.
func (e excerpt) failures() (asked []failures.Failure, err error) {
	if len(e.families) == 0 {
		return failures.All, nil
	}
	short := func(family string) string { return strings.TrimPrefix(family, "the ") }
	var names []string
	for _, family := range families() {
		names = append(names, strconv.Quote(short(string(family[0].Family))))
	}
	for _, word := range e.families {
		i := slices.IndexFunc(families(), func(family []failures.Failure) bool {
			name := i18n.Text(family[0].Family)
			return short(word) == short(string(name)) || word == name.Localize(i18n.Chinese)
		})
		if i < 0 {
			return nil, suggest(noFamily.Args("name", strconv.Quote(word)), strconv.Quote(word), names)
		}
		asked = append(asked, families()[i]...)
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

var isSurprise = i18n.New("{failure} on {stage}: expected {want}, got {outcome}: {what}")

// surprise is a line about a cell that is not as expected.
func (a *app) surprise(c cell) i18n.Message {
	v := c.verdict
	return isSurprise.Args("failure", v.Failure.ID, "stage", v.Subject, "want", c.want.Word(),
		"outcome", v.Outcome.Word(), "what", v.SentenceIn(a.lang))
}

// unexpected are lines about the cells that are not as expected.
func (a *app) unexpected(g grid) (lines []string) {
	for _, row := range g.rows {
		for _, c := range row {
			if !c.asExpected() {
				lines = append(lines, a.surprise(c).Localize(a.lang))
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
