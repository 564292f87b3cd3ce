package apart

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/internal/i18n"
)

// Grading is the arguments of grade.
type Grading struct {
	Has  []string // features of a lock without a Subject
	Only []string // the failures to play, each with its trace; none: all
	Lang i18n.Language
	Say  func(i18n.Message) // gets the progress
}

// Card is the result of all failures on a lock.
type Card struct {
	Dir    string `json:"dir,omitempty"`
	Worker string `json:"worker,omitempty"` // its command
	Server string `json:"server,omitempty"` // on which a worker was played
	Report
	Cells  []failures.Cell  `json:"cells"`
	Causes []failures.Cause `json:"causes,omitempty"` // of the failures that break the lock
}

// SentAt adds the line of the lock to what happened.
var SentAt = i18n.New("{what} ({line})")

// Texts of a card about a failure.
var (
	compiling   = i18n.New("compiling your lock")
	playedTwice = i18n.New("playing each failure twice")
	againOther  = i18n.New("{what} (played again, it is {outcome}: the lock, or its library, decides by chance)")
	eitherOf    = i18n.New("{outcome} or {other}")
	isNew       = i18n.New("{failure} is {outcome}, but is not in the file")
	isOther     = i18n.New("{failure} is {outcome}, not {expected}: {what}")
	wasNot      = i18n.New("{failure} is in the file but was not played")
	hasNothing  = i18n.New("--has {name}: no failure is about that; there are: {names}")
)

// Summary returns what happened, in one line, with the line of the lock.
func Summary(c failures.Cell, l i18n.Language) string {
	what := i18n.Text(c.SentenceIn(l)).Args()
	switch {
	case c.Outcome == failures.Limit:
		what = c.Failure.PreventedBy.Can().Args("command", "go run . "+c.Failure.Cure)
	case c.Line != "":
		what = SentAt.Args("what", what, "line", path.Base(c.Line))
	}
	if c.Again != "" {
		what = againOther.Args("what", what, "outcome", i18n.Text(c.Again))
	}
	return what.Localize(l)
}

// Grade compiles the package in a folder, and plays every failure on its lock twice. root is the
// repository's folder. An error is about the machine or the folder.
func Grade(ctx context.Context, root, dir string, g Grading) (card Card, err error) {
	pkg, err := FindPackage(ctx, dir)
	if err != nil {
		return card, err
	}
	card.Dir = pkg.Dir
	has, err := g.features()
	if err != nil {
		return card, err
	}
	g.Say(compiling.Args())
	bench, err := BuildPackage(ctx, root, pkg, has)
	if errors.As(err, &card.Compile) {
		return card, nil
	}
	if err != nil {
		return card, err
	}
	defer bench.Close()
	bench.Lang = g.Lang
	g.Say(playedTwice.Args())
	order := g.order()
	if card.Report, err = bench.Judge(ctx, order); err != nil {
		return card, err
	}
	order.Failures = nil
	for _, c := range card.Verdicts { // a lock that ruined one run would ruin the second one too
		if c.Outcome != failures.NotApplicable && (c.Cause == nil || c.Cause.IsLeft()) {
			order.Failures = append(order.Failures, c.Failure.ID)
		}
	}
	again, err := bench.Judge(ctx, order)
	if err != nil {
		return card, err
	}
	card.fill(again)
	return card, nil
}

// order returns what to play.
func (g Grading) order() Order {
	if g.Only != nil {
		return Order{Failures: g.Only, Draw: g.Only}
	}
	o := OrderOf(nil)
	for _, f := range catalogue.OfServers {
		o.Failures = append(o.Failures, f.ID)
	}
	return o
}

// Ends returns why the lock could not be judged to the end: the first cause of each kind.
func (card Card) Ends() (causes []*guard.Cause) {
	all := []*guard.Cause{card.Cause}
	for _, c := range card.Cells {
		all = append(all, c.Cause)
	}
	for _, c := range all {
		if c != nil && !slices.ContainsFunc(causes, func(other *guard.Cause) bool { return other.Kind == c.Kind }) {
			causes = append(causes, c)
		}
	}
	return causes
}

// features returns the features that the caller names.
func (g Grading) features() (has []failures.Feature, err error) {
	known := features()
	for _, name := range g.Has {
		if !slices.Contains(known, name) {
			return nil, hasNothing.Args("name", strconv.Quote(name), "names", strings.Join(known, ", "))
		}
		has = append(has, failures.Feature(name))
	}
	return has, nil
}

// features lists the features that failures are about, in the order of the catalogue.
func features() (known []string) {
	for _, f := range catalogue.All {
		for _, need := range f.Needs {
			if !slices.Contains(known, string(need)) {
				known = append(known, string(need))
			}
		}
	}
	return known
}

// fill adds the cells of the first run, and notes where the second run has another result.
func (card *Card) fill(again Report) {
	var broken []failures.Verdict
	for _, c := range card.Verdicts {
		if other := again.Verdict(c.Failure.ID); other.Failure.ID != "" && other.Outcome != c.Outcome {
			c.Again = other.Outcome.String()
		}
		card.Cells = append(card.Cells, c)
		if c.Outcome == failures.Broken {
			broken = append(broken, c.Verdict)
		}
	}
	card.Verdicts, card.Causes = nil, failures.Causes(broken)
}

// Left returns the number of failures that were not tried.
func (card Card) Left() int { return card.Asked - len(card.Cells) }

// BreaksBasic reports whether a basic failure breaks the lock, so that the rest was not asked.
func (card Card) BreaksBasic() bool { return BreakBasic(card.Cells, nil) }

// Shows returns the features that the runs show but the grader was not told of, so that their failures were not played.
func (card Card) Shows() (shown []string) {
	for _, c := range card.Cells {
		for _, f := range c.Shows {
			if !slices.Contains(shown, string(f)) {
				shown = append(shown, string(f))
			}
		}
	}
	slices.Sort(shown)
	return shown
}

// Golden returns the card as a file for comparison: a line for each failure.
func (card Card) Golden() string {
	var b strings.Builder
	for _, c := range card.Cells {
		fmt.Fprintf(&b, "%s: %s\n", c.Failure.ID, golden(c))
	}
	return b.String()
}

// golden returns the outcome, or both outcomes if they differ.
func golden(c failures.Cell) string {
	if c.Again != "" {
		return c.Outcome.String() + or + c.Again
	}
	return c.Outcome.String()
}

// accepts reports whether a file, which may have two outcomes of a lock that decides by chance, has those of a cell.
func accepts(expected string, c failures.Cell) bool {
	some := strings.Split(expected, or)
	return !slices.ContainsFunc(strings.Split(golden(c), or), func(outcome string) bool { return !slices.Contains(some, outcome) })
}

// or separates two outcomes of a failure in a golden file.
const or = " or "

// outcome returns an outcome of a golden file as a message.
func outcome(text string) i18n.Message {
	first, other, flips := strings.Cut(text, or)
	if flips {
		return eitherOf.Args("outcome", i18n.Text(first), "other", i18n.Text(other))
	}
	return i18n.Text(first).Args()
}

// Differences returns the lines in which the card differs from the file. With only, other failures in the file need not
// be on the card.
func (card Card) Differences(file string, only []string, l i18n.Language) (lines []string) {
	want := map[string]string{}
	for line := range strings.Lines(file) {
		failure, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[failure] = outcome
	}
	for _, c := range card.Cells {
		if expected, known := want[c.Failure.ID]; !known {
			lines = append(lines, isNew.Localize(l, "failure", c.Failure.ID, "outcome", outcome(golden(c))))
		} else if !accepts(expected, c) {
			lines = append(lines, isOther.Localize(l, "failure", c.Failure.ID, "outcome", outcome(golden(c)), "expected", outcome(expected), "what", Summary(c, l)))
		}
		delete(want, c.Failure.ID)
	}
	for failure := range want {
		if isAsked := only == nil || slices.Contains(only, failure); failure != "" && isAsked {
			lines = append(lines, wasNot.Localize(l, "failure", failure))
		}
	}
	slices.Sort(lines)
	return lines
}
