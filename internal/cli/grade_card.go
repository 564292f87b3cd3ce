package cli

import (
	"fmt"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/kata"
	"lockkata/internal/term"
)

// What a card says around its cells.
var (
	lockIn       = i18n.New("The lock in {dir}")
	notCompiled  = i18n.New("✗ it does not compile: {error}")
	isRuined     = i18n.New("✗ it {kind}: {what}")
	notKept      = i18n.New("✗ not kept: {promise}. {what}")
	notTried     = i18n.NewPlural("{n} was not tried: the lock takes too long", "{n} were not tried: the lock takes too long")
	shows        = i18n.New("→ the runs show features that nobody has named: --has {features} asks about them too")
	searchFound  = i18n.New("search: {property} in {env}: {what}")
	searchNone   = i18n.New("search: {property} in {env}: nothing up to cost {bound}")
	searchCut    = i18n.New("search: {property} in {env}: cut short")
	cardOutcomes = []struct { // in the order in which they are explained
		failures.Outcome
		means i18n.Text
	}{
		{failures.Broken, i18n.New("broken")},
		{failures.Safe, i18n.New("safe in this one run")},
		{failures.Noticed, i18n.New("noticed: the holder is told in time")},
		{failures.Inherent, i18n.New("unavoidable: no lock that expires can prevent this")},
		{failures.NotTested, i18n.New("not tested: what the failure is about did not happen")},
		{failures.NotPlayed, i18n.New("not played to the end")},
		{failures.NotApplicable, i18n.New("not applicable: --has says what a lock has")},
	}
)

// gradeText prints the card for a person.
func (a *app) gradeText(card kata.Card) {
	a.lines(a.painted(term.Bold, a.say(lockIn, "dir", card.Dir)))
	a.gradeEnd(card)
	for _, cause := range card.Causes {
		a.item("  "+a.signOf(failures.Broken)+" ", cause.Localize(a.lang))
	}
	a.gradeCells(card.Cells)
	if len(card.Cells) > 0 {
		fmt.Fprintln(a.out)
		a.item("  ", card.Count(a.lang))
		if left := len(failures.All) - len(card.Cells); left > 0 {
			a.item("  ", notTried.Of(left).Localize(a.lang))
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

// gradeEnd says what kept the lock from being graded to its end, and what any lock does and this
// one does not.
func (a *app) gradeEnd(card kata.Card) {
	if card.Compile != nil {
		a.lines(a.painted(term.Red, a.say(notCompiled, "error", card.Compile)))
	}
	for _, c := range card.Ends() {
		a.lines(a.painted(term.Red, a.say(isRuined, "kind", i18n.Text(c.Kind), "what", c.Text)))
		a.lines(term.Wrap(c.Next.Localize(a.lang), a.width))
	}
	for _, b := range card.Broken {
		a.lines(a.painted(term.Red, a.say(notKept, "promise", b.Title, "what", b.Text)))
		a.lines(term.Wrap(b.Advice, a.width))
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
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, a.say(i18n.Text(family))))
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
		fmt.Fprintf(a.out, "| `%s` | %s | %s |\n", c.Failure, a.signOf(c.Of()), strings.ReplaceAll(c.Told(i18n.English), "|", "\\|"))
	}
	fmt.Fprintf(a.out, "\n%s\n", card.Count(i18n.English))
	for _, cause := range card.Causes {
		fmt.Fprintf(a.out, "- %s\n", cause.Localize(i18n.English))
	}
	if c := card.Cause; c != nil {
		fmt.Fprintf(a.out, "\nIt %s: %s\n", c.Kind, c.Text)
	}
	for _, b := range card.Broken {
		fmt.Fprintf(a.out, "\nNot kept: %s. %s\n", b.Title, b.Text)
	}
}
