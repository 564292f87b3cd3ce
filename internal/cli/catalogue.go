package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/incidents"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

var (
	catalogueTitle = i18n.New("The failures")
	catalogueIntro = []i18n.Text{
		i18n.New("Every way in which this repository breaks a Redis lock: {n} failures, by family. `go run . show FAILURE` draws any of them: " +
			"what A, B and C do, what Redis holds, and which rule is broken. Those that tell the story of the " +
			"[stages](../README.md#the-stages) have their pictures here, on the last stage that breaks and on the first that " +
			"doesn't. Time goes down, and what A, B and C hold is A1, B1 and C1."),
		i18n.New("The signs: ✗ broken; ✓ safe in this run; ◐ noticed: the lock is lost, and its owner is told by the first " +
			"renewal that Redis answers, within a third and a sixth of the lease, at the latest when the lease ends (until then two may be inside); " +
			"~ not by this lock: no lock over one server prevents it, and the entry says who can. A stage that isn't named has nothing to do with the failure."),
	}
	catalogueFailure = i18n.New("{story} **Fix:** {what}")
	catalogueReports = i18n.New("reports: {links}")
	pictureAlt       = i18n.New("{title}, on {stage}: {outcome}")
	rulesTitle       = i18n.New("The rules")
)

// listMarkdown prints the catalogue as a document, with a line for each paragraph: docs/failures.md.
func (a *app) listMarkdown() {
	paragraph := func(text string) { fmt.Fprint(a.out, text+"\n\n") }
	paragraph("# " + a.say(catalogueTitle))
	for _, text := range catalogueIntro {
		paragraph(a.say(text, "n", len(catalogue.Everything)))
	}
	for _, family := range families() {
		name := family[0].Family
		fmt.Fprintf(a.out, "- [%s](#%s): %d\n", capital(a.say(i18n.Text(name))), anchorOf(name), len(family))
	}
	for _, family := range families() {
		name := family[0].Family
		fmt.Fprintf(a.out, "\n<a id=%q></a>\n## %s\n", anchorOf(name), capital(a.say(i18n.Text(name))))
		for _, f := range family {
			a.catalogued(f)
		}
	}
	fmt.Fprintf(a.out, "\n## %s\n\n", a.say(rulesTitle))
	for _, r := range oracle.Rules() {
		fmt.Fprintf(a.out, "- *%s*: %s\n", a.say(i18n.Text(r)), a.say(r.Sentence()))
	}
}

// catalogued prints a failure's entry in the document.
func (a *app) catalogued(f catalogue.Failure) {
	fmt.Fprintf(a.out, "\n<a id=%q></a>\n### %s\n\n", f.ID, a.say(titled, "name", f.ID, "what", i18n.Text(f.Title)))
	fmt.Fprint(a.out, a.say(catalogueFailure, "story", i18n.Text(f.Story), "what", i18n.Text(f.Fixed)), "\n\n")
	var rules, links []string
	for _, rule := range f.Breaks {
		rules = append(rules, "*"+a.say(i18n.Text(rule))+"*")
	}
	fmt.Fprint(a.out, outcomes(f), " · ", strings.Join(rules, ", "))
	if f.PreventedBy != "" {
		fmt.Fprint(a.out, " · ", a.say(f.PreventedBy.Can(), "command", "`go run . "+f.Cure+"`"))
	}
	for _, i := range incidents.All()[f.ID] {
		links = append(links, "["+i.Source+"]("+i.Link+")")
	}
	if links != nil {
		fmt.Fprint(a.out, " · ", a.say(catalogueReports, "links", strings.Join(links, ", ")))
	}
	fmt.Fprintln(a.out)
	if !f.FirstScreen {
		return
	}
	for _, s := range beforeAndAfter(locksOf(f), f) {
		alt := a.say(pictureAlt, "title", capital(a.say(i18n.Text(f.Title))), "stage", s.NameText(), "outcome", i18n.Text(s.Expect(f).Word()))
		fmt.Fprintf(a.out, "\n![%s](pictures/%s-%s.svg)\n", alt, f.ID, s.ID)
	}
}

// outcomes returns the expected outcomes of the locks, neighbours with the same one together: 1–5 ✗, 6 ✓.
func outcomes(f catalogue.Failure) string {
	locks := slices.DeleteFunc(locksOf(f), func(s stages.Stage) bool { return s.Expect(f) == failures.NotApplicable })
	var all []string
	for from := 0; from < len(locks); {
		to := from
		for to+1 < len(locks) && locks[to+1].Expect(f) == locks[from].Expect(f) {
			to++
		}
		ids, sign := locks[from].ID, markFor(locks[from].Expect(f)).sign
		if to > from {
			ids += "–" + locks[to].ID
		}
		all = append(all, ids+" "+sign)
		from = to + 1
	}
	return strings.Join(all, ", ")
}

// anchorOf returns the anchor of a family's heading.
func anchorOf(f catalogue.Family) string { return "family-" + strings.ReplaceAll(string(f), " ", "-") }

// capital returns the text with a capital letter at its beginning.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(string(first)) + text[size:]
}
