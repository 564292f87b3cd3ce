package cli

import (
	"fmt"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/internal/kata"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

// What a card says around its cells.
var (
	lockIn       = texts.New("The lock in {dir}")
	notCompiled  = texts.New("✗ it does not compile: {error}")
	isRuined     = texts.New("✗ it {kind}, in {during}: {what}")
	isRuinedNow  = texts.New("✗ it {kind}: {what}")
	notTried     = texts.NewPlural("{n} was not tried, since the lock ruins its runs", "{n} were not tried, since the lock ruins its runs")
	shows        = texts.New("→ the runs show features that nobody has named: --has {features} asks about them too")
	searchFound  = texts.New("search: {property} in {env}: {what}")
	searchNone   = texts.New("search: {property} in {env}: nothing up to cost {bound}")
	searchCut    = texts.New("search: {property} in {env}: cut short")
	cardOutcomes = []struct { // in the order in which they are explained
		failures.Outcome
		means texts.Text
	}{
		{failures.Broken, texts.New("broken")},
		{failures.Safe, texts.New("safe in this one run")},
		{failures.Noticed, texts.New("noticed: the holder is told in time")},
		{failures.Inherent, texts.New("unavoidable: no lock that expires can prevent this")},
		{failures.NotTold, texts.New("not tested: what the failure is about did not happen")},
		{failures.NotPlayed, texts.New("not played to the end")},
		{failures.NotApplicable, texts.New("not applicable: --has says what a lock has")},
	}
)

// gradeText prints the card for a person.
func (a *app) gradeText(card kata.Card) {
	a.lines(a.painted(term.Bold, a.say(lockIn, "dir", card.Dir)))
	a.gradeEnd(card)
	for _, cause := range card.Causes {
		a.item("  "+a.signOf(failures.Broken)+" ", cause.In(a.lang))
	}
	a.gradeCells(card.Cells)
	if len(card.Cells) > 0 {
		fmt.Fprintln(a.out)
		a.item("  ", card.Count(a.lang))
		if left := len(failures.All) - len(card.Cells); left > 0 {
			a.item("  ", notTried.Of(left).In(a.lang))
		}
		a.gradeLegend(card.Cells)
		if shown := card.Shows(); len(shown) > 0 {
			a.item("  ", a.say(shows, "features", strings.Join(shown, ",")))
		}
	}
	for _, found := range card.Found {
		say := searchNone
		switch {
		case found.Found:
			say = searchFound
		case found.Bound < 0:
			say = searchCut
		}
		a.item("  ", a.say(say, "property", found.Property, "env", found.Env, "what", found.Text, "bound", found.Bound))
	}
}

// gradeEnd says what kept the lock from being graded to its end.
func (a *app) gradeEnd(card kata.Card) {
	if card.Compile != nil {
		a.lines(a.painted(term.Red, a.say(notCompiled, "error", card.Compile)))
	}
	if c := card.Cause; c != nil {
		ruined := isRuined
		if c.During == "" { // it has ended between two runs
			ruined = isRuinedNow
		}
		a.lines(a.painted(term.Red, a.say(ruined, "kind", texts.Text(c.Kind), "during", c.During, "what", c.Text)))
		a.lines(term.Wrap(c.Next.In(a.lang), a.width))
	}
}

// gradeCells prints a line for each failure, below its family.
func (a *app) gradeCells(cells []kata.Cell) {
	var family failures.Family
	width := 0
	for _, c := range cells {
		width = max(width, len(c.Failure))
	}
	for _, c := range cells {
		if f, _ := failures.Find(c.Failure); f.Family != family {
			family = f.Family
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, a.say(texts.Text(family))))
		}
		a.item(fmt.Sprintf("  %s %-*s  ", a.signOf(c.Of()), width, c.Failure), c.Told(a.lang))
	}
}

// gradeLegend explains the signs that are on the card.
func (a *app) gradeLegend(cells []kata.Cell) {
	for _, o := range cardOutcomes {
		if slices.ContainsFunc(cells, func(c kata.Cell) bool { return c.Of() == o.Outcome }) {
			a.item("  "+a.signOf(o.Outcome)+" ", a.say(o.means))
		}
	}
}

// gradeMarkdown prints the card as a table for a document, in English.
func (a *app) gradeMarkdown(card kata.Card) {
	fmt.Fprint(a.out, "| failure | | what happened |\n|---|---|---|\n")
	for _, c := range card.Cells {
		fmt.Fprintf(a.out, "| `%s` | %s | %s |\n", c.Failure, a.signOf(c.Of()), strings.ReplaceAll(c.Told(texts.English), "|", "\\|"))
	}
	fmt.Fprintf(a.out, "\n%s\n", card.Count(texts.English))
	for _, cause := range card.Causes {
		fmt.Fprintf(a.out, "- %s\n", cause.In(texts.English))
	}
	if c := card.Cause; c != nil {
		fmt.Fprintf(a.out, "\nIt %s, in %s: %s\n", c.Kind, c.During, c.Text)
	}
}
