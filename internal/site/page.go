package site

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"lockkata/internal/texts"
)

var theatreName = texts.New("theatre")

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	style string

	page = template.Must(template.New("page").Parse(pageText))
	// The documents are our own: they may have HTML in them.
	markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))
)

// Slug is the anchor that GitHub gives a heading.
func Slug(heading string) string {
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

// anchors are those of a page's headings.
type anchors map[string]int

// Generate makes the anchor of the next heading.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	slug := Slug(strings.NewReplacer("`", "", "*", "").Replace(string(heading)))
	n := a[slug]
	a[slug]++
	if n > 0 {
		slug = fmt.Sprintf("%s-%d", slug, n)
	}
	return []byte(slug)
}

// Put notes an anchor that is given by hand.
func (a anchors) Put([]byte) {}

// document makes the page of a document.
func (s *Site) document(name, to string, raw []byte) error {
	doc := markdown.Parser().Parse(text.NewReader(raw), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	title := path.Base(name)
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 1 {
				title = strings.TrimSpace(string(n.Lines().Value(raw)))
			}
		case *ast.Link:
			n.Destination = []byte(s.link(name, string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(s.link(name, string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, raw, doc); err != nil {
		return err
	}
	s.files[to], err = s.page(name, to, title, template.HTML(body.String()))
	return err
}

// link is where a link of a document leads in the site, from the document's own place.
func (s *Site) link(from, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Path == "" {
		return address
	}
	target := path.Join(path.Dir(from), u.Path)
	if _, err := fs.Stat(s.sources, target); err != nil {
		return address // a test of the documents tells of it
	}
	u.Path = relative(s.place(from), s.want(target))
	if target == theatre && languageOf(from) == texts.Chinese {
		u.RawQuery = inChinese
	}
	return u.String()
}

// theatre is the page that speaks both languages: a link may say which.
const (
	theatre   = "docs/theatre.html"
	chinese   = "docs/zh-CN/"
	inChinese = "lang=" + string(texts.Chinese)
)

// languageOf is the language of a document.
func languageOf(name string) texts.Language {
	if strings.HasPrefix(name, chinese) {
		return texts.Chinese
	}
	return texts.English
}

// relative is the way from one page to another.
func relative(from, to string) string {
	way, err := filepath.Rel(filepath.FromSlash(path.Dir(from)), filepath.FromSlash(to))
	if err != nil {
		return to // both are inside
	}
	return filepath.ToSlash(way)
}

// code is the page of a file that is no document.
func (s *Site) code(name, to, content string) []byte {
	text, err := s.page(name, to, name, template.HTML("<h1>"+template.HTMLEscapeString(name)+"</h1>\n<pre><code>"+
		template.HTMLEscapeString(content)+"</code></pre>"))
	if err != nil {
		panic("site: a page of code is always a page: " + err.Error())
	}
	return text
}

// list makes the page of a folder that has no document of its own.
func (s *Site) list(name, to string) error {
	all, err := fs.ReadDir(s.sources, name)
	if err != nil {
		return err
	}
	body := "<h1>" + template.HTMLEscapeString(name) + "</h1>\n<ul>\n"
	for _, f := range all {
		if ext := path.Ext(f.Name()); !f.IsDir() && (ext == ".go" || ext == ".lua" || ext == ".md") {
			link := relative(to, s.want(path.Join(name, f.Name())))
			body += fmt.Sprintf("<li><a href=%q>%s</a></li>\n", link, template.HTMLEscapeString(f.Name()))
		}
	}
	s.files[to], err = s.page(name, to, name, template.HTML(body+"</ul>"))
	return err
}

// page puts what a page has to say between what all pages have.
func (s *Site) page(name, to, title string, body template.HTML) ([]byte, error) {
	lang, twin, says := languageOf(name), path.Join(path.Dir(name), "zh-CN", path.Base(name)), "中文"
	if name == "README.md" {
		twin = "docs/zh-CN/README.md"
	}
	if in, ok := strings.CutPrefix(name, chinese); ok {
		twin, says = path.Join("docs", in), "English"
		if in == "README.md" {
			twin = in
		}
	}
	links := map[string]string{"Home": relative(to, "index.html"), "Theatre": relative(to, theatre), "Name": theatreName.In(lang)}
	if lang == texts.Chinese {
		links["Theatre"] += "?" + inChinese
	}
	if _, err := fs.Stat(s.sources, twin); err == nil && twin != name {
		links["Twin"], links["Says"] = relative(to, s.want(twin)), says
	}
	var b bytes.Buffer
	err := page.Execute(&b, map[string]any{"Lang": lang.Tag(), "Title": title, "Style": template.CSS(style), "Body": body, "Links": links})
	return b.Bytes(), err
}
