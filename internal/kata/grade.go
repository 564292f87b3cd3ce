package kata

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// Grading is what a card is asked for.
type Grading struct {
	Has    []string // features of a lock without a Subject
	Traces bool     // every run's trace, not only those of failures that show
	Search bool     // the schedules too
	Lang   i18n.Language
	Say    func(i18n.Message) // is told what is being done; nil: nobody asks
}

func (g Grading) tell(what i18n.Message) {
	if g.Say != nil {
		g.Say(what)
	}
}

// Card is what the catalogue says of a lock.
type Card struct {
	Dir     string           `json:"dir"`
	Compile *CompileError    `json:"compile_error,omitempty"`
	Cause   *judge.Cause     `json:"cause,omitempty"` // the first thing for which a run had to be ended
	Cells   []Cell           `json:"cells"`
	Causes  []failures.Cause `json:"causes,omitempty"` // of the failures that show
	Found   []judge.Found    `json:"found,omitempty"`
	Printed string           `json:"printed,omitempty"`
}

// Cell is one failure on the lock.
type Cell struct {
	judge.Verdict
	Again  string       `json:"again,omitempty"`  // the outcome when it was played again, where that was another
	Ruined *judge.Cause `json:"ruined,omitempty"` // the failure could not be played to its end
}

// Of is the outcome.
func (c Cell) Of() failures.Outcome {
	if c.Letter == "" {
		return failures.NotPlayed
	}
	return failures.Outcome(c.Letter[0])
}

// What a card says of a cell.
var (
	ruinedBy   = i18n.New("the lock {kind}: {what}")
	againOther = i18n.New("{what} (played again, it is {outcome}: the lock, or its library, decides by chance)")
	eitherOf   = i18n.New("{outcome} or {other}")
	countsMore = i18n.New("{counts}, {kind} {n}")
	countsOne  = i18n.New("{kind} {n}")
	playedAll  = i18n.New("{n} failures: {counts}")
	isNew      = i18n.New("{failure} is {outcome}, and the file does not have it")
	isOther    = i18n.New("{failure} is {outcome}, not {expected}: {what}")
	wasNot     = i18n.New("{failure} is in the file, and was not played")
	hasNothing = i18n.New("--has {name}: no failure is about that; there are: {names}")
)

// Told is what happened, in a line.
func (c Cell) Told(l i18n.Language) string {
	what := i18n.Text(c.Sentence).Args()
	if c.Ruined != nil {
		what = ruinedBy.Args("kind", i18n.Text(c.Ruined.Kind), "what", c.Ruined.Text)
	}
	if c.Again != "" {
		what = againOther.Args("what", what, "outcome", i18n.Text(c.Again))
	}
	return what.Localize(l)
}

// How long a lock is waited for that ruins its runs. A failure is played in less than a tenth
// of a second, and the limit is counted in looks of the run's own process, of which a busy
// machine lets it have fewer.
const (
	stuckAtFirst   = 2 * time.Second // until the first run is given up
	stuckAgain     = time.Second     // and each of the others, of a lock that is known for it
	longestGrading = 6 * time.Second // after which the rest is not tried
)

// Grade compiles the package in a folder, and plays every failure on its lock, twice. root
// is the repository. The error is one of the machine's, or of the folder's.
func Grade(ctx context.Context, root, dir string, asked Grading) (card Card, err error) {
	pkg, err := FindPackage(ctx, dir)
	if err != nil {
		return card, err
	}
	card.Dir = pkg.Dir
	task, err := asked.task()
	if err != nil {
		return card, err
	}
	asked.tell(compiling.Args())
	program, err := BuildPackage(ctx, root, pkg)
	if errors.As(err, &card.Compile) {
		return card, nil
	}
	if err != nil {
		return card, err
	}
	defer program.Close()
	asked.tell(playingAll.Args("n", len(failures.All)))
	if err := card.play(ctx, program, pkg.Files, task); err != nil || card.Cause != nil {
		return card, err
	}
	again, err := program.Judge(ctx, pkg.Files, task)
	if err != nil {
		return card, err
	}
	card.compare(again)
	if asked.Search {
		asked.tell(searching.Args())
		task.Stuck = 0 // a schedule may take the usual time
		searched, err := program.Search(ctx, pkg.Files, task)
		if err != nil {
			return card, err
		}
		card.Found, card.Cause = searched.Found, searched.Cause
	}
	return card, nil
}

func (g Grading) task() (task judge.Task, err error) {
	task.Leaks, task.Stuck, task.Lang = true, stuckAtFirst, g.Lang
	known := features()
	for _, name := range g.Has {
		if !slices.Contains(known, name) {
			return task, hasNothing.Args("name", strconv.Quote(name), "names", strings.Join(known, ", "))
		}
		task.Has = append(task.Has, failures.Feature(name))
	}
	for _, f := range failures.All {
		if g.Traces {
			task.Draw = append(task.Draw, f.ID)
		}
	}
	return task, nil
}

// features are what a failure may be about, in the order of the catalogue.
func features() (known []string) {
	for _, f := range failures.All {
		for _, need := range f.Needs {
			if !slices.Contains(known, string(need)) {
				known = append(known, string(need))
			}
		}
	}
	return known
}

// play plays every failure. One that ruins its run is noted, and the others are played
// without it.
func (card *Card) play(ctx context.Context, program *Program, files Files, task judge.Task) error {
	ruined := map[string]*judge.Cause{}
	var report Report
	for begun := time.Now(); ; {
		var err error
		if report, err = program.Judge(ctx, files, task); err != nil {
			return err
		}
		card.Printed = report.Printed
		if report.Cause == nil {
			break
		}
		if card.Cause == nil {
			card.Cause = report.Cause
		}
		id := report.Cause.During
		_, isFailure := failures.Find(id)
		if id == i18n.Text(judge.SharedObject).Localize(task.Lang) {
			id, isFailure = judge.SharedObject, true // the object need not be shared to be judged
		}
		if !isFailure || report.Cause.IsLeft() || ruined[id] != nil || time.Since(begun) > longestGrading {
			break
		}
		ruined[id] = report.Cause
		task.Skip, task.Stuck = append(task.Skip, id), stuckAgain
	}
	var broken []failures.Verdict
	for _, f := range failures.All {
		if v := report.Verdict(f.ID); v.Failure != "" {
			card.Cells = append(card.Cells, Cell{Verdict: v})
			if c := (failures.Verdict{Failure: f, Findings: v.Findings}); v.Letter == string(failures.Broken) {
				broken = append(broken, c)
			}
		} else if ruined[f.ID] != nil {
			card.Cells = append(card.Cells, Cell{Verdict: judge.Verdict{Failure: f.ID, Outcome: ruined[f.ID].Kind}, Ruined: ruined[f.ID]})
		}
	}
	card.Causes = failures.Causes(broken)
	return nil
}

// compare notes the cells that another run says other things of.
func (card *Card) compare(again Report) {
	for i := range card.Cells {
		c := &card.Cells[i]
		if now := again.Verdict(c.Failure).Outcome; now != c.Outcome {
			c.Again = now
		}
	}
}

// Count says how many cells there are of each kind, in the order in which they come.
func (card Card) Count(l i18n.Language) string {
	count := map[string]int{}
	var kinds []string
	for _, c := range card.Cells {
		if count[c.Outcome]++; count[c.Outcome] == 1 {
			kinds = append(kinds, c.Outcome)
		}
	}
	counts := i18n.Message{}
	for i, kind := range kinds {
		say := countsMore
		if i == 0 {
			say = countsOne
		}
		counts = say.Args("counts", counts, "kind", i18n.Text(kind), "n", count[kind])
	}
	return playedAll.Localize(l, "n", len(card.Cells), "counts", counts)
}

// Shows is what the lock has, as its runs show, and nobody has said: it was not asked about that.
func (card Card) Shows() (shown []string) {
	for _, c := range card.Cells {
		for _, f := range c.Verdict.Shows {
			if !slices.Contains(shown, string(f)) {
				shown = append(shown, string(f))
			}
		}
	}
	slices.Sort(shown)
	return shown
}

// Golden is the card as a file for comparison: a line for each failure.
func (card Card) Golden() string {
	var b strings.Builder
	for _, c := range card.Cells {
		fmt.Fprintf(&b, "%s: %s\n", c.Failure, c.golden())
	}
	return b.String()
}

// golden is the cell's outcome, and whether it flips.
func (c Cell) golden() string {
	if c.Again != "" {
		return c.Outcome + or + c.Again
	}
	return c.Outcome
}

// or stands in a golden file between the outcomes of a cell that flips.
const or = " or "

// outcome is that of a golden file, to be said.
func outcome(golden string) i18n.Message {
	first, other, flips := strings.Cut(golden, or)
	if flips {
		return eitherOf.Args("outcome", i18n.Text(first), "other", i18n.Text(other))
	}
	return i18n.Text(first).Args()
}

// Differences are the lines in which the card is not what the file says.
func (card Card) Differences(golden string, l i18n.Language) (lines []string) {
	want := map[string]string{}
	for line := range strings.Lines(golden) {
		failure, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[failure] = outcome
	}
	for _, c := range card.Cells {
		if expected, known := want[c.Failure]; !known {
			lines = append(lines, isNew.Localize(l, "failure", c.Failure, "outcome", outcome(c.golden())))
		} else if expected != c.golden() {
			lines = append(lines, isOther.Localize(l, "failure", c.Failure, "outcome", outcome(c.golden()), "expected", outcome(expected), "what", c.Told(l)))
		}
		delete(want, c.Failure)
	}
	for failure := range want {
		if failure != "" {
			lines = append(lines, wasNot.Localize(l, "failure", failure))
		}
	}
	slices.Sort(lines)
	return lines
}
