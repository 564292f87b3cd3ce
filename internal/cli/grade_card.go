package cli

import (
	"fmt"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/kata"
	"lockkata/internal/term"
)

// What a card says around its cells.
var (
	lockIn      = i18n.New("The lock in {dir}")
	notCompiled = i18n.New("✗ it does not compile: {error}")
	isRuined    = i18n.New("✗ it {kind}: {what}")
	notKept     = i18n.New("✗ not kept: {promise}. {what}")
	notTried    = i18n.NewPlural("{n} was not tried: the lock takes too long", "{n} were not tried: the lock takes too long")
	shows       = i18n.New("→ the runs show features that nobody has named: --has {features} asks about them too")
	searched    = i18n.New("search: {property} in {env}: {what}")
	searchNone  = i18n.NewPlural("nothing up to 1 fault", "nothing up to {n} faults")
	searchCut   = i18n.New("cut short")
)

// gradeText prints the card for a person: what kept the lock from being graded to its end, what any
// lock does and this one does not, the causes, and a line for each failure.
func (a *app) gradeText(card kata.Card) {
	a.heading(term.Bold, a.say(lockIn, "dir", card.Dir))
	if card.Compile != nil {
		a.heading(term.Red, a.say(notCompiled, "error", card.Compile))
	}
	for _, c := range card.Ends() {
		a.heading(term.Red, a.say(isRuined, "kind", i18n.Text(c.Kind), "what", c.Text))
		a.heading("", c.Next.Localize(a.lang))
	}
	for _, b := range card.Broken {
		a.heading(term.Red, a.say(notKept, "promise", b.Title, "what", b.Text))
		a.heading("", b.Advice)
	}
	for _, cause := range card.Causes {
		a.item("  "+a.signOf(failures.Broken)+" ", cause.Localize(a.lang))
	}
	a.gradeCells(card)
	for _, found := range card.Found {
		what := searchNone.Of(found.Bound)
		switch {
		case found.Found:
			what = i18n.Text(found.Text).Args()
		case found.Bound < 0:
			what = searchCut.Args()
		}
		a.item("  ", a.say(searched, "property", found.Property, "env", found.Env, "what", what))
	}
}

// gradeCells prints a line for each failure, below its family, and how many there are of each kind.
func (a *app) gradeCells(card kata.Card) {
	if len(card.Cells) == 0 {
		return
	}
	var family failures.Family
	width, count := 0, map[failures.Outcome]int{}
	for _, c := range card.Cells {
		width = max(width, len(c.Failure))
		count[c.Of()]++
	}
	for _, c := range card.Cells {
		if f, _ := failures.Find(c.Failure); f.Family != family {
			family = f.Family
			fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Bold, a.say(i18n.Text(family))))
		}
		a.item(fmt.Sprintf("  %s %-*s  ", a.signOf(c.Of()), width, c.Failure), c.Told(a.lang))
	}
	fmt.Fprintln(a.out)
	a.printCounts(count)
	if left := len(failures.All) - len(card.Cells); left > 0 {
		a.item("  ", notTried.Of(left).Localize(a.lang))
	}
	if shown := card.Shows(); len(shown) > 0 {
		a.item("  ", a.say(shows, "features", strings.Join(shown, ",")))
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
