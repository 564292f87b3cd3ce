// Package docs_test tests the documents: that what they show is what the commands
// print (blocks), that their commands run (commands, try, program), that what they name
// and link exists (names, links, terms), that the questions are whole (interview), that
// the workshop's minutes add up, and that the Chinese documents keep in step (parity).
// "go generate ./docs" writes what the commands print into them.
package docs_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const root = ".."

// patterns name the Markdown documents of the repository, but for those of folders that
// test them themselves.
var (
	patterns = []string{"README.md", "stage*/README.md", "docs/*.md", "docs/zh-CN/*.md"}
	folders  = []string{"failures_test/*/README.md"}
)

// document is a Markdown document, taken apart. Every part knows its line.
type document struct {
	name     string // from the root of the repository
	text     string
	headings []heading
	anchors  []part // <a id="…">
	links    []link
	spans    []span  // `code` in the text
	prose    []part  // text that is no code
	fences   []fence // ``` blocks, and indented ones
	tables   []table
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

type span struct {
	part
	after string // what follows it in its line
	block string // the paragraph, or the row of a table, that it stands in
}

type fence struct {
	part
	language string
}

type table struct {
	line   int
	header []string
	rows   []row
}

type row struct {
	line  int
	cells []string
}

// at is how a problem names a place in the document.
func (d *document) at(line int) string { return fmt.Sprintf("%s:%d: ", d.name, line) }

// documents are all that readers are led to.
func documents(t *testing.T) []*document {
	t.Helper()
	all := read(t, patterns)
	require.Greater(t, len(all), 8, "the documents are gone")
	return all
}

func read(t *testing.T, patterns []string) (all []*document) {
	t.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, name := range names {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			relative, err := filepath.Rel(root, name)
			require.NoError(t, err)
			all = append(all, parse(filepath.ToSlash(relative), string(raw)))
		}
	}
	return all
}

// requireNone fails with the problems of whatever documents, a line each.
func requireNone(t *testing.T, problems []string) {
	t.Helper()
	require.Empty(t, strings.Join(problems, "\n"))
}

// documentNamed is one that has to be there.
func documentNamed(t *testing.T, name string) *document {
	t.Helper()
	for _, d := range documents(t) {
		if d.name == name {
			return d
		}
	}
	require.Fail(t, "there is no "+name)
	return nil
}

// reader takes a document apart.
type reader struct {
	*document
	source []byte
}

func parse(name, content string) *document {
	r := &reader{&document{name: name, text: content}, []byte(content)}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(r.source))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			r.take(n)
		}
		return ast.WalkContinue, nil
	})
	return r.document
}

func (r *reader) take(n ast.Node) {
	here := r.line(r.near(n))
	switch n := n.(type) {
	case *ast.Heading:
		r.headings = append(r.headings, heading{part{here, r.plain(n)}, n.Level})
	case *ast.FencedCodeBlock:
		r.fences = append(r.fences, fence{part{here, string(n.Lines().Value(r.source))}, string(n.Language(r.source))})
	case *ast.CodeBlock:
		r.fences = append(r.fences, fence{part: part{here, string(n.Lines().Value(r.source))}})
	case *ast.CodeSpan:
		r.spans = append(r.spans, span{part{here, strings.ReplaceAll(r.plain(n), "\n", " ")}, r.after(n), r.block(n)})
	case *ast.Link:
		r.links = append(r.links, link{part: part{here, string(n.Destination)}, alt: r.plain(n)})
	case *ast.Image:
		r.links = append(r.links, link{part{here, string(n.Destination)}, r.plain(n), true})
	case *ast.AutoLink:
		r.links = append(r.links, link{part: part{here, string(n.URL(r.source))}, alt: "its address"})
	case *ast.RawHTML:
		r.html(here, string(n.Segments.Value(r.source)))
	case *ast.HTMLBlock:
		r.html(here, string(n.Lines().Value(r.source)))
	case *ast.Text:
		if _, code := n.Parent().(*ast.CodeSpan); !code {
			r.prose = append(r.prose, part{here, string(n.Value(r.source))})
		}
	case *tables.Table:
		r.tables = append(r.tables, r.table(n))
	}
}

var attribute = regexp.MustCompile(`\b(id|href|src|srcset)="([^"]*)"`)

// html takes anchors and links from a tag.
func (r *reader) html(line int, tag string) {
	for _, found := range attribute.FindAllStringSubmatch(tag, -1) {
		if found[1] == "id" {
			r.anchors = append(r.anchors, part{line, found[2]})
		} else {
			r.links = append(r.links, link{part{line, found[2]}, "in HTML", found[1] != "href"})
		}
	}
}

func (r *reader) table(n *tables.Table) table {
	t := table{line: r.line(r.near(n))}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		var cells []string
		for cell := child.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.plain(cell))
		}
		if _, header := child.(*tables.TableHeader); header {
			t.header = cells
		} else {
			t.rows = append(t.rows, row{r.line(r.near(child)), cells})
		}
	}
	return t
}

// plain is a node's text without its marks.
func (r *reader) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if text, ok := n.(*ast.Text); ok && entering {
			b.Write(text.Value(r.source))
			if text.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// offset is where a node's text begins; -1: it has none.
func (r *reader) offset(n ast.Node) int {
	switch n := n.(type) {
	case *ast.Text:
		return n.Segment.Start
	case *ast.RawHTML:
		return n.Segments.At(0).Start
	case *ast.FencedCodeBlock:
		if n.Lines().Len() > 0 {
			return n.Lines().At(0).Start - 1 // the line with the fence
		}
	}
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if at := r.offset(child); at >= 0 {
			return at
		}
	}
	if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start
	}
	return -1
}

// near is the offset of a node, or of what it stands in if it has no text.
func (r *reader) near(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if at := r.offset(n); at >= 0 {
			return at
		}
	}
	return 0
}

func (r *reader) line(offset int) int {
	return 1 + strings.Count(r.text[:offset], "\n")
}

// block is the source of the paragraph, or of the row of a table, around a node.
func (r *reader) block(n ast.Node) string {
	for up := n.Parent(); up != nil; up = up.Parent() {
		if _, cell := up.(*tables.TableCell); cell {
			return strings.Split(r.text, "\n")[r.line(r.near(n))-1]
		}
		if up.Type() == ast.TypeBlock && up.Lines().Len() > 0 {
			return string(up.Lines().Value(r.source))
		}
	}
	return ""
}

// after is what follows code in its line.
func (r *reader) after(n *ast.CodeSpan) string {
	end, ok := n.LastChild().(*ast.Text)
	if !ok {
		return ""
	}
	rest, _, _ := strings.Cut(r.text[end.Segment.Stop:], "\n")
	return strings.TrimLeft(rest, "`")
}

// fromRoot is where a link of the document leads, from the root of the repository.
func (d *document) fromRoot(target string) string { return path.Join(path.Dir(d.name), target) }

// section is the number of the heading that a line stands under.
func (d *document) section(line int) int {
	n := 0
	for n < len(d.headings) && d.headings[n].line <= line {
		n++
	}
	return n
}
