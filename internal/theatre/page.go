// Package theatre makes a page that shows every failure on every stage, step by
// step: what Redis holds, who is inside, and which line of the lock each client
// runs. The page is one file that asks no host for anything.
package theatre

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/texts"
)

// Title is the page's.
const Title = "A Redis lock, stage by stage, and what breaks it"

var (
	//go:embed theatre.html.tmpl
	pageText string
	//go:embed theatre.css
	style string
	//go:embed theatre.js
	script string
	//go:embed language.js
	languageScript string
)

// pageScript is the page's own, and pageTexts what it says besides its player.
var (
	pageScript = languageScript + engineScript + playScript + breakScript + script
	pageTexts  = texts.OfScript(pageScript)
)

var page = template.Must(template.New("theatre").Parse(pageText))

// Page is the theatre of these verdicts on the columns: a row for each failure. sources is
// the repository's own folder. With an engine its runs can be taken over. The same verdicts,
// sources and engine give the same bytes.
func Page(of []columns.Column, rows [][]failures.Verdict, sources fs.FS, engine Engine) ([]byte, error) {
	var all [2]content // in each language
	for i, l := range texts.Languages {
		var err error
		if all[i], err = collect(of, rows, sources, l); err != nil {
			return nil, err
		}
		if engine.isThere() {
			all[i].playable(l)
		}
	}
	said, _, err := dictionaries(all[0], all[1])
	if err != nil {
		return nil, err
	}
	made, packed, err := engine.parts()
	if err != nil {
		return nil, err
	}
	all[0].Texts = fold(all[0].Failures)
	data, err := timeline.JSON(all[0])
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{
		"Title": Title, "NoScript": noScripts(), "Policy": engine.policy(),
		"Data": template.JS(data), "Dictionaries": template.JS(said), "Engine": made, "Packed": packed,
		"Style": template.CSS(timeline.PlayerStyle + style + playStyle), "Script": template.JS(timeline.PlayerScript + pageScript),
	})
	return b.Bytes(), err
}

// Handler serves a page at / to those who GET or HEAD it, its engine beside it, and nothing
// else. engine waits until there is one; nil is none.
func Handler(page []byte, engine func(context.Context) ([]byte, error)) http.Handler {
	made := time.Now()
	mux := http.NewServeMux()
	if engine != nil {
		mux.HandleFunc("GET /"+EngineFile, serveEngine(engine))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", made, bytes.NewReader(page))
	})
	return mux
}
