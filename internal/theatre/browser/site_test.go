package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"lockkata/internal/cli"
	"lockkata/internal/theatre"
)

// A host that knows of nothing but files has everything: the documents in both languages,
// the theatre, the playground, and the one file for a disk.
func TestSiteWorksOnAStaticHost(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(repository)
	require.Zero(t, cli.Run(t, os.DirFS("."), nil, t.Output(), t.Output(), "site", folder))
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)

	b := open(t, server.URL+"/", wide, high)
	require.Contains(t, b.text("h1"), "lockkata")
	require.True(t, value[bool](b, "document.images[0].naturalWidth > 0"), "its picture is there")
	b.own = append(b.own, server.URL)
	follow := func(link string) { // it waits for the next page, as a click does not
		b.do(chromedp.Navigate(value[string](b, fmt.Sprintf("document.querySelector(%q).href", link))))
	}
	follow(`nav a[href="docs/zh-CN/index.html"]`)
	require.Equal(t, "zh-CN", value[string](b, "document.documentElement.lang"))
	follow(`nav a[href="../theatre.html?lang=zh"]`)
	b.until("document.querySelector('.matrix')")
	require.Equal(t, "zh-CN", value[string](b, "document.documentElement.lang"))
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")

	for _, page := range []string{"docs/workshop.html", "docs/zh-CN/interview.html", "stage3_owner_value/mutex.go.html", "docs/failures.html"} {
		phone := open(t, server.URL+"/"+page, 360, 740)
		phone.own = append(phone.own, server.URL)
		require.LessOrEqual(t, value[int](phone, "document.scrollingElement.scrollWidth"), 360, page)
		require.NotEmpty(t, phone.text("h1"))
	}
	disk := open(t, "file://"+filepath.Join(folder, "lockkata.html"), wide, high)
	disk.click(`a[href="#break/2"]`)
	disk.until("document.querySelector('.column li')")
	for _, file := range []string{"index.html.gz", "docs/theatre.html.gz", "lockkata.html.gz", "docs/" + theatre.EngineFile} {
		require.FileExists(t, filepath.Join(folder, file))
	}
}
