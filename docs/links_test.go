package docs_test

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/lesson"
	"lockkata/internal/stages"
)

// A link leads to an existing file and anchor of the repository, or to a public address, which
// is not fetched.
func TestLinksLead(t *testing.T) {
	all := documents()
	var problems []string
	for _, d := range all {
		for _, l := range d.links {
			if problem := linkProblem(d, l, all); problem != "" {
				problems = append(problems, d.at(l.line)+problem)
			}
		}
	}
	requireNone(t, problems)
}

// linkProblem returns what is wrong with a link; "" if it is right.
func linkProblem(d *document, l link, all []*document) string {
	u, err := url.Parse(l.text)
	if err != nil {
		return fmt.Sprintf("%q is no address", l.text)
	}
	name := d.name
	if u.Path != "" {
		name = d.fromRoot(u.Path)
	}
	switch {
	case l.image && strings.TrimSpace(l.alt) == "":
		return "the picture " + l.text + " has no text for who cannot see it"
	case u.Scheme != "" && l.image:
		return "the picture " + l.text + " is not in the repository"
	case u.Scheme != "" && (u.Scheme != "https" || !strings.Contains(u.Host, ".")):
		return l.text + ": an address outside the repository is https://host/…"
	case u.Scheme != "":
		return ""
	case strings.HasPrefix(u.Path, "/") || strings.HasPrefix(name, ".."):
		return l.text + " leaves the repository"
	case !has(name):
		return "there is no " + name
	}
	if name == "docs/index.html" && u.Fragment != "" {
		if !isInPage(u.Fragment) {
			return name + " does not show #" + u.Fragment
		}
		return ""
	}
	if there := named(all, name); u.Fragment != "" && (there == nil || !there.targets()[u.Fragment]) {
		return name + " has no anchor #" + u.Fragment
	}
	return ""
}

// isInPage reports whether the page has a place: a question of the lesson (learn/3/2), or a run (late-unlock/3).
func isInPage(place string) bool {
	id, at, _ := strings.Cut(place, "/")
	if id == "learn" {
		chapter, part, _ := strings.Cut(at, "/")
		c, err := strconv.Atoi(chapter)
		p, err2 := strconv.Atoi(cmp.Or(part, "1"))
		return err == nil && err2 == nil && c >= 0 && c < len(lesson.Chapters) && p >= 1 && p <= len(lesson.Chapters[c].Parts)
	}
	f, known := catalogue.Find(id)
	i := slices.IndexFunc(stages.Public(), func(s stages.Stage) bool { return s.ID == at })
	return known && i >= 0 && stages.Public()[i].Expect(f) != failures.NotApplicable
}

// targets returns the anchors of a document: of its headings, and those written as <a id>.
func (d *document) targets() map[string]bool {
	targets := map[string]bool{}
	for _, h := range d.headings {
		first := slug(h.text)
		unique := first
		for n := 1; targets[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", first, n)
		}
		targets[unique] = true
	}
	for _, a := range d.anchors {
		targets[a.text] = true
	}
	return targets
}

// slug is the anchor that GitHub gives a heading.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}
