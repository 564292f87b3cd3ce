package cli

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	failures "lockkata/failures_test"
	"lockkata/failures_test/incidents"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// listMarkdown prints the catalogue as a document: docs/failures.md.
func (a *app) listMarkdown() {
	fmt.Fprint(a.out, "# The failures\n\n")
	a.paragraph(fmt.Sprintf(`Every way in which this repository breaks a Redis lock, %d of them: what happens, the picture on the last
		stage that breaks and on the first that does not, the rule that judges it, the command that shows it, and
		public reports of others who met it. The stages are [six locks](../README.md#the-stages), each mending what broke the one before;
		[the walkthrough](walkthrough.md) tells them in order.`, len(failures.All)))
	a.paragraph(`The pictures are drawn from runs of the real locks. A lane for each client, one for Redis with a bar for the
		key's life; time goes down. What A, B and C hold is A1, B1 and C1. This document is made from the catalogue itself:
		` + "`go run . list --markdown`" + `.`)
	a.paragraph("As a test, with the timeline of each that shows: `go test -v -run TestFailures/late-unlock ./stage3_owner_value/...`. On a " +
		"real Redis, where that is possible: `go run . --live`.")
	a.paragraph(signLegend)
	ids, rules := headings()
	for _, family := range families() {
		fmt.Fprintf(a.out, "| [%s](#%s) |%s |\n|---|%s---|\n", family[0].Family, anchor(family[0].Family), ids, rules)
		for _, f := range family {
			fmt.Fprintf(a.out, "| [%s](#%[1]s) | %s | %s |\n", f.ID, strings.Join(signs(f), " | "), f.Title)
		}
		fmt.Fprintln(a.out)
	}
	for _, family := range families() {
		fmt.Fprintf(a.out, "<a id=\"%s\"></a>\n## %s\n\n", anchor(family[0].Family), capital(string(family[0].Family)))
		for _, f := range family {
			a.chapter(f)
		}
	}
	a.paragraph("Five failures need more than one lock name and one owner at a time; [the last stage](final-lock.md#failures-outside-the-catalogue) tests them.")
}

// signLegend explains the signs of the outcomes.
const signLegend = "The signs: ✗ broken; ✓ safe, which means not broken in this run; ◐ noticed: the hold is lost, and its owner is told " +
	"in time; ~ unavoidable: no lock that expires can prevent this; – not applicable. No stage has the others: ? not tested, since what " +
	"the failure is about did not happen; … not played to its end."

// chapter is one failure.
func (a *app) chapter(f failures.Failure) {
	fmt.Fprintf(a.out, "<a id=\"%s\"></a>\n### %[1]s: %s\n\n", f.ID, f.Title)
	a.paragraph(f.Story)
	ids, rules := headings()
	fmt.Fprintf(a.out, "| stage |%s\n|---|%s\n| outcome | %s |\n\n", ids, rules, strings.Join(signs(f), " | "))
	shown := turn(stages.Public(), f)
	for _, c := range shown {
		fmt.Fprintf(a.out, "![%s, on %s (%s): %s.](pictures/%s-%s.svg)\n\n",
			capital(f.Title), c.Name(), c.Title, c.Expect(f).Word(), f.ID, c.ID)
	}
	a.paragraph("**What helps.** " + f.Fixed)
	for _, m := range f.Breaks {
		a.paragraph(fmt.Sprintf("**The rule:** *%s*: %s", m, m.Rule()))
	}
	a.paragraph("**See it.** " + howToSee(f, shown))
	if known := incidents.All()[f.ID]; len(known) > 0 {
		fmt.Fprint(a.out, "**Public reports.**\n\n")
		for _, i := range known {
			item := documentLines(fmt.Sprintf("- [%s](%s): %s", i.Source, i.Link, i.What))
			fmt.Fprintln(a.out, strings.Join(item, "\n  "))
		}
		fmt.Fprintln(a.out)
	}
}

// howToSee names the command that plays a failure.
func howToSee(f failures.Failure, shown []stages.Stage) string {
	flags := "--stage " + shown[0].ID
	if len(shown) > 1 {
		flags = "--before-after"
	}
	text := fmt.Sprintf("`go run . show %s %s`", f.ID, flags)
	if f.Live != "" {
		return text + "; only in the controlled world: " + f.Live + "."
	}
	return text
}

// families are the failures of the catalogue, family by family.
func families() [][]failures.Failure {
	var all [][]failures.Failure
	for _, f := range failures.All {
		if n := len(all); n > 0 && all[n-1][0].Family == f.Family {
			all[n-1] = append(all[n-1], f)
		} else {
			all = append(all, []failures.Failure{f})
		}
	}
	return all
}

// headings are those of the columns in a table, and what stands below them.
func headings() (ids, rules string) {
	for _, c := range stages.Public() {
		ids += " " + c.ID + " |"
		rules += "---|"
	}
	return ids, rules
}

// signs are a failure's expected outcomes on the stages.
func signs(f failures.Failure) []string {
	var all []string
	for _, s := range stages.Public() {
		all = append(all, outcomeMarks[s.Expect(f)].sign)
	}
	return all
}

// paragraph prints prose in lines of a document's width.
func (a *app) paragraph(text string) {
	fmt.Fprintf(a.out, "%s\n\n", strings.Join(documentLines(text), "\n"))
}

// documentLines wraps prose. A command stays on one line.
func documentLines(text string) []string {
	whole := codeSpan.ReplaceAllStringFunc(text, func(code string) string { return strings.ReplaceAll(code, " ", term.NoBreak) })
	return term.Wrap(whole, documentWidth)
}

var codeSpan = regexp.MustCompile("`[^`]+`")

// documentWidth is how long the lines of documents are.
const documentWidth = 122

// anchor is the name of a family in a link.
func anchor(family failures.Family) string {
	return "family-" + strings.ReplaceAll(string(family), " ", "-")
}

// capital begins a sentence.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(string(first)) + text[size:]
}
