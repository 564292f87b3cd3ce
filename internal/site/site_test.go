package site_test

import (
	"compress/gzip"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lockkata/internal/site"
)

var (
	address = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	target  = regexp.MustCompile(`id="([^"]*)"`)
)

// A host has nothing but the site: each link of each page leads to a page of it, and to an
// anchor that this one has.
func TestEveryLinkLeadsInsideTheSite(t *testing.T) {
	s, err := site.New(os.DirFS("../.."))
	require.NoError(t, err)
	pages := map[string]string{}
	for _, name := range s.Names() {
		pages[name] = string(s.Content(name))
	}
	require.Contains(t, pages, "index.html")
	require.Contains(t, pages, "docs/zh-CN/index.html")
	require.Contains(t, pages, "docs/workshop.html")
	for name, text := range pages {
		if path.Ext(name) != ".html" || name == "docs/theatre.html" {
			continue
		}
		require.NotContains(t, text, "<script", name)
		for _, found := range address.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
			require.NoError(t, err, name)
			if u.Scheme != "" {
				continue
			}
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			require.Contains(t, pages, to, "%s links to %s", name, found[1])
			if u.Fragment != "" && to != "docs/theatre.html" {
				require.Contains(t, target.FindAllString(pages[to], -1), `id="`+u.Fragment+`"`, "%s links to %s", name, found[1])
			}
		}
	}
}

func TestSiteIsWrittenPlainAndCompressed(t *testing.T) {
	s, err := site.New(fstest.MapFS{
		"README.md":            {Data: []byte("# One\n\n[the code](lock.go), ![a picture](a.svg), [a folder](in)\n\n## Two `it`\n")},
		"docs/zh-CN/README.md": {Data: []byte("# 一\n\n[一步](../theatre.html#late-unlock/3)\n")},
		"docs/theatre.html":    {Data: []byte("<html>")},
		"lock.go":              {Data: []byte("package lock // <b>\n")},
		"a.svg":                {Data: []byte("<svg/>")},
		"in/x.go":              {Data: []byte("package in\n")},
	})
	require.NoError(t, err)
	folder := t.TempDir()
	require.NoError(t, s.Write(folder))
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	require.NoError(t, err)
	for _, has := range []string{
		`<html lang="en">`, `<title>One</title>`, `href="lock.go.html"`, `src="a.svg"`, `href="in/index.html"`, `id="two-it"`, `href="docs/zh-CN/index.html"`,
		`href="docs/theatre.html">theatre`,
	} {
		require.Contains(t, string(page), has)
	}
	chinese, err := os.ReadFile(filepath.Join(folder, "docs", "zh-CN", "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(chinese), `<html lang="zh-CN">`)
	require.Contains(t, string(chinese), `href="../../index.html">English`)
	require.Contains(t, string(chinese), `href="../theatre.html?lang=zh">放映厅`, "the page speaks Chinese, too")
	require.Contains(t, string(chinese), `href="../theatre.html?lang=zh#late-unlock/3"`)
	code, err := os.ReadFile(filepath.Join(folder, "lock.go.html"))
	require.NoError(t, err)
	require.Contains(t, string(code), "package lock // &lt;b&gt;")
	packed, err := os.Open(filepath.Join(folder, "index.html.gz"))
	require.NoError(t, err)
	defer func() { _ = packed.Close() }()
	plain, err := gzip.NewReader(packed)
	require.NoError(t, err)
	unpacked, err := io.ReadAll(plain)
	require.NoError(t, err)
	require.Equal(t, page, unpacked)
}
