// Package docs_test tests the documents: their blocks show what the commands print, their
// commands work, their links lead somewhere, and the Chinese documents have the same structure
// as the English ones. No test starts a process.
// "go generate ./docs" writes what the commands print into the documents.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository's folder.
var root = os.DirFS("..")

// document is a parsed Markdown document. Each part knows its line, counted from 1.
type document struct {
	name     string // from the root of the repository
	text     string
	lines    []string
	headings []heading
	anchors  []part // <a id="…">
	links    []link
	spans    []part // `code` in the text
	prose    string // the text, with code blanked out
	fences   []fence
}

type part struct {
	line int
	text string
}

type heading struct {
	part
	level int
}

type link struct {
	part  // where it leads
	alt   string
	image bool
}

// fence is a ``` block; end is its last line.
type fence struct {
	part
	end      int
	language string
}

// at formats a place in the document, for an error.
func (d *document) at(line int) string { return fmt.Sprintf("%s:%d: ", d.name, line) }

// documents are the Markdown documents of the repository, without those of folders that
// test their own.
var documents = sync.OnceValue(func() []*document {
	return read("README.md", "stage*/README.md", "docs/*.md", "docs/interview/*.md", "docs/zh-CN/*.md", "docs/zh-CN/interview/*.md")
})

func read(patterns ...string) (all []*document) {
	for _, pattern := range patterns {
		names, err := fs.Glob(root, pattern)
		if err != nil || names == nil {
			panic(fmt.Sprint("there is no ", pattern, err))
		}
		for _, name := range names {
			raw, err := fs.ReadFile(root, name)
			if err != nil {
				panic(err)
			}
			all = append(all, parse(name, string(raw)))
		}
	}
	return all
}

// requireNone fails the test with the problems of all documents, a line each.
func requireNone(t *testing.T, problems []string) {
	t.Helper()
	require.Empty(t, strings.Join(problems, "\n"))
}

// documentNamed returns the document of that name, which must exist.
func documentNamed(t *testing.T, name string) *document {
	t.Helper()
	d := named(documents(), name)
	require.NotNil(t, d, "there is no "+name)
	return d
}

// named returns the document of that name, or nil.
func named(all []*document, name string) *document {
	for _, d := range all {
		if d.name == name {
			return d
		}
	}
	return nil
}

var (
	opening    = regexp.MustCompile("^ *(```+)([a-z]*)")
	codeSpan   = regexp.MustCompile("`((?:[^`\n]|\n[^`\n])+)`")
	lineEnd    = regexp.MustCompile(`\s*\n\s*`)
	title      = regexp.MustCompile(`(?m)^(#+) (.*)$`)
	linked     = regexp.MustCompile(`(!?)\[([^\[\]]*)\]\(([^()\s]+)\)`)
	referred   = regexp.MustCompile(`\]\[([^\]]+)\]`)
	definition = regexp.MustCompile(`(?m)^\[([^\]]+)\]: (\S+)$`)
	attribute  = regexp.MustCompile(`\b(id|href|src)="([^"]*)"`)
)

func parse(name, text string) *document {
	d := &document{name: name, text: text, lines: strings.Split(text, "\n")}
	prose := d.takeFences()
	for _, m := range codeSpan.FindAllStringSubmatchIndex(prose, -1) {
		code := lineEnd.ReplaceAllString(prose[m[2]:m[3]], " ")
		d.spans = append(d.spans, part{lineAt(prose, m[0]), strings.ReplaceAll(code, `\|`, "|")})
	}
	d.prose = codeSpan.ReplaceAllStringFunc(prose, crossOut)
	d.takeLinks()
	for _, m := range title.FindAllStringSubmatchIndex(d.prose, -1) {
		text := linked.ReplaceAllString(prose[m[4]:m[5]], "$2")
		d.headings = append(d.headings, heading{part{lineAt(prose, m[0]), strings.NewReplacer("`", "", "*", "").Replace(text)}, m[3] - m[2]})
	}
	return d
}

// takeFences parses the code blocks and returns the text without their lines.
func (d *document) takeFences() string {
	rest := append([]string{}, d.lines...)
	for i := 0; i < len(rest); i++ {
		m := opening.FindStringSubmatch(rest[i])
		if m == nil {
			continue
		}
		from := i
		for i++; i < len(rest)-1 && strings.TrimSpace(rest[i]) != m[1]; i++ {
		}
		d.fences = append(d.fences, fence{part{from + 1, strings.Join(rest[from+1:i], "\n") + "\n"}, i + 1, m[2]})
		for n := from; n <= i && n < len(rest); n++ {
			rest[n] = ""
		}
	}
	return strings.Join(rest, "\n")
}

func (d *document) takeLinks() {
	defined := map[string]bool{}
	for _, m := range definition.FindAllStringSubmatchIndex(d.prose, -1) {
		defined[d.prose[m[2]:m[3]]] = true
		d.links = append(d.links, link{part: part{lineAt(d.prose, m[0]), d.prose[m[4]:m[5]]}})
	}
	for _, m := range linked.FindAllStringSubmatchIndex(d.prose, -1) {
		d.links = append(d.links, link{part{lineAt(d.prose, m[6]), d.prose[m[6]:m[7]]}, d.prose[m[4]:m[5]], m[3] > m[2]})
	}
	for _, m := range referred.FindAllStringSubmatchIndex(d.prose, -1) {
		if name := d.prose[m[2]:m[3]]; !defined[name] {
			d.links = append(d.links, link{part: part{lineAt(d.prose, m[0]), "[" + name + "]"}})
		}
	}
	for _, m := range attribute.FindAllStringSubmatchIndex(d.prose, -1) {
		found := part{lineAt(d.prose, m[0]), d.prose[m[4]:m[5]]}
		if kind := d.prose[m[2]:m[3]]; kind == "id" {
			d.anchors = append(d.anchors, found)
		} else {
			d.links = append(d.links, link{found, "in HTML", kind == "src"})
		}
	}
}

// crossOut returns text of the same length, on the same lines, without meaning.
func crossOut(code string) string {
	bytes := []byte(code)
	for i := range bytes {
		if bytes[i] != '\n' {
			bytes[i] = 'x'
		}
	}
	return string(bytes)
}

// has reports whether the repository has a file or folder of that name.
func has(name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

func lineAt(text string, offset int) int { return 1 + strings.Count(text[:offset], "\n") }

// fromRoot returns the path to which a link of the document leads, from the repository's root.
func (d *document) fromRoot(target string) string { return path.Join(path.Dir(d.name), target) }

// section returns the number of the heading above a line.
func (d *document) section(line int) int {
	n := 0
	for n < len(d.headings) && d.headings[n].line <= line {
		n++
	}
	return n
}

var columns = regexp.MustCompile(`^\|[-:| ]+\|$`)

// A blank line in a table ends it: the rows below it would be shown as text.
func TestTablesHaveAHead(t *testing.T) {
	var problems []string
	for _, d := range documents() {
		lines := strings.Split(d.prose, "\n")
		for i, line := range lines[:len(lines)-1] {
			begins := strings.HasPrefix(line, "|") && (i == 0 || !strings.HasPrefix(lines[i-1], "|"))
			if begins && !columns.MatchString(lines[i+1]) {
				problems = append(problems, d.at(i+1)+"a table without a head")
			}
		}
	}
	requireNone(t, problems)
}
