package docs_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Every link leads to a file of the repository, and to an anchor that it has, or
// to a public address. The network is not asked.
func TestLinksLead(t *testing.T) {
	all := append(documents(t), read(t, folders)...)
	var problems []string
	for _, d := range all {
		problems = append(problems, linkProblems(d, all, exists)...)
	}
	requireNone(t, problems)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

func linkProblems(d *document, all []*document, exists func(string) bool) (problems []string) {
	complain := func(l link, format string, args ...any) {
		problems = append(problems, d.at(l.line)+fmt.Sprintf(format, args...))
	}
	for _, l := range d.links {
		u, err := url.Parse(l.text)
		switch {
		case err != nil:
			complain(l, "%q is no address", l.text)
		case l.image && strings.TrimSpace(l.alt) == "":
			complain(l, "the picture %s has no text for who cannot see it", l.text)
		case u.Scheme != "" && l.image:
			complain(l, "the picture %s is not in the repository", l.text)
		case u.Scheme != "":
			if u.Scheme != "https" || !strings.Contains(u.Host, ".") {
				complain(l, "%s: an address outside the repository is https://host/…", l.text)
			}
		default:
			name := d.name
			if u.Path != "" {
				name = d.fromRoot(u.Path)
			}
			switch {
			case strings.HasPrefix(u.Path, "/") || strings.HasPrefix(name, ".."):
				complain(l, "%s leaves the repository", l.text)
			case !exists(name):
				complain(l, "there is no %s", name)
			case u.Fragment != "" && !hasAnchor(all, name, u.Fragment):
				complain(l, "%s has no anchor #%s", name, u.Fragment)
			}
		}
	}
	return problems
}

func hasAnchor(all []*document, name, anchor string) bool {
	for _, d := range all {
		if d.name == name {
			return d.targets()[anchor]
		}
	}
	return false
}

// targets are the anchors of a document: those of its headings, and its own.
func (d *document) targets() map[string]bool {
	targets := map[string]bool{}
	for _, h := range d.headings {
		slug := slug(h.text)
		unique := slug
		for n := 1; targets[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", slug, n)
		}
		targets[unique] = true
	}
	for _, a := range d.anchors {
		targets[a.text] = true
	}
	return targets
}

// slug is the anchor that GitHub gives a heading.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(text))
}

func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	there := parse("docs/there.md", "# What is it?\n\n<a id=\"own\"></a>\n## 看门狗：续期 1/3\n\n## 看门狗：续期 1/3\n")
	exists := func(name string) bool { return strings.HasPrefix(name, "docs/") && !strings.Contains(name, "gone") }
	for text, problem := range map[string]string{
		"[a](there.md) [b](../docs/there.md#own) [c](https://redis.io/docs)": "",
		"[a](there.md#what-is-it) [b](there.md#看门狗续期-13-1)":                  "",
		"# Here\n\n[a](#here)":                "",
		"![the dog](dog.svg)":                 "",
		"[a](gone.md)":                        "docs/x.md:1: there is no docs/gone.md",
		"line\n\n[a](there.md#nowhere)":       "docs/x.md:3: docs/there.md has no anchor #nowhere",
		"[a](there.md#看门狗续期-13-2)":            "docs/x.md:1: docs/there.md has no anchor #看门狗续期-13-2",
		"[a](#here)":                          "docs/x.md:1: docs/x.md has no anchor #here",
		"![the dog](gone.svg)":                "docs/x.md:1: there is no docs/gone.svg",
		"![](dog.svg)":                        "docs/x.md:1: the picture dog.svg has no text for who cannot see it",
		"![dog](https://example.com/dog.svg)": "docs/x.md:1: the picture https://example.com/dog.svg is not in the repository",
		"[a](../../outside)":                  "docs/x.md:1: ../../outside leaves the repository",
		"[a](/etc/passwd)":                    "docs/x.md:1: /etc/passwd leaves the repository",
		"[a](http://redis.io)":                "docs/x.md:1: http://redis.io: an address outside the repository is https://host/…",
		"[a](https://redis)":                  "docs/x.md:1: https://redis: an address outside the repository is https://host/…",
		"<img alt=\"x\" src=\"gone.svg\">":    "docs/x.md:1: there is no docs/gone.svg",
		"http://redis.io":                     "docs/x.md:1: http://redis.io: an address outside the repository is https://host/…",
	} {
		d := parse("docs/x.md", text)
		require.Equal(t, problem, strings.Join(linkProblems(d, []*document{d, there}, exists), "\n"), text)
	}
}
