// Package page makes the page that shows every failure on every stage, step by step: what
// Redis holds, who is inside, and which line of the lock each client runs. With an engine its
// runs can be taken over, and its locks played, broken and searched. The page asks no other
// host for anything.
package page

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"strconv"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Title is the page's.
const Title = "A Redis lock, stage by stage, and what breaks it"

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed play.css
	playStyle string
	//go:embed language.js
	languageScript string
	//go:embed engine.js
	engineScript string
	//go:embed play.js
	playScript string
	//go:embed break.js
	breakScript string
	//go:embed page.js
	mainScript string
	//go:embed worker.js
	workerScript string

	pageScript = languageScript + engineScript + playScript + breakScript + mainScript
	pageTexts  = i18n.OfScript(pageScript) // what it says besides stepTexts

	wholePage = template.Must(template.New("page").Parse(pageText))
)

// Engine is the engine as a page gets it: either the page asks for a file beside it, or has it
// inside. Without both it has none.
type Engine struct {
	Runner string // the JavaScript that runs Go's WebAssembly
	File   string // the address of the engine, compressed by gzip
	Packed []byte // the engine itself, compressed by gzip
}

// isThere reports whether the page has an engine.
func (e Engine) isThere() bool { return e.File != "" || e.Packed != nil }

// policy is what the page may do: ask no other host for anything, and start the engine.
func (e Engine) policy() string {
	policy := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'"
	if e.isThere() {
		policy += " 'wasm-unsafe-eval'; worker-src blob:"
	}
	if e.File != "" {
		policy += "; connect-src 'self'"
	}
	return policy
}

// parts are the page's elements that hold the engine: what it is, and itself.
func (e Engine) parts() (made, packed template.JS, err error) {
	if !e.isThere() {
		return "null", "", nil
	}
	parts := map[string]string{"worker": e.Runner + "\n" + workerScript}
	if e.File != "" {
		parts["url"] = e.File
	} else {
		parts["packed"] = "packed"
		packed = template.JS(strconv.Quote(base64.StdEncoding.EncodeToString(e.Packed)))
	}
	made, err = script(parts)
	return made, packed, err
}

// Page returns the page of these verdicts on the columns: a row for each failure. sources is
// the repository's own folder. The same verdicts, sources and engine give the same bytes.
func Page(of []stages.Stage, rows [][]failures.Verdict, sources fs.FS, engine Engine) ([]byte, error) {
	var all [2]content // in each language
	for i, l := range i18n.Languages {
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
	data, err := script(all[0])
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = wholePage.Execute(&b, map[string]any{
		"Title": Title, "NoScript": noScripts(), "Policy": engine.policy(),
		"Data": data, "Dictionaries": said, "Engine": made, "Packed": packed,
		"Style": template.CSS(playerStyle + pageStyle + playStyle), "Script": template.JS(stepScript + pageScript),
	})
	return b.Bytes(), err
}
