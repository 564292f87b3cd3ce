// Package page makes the page that shows every failure on every stage, step by step: the keys in
// Redis, the holder of the lock, and the line of the lock that each client runs. With an engine the
// visitor can take runs over, and play, edit and search the locks. The page requests nothing from
// other hosts.
package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io/fs"
	"strconv"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/stages"
)

// Title is the title of the page.
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
	//go:embed home.js
	homeScript string
	//go:embed page.js
	mainScript string
	//go:embed worker.js
	workerScript string

	pageScript = languageScript + engineScript + playScript + breakScript + homeScript + lessonScript + mainScript
	pageTexts  = i18n.OfScript(pageScript) // its texts besides stepTexts

	wholePage = template.Must(template.New("page").Parse(pageText))
)

// Is reports whether a file's content is a page.
func Is(content []byte) bool { return bytes.Contains(content, []byte("<title>"+Title+"</title>")) }

// Engine is how the page gets its engine: it loads File or contains Packed. Without both it has no
// engine.
type Engine struct {
	Runner string // Go's JavaScript for running WebAssembly
	File   string // the address of the engine, compressed by gzip
	Size   int    // of the file; 0 if "go run . serve" is still building it
	Packed []byte // the engine itself, compressed by gzip
}

// isThere reports whether the page has an engine.
func (e Engine) isThere() bool { return e.File != "" || e.Packed != nil }

// policy returns the page's security policy: no script but its own, no requests to other hosts, and
// WebAssembly if there is an engine.
func (e Engine) policy() string {
	policy := ownScript
	if e.isThere() {
		policy += " 'wasm-unsafe-eval'; worker-src blob:"
	}
	if e.File != "" {
		policy += "; connect-src 'self'"
	}
	return policy
}

// parts returns the contents of the page's two elements for the engine: where it is, and the engine itself.
func (e Engine) parts() (made, packed template.JS, err error) {
	if !e.isThere() {
		return "null", "", nil
	}
	parts := map[string]any{"worker": e.Runner + "\n" + workerScript}
	if e.File != "" {
		parts["url"], parts["size"] = e.File, e.Size
	} else {
		parts["packed"] = "packed"
		packed = template.JS(strconv.Quote(base64.StdEncoding.EncodeToString(e.Packed)))
	}
	made, err = script(parts)
	return made, packed, err
}

// Shown is what a page shows.
type Shown struct {
	Stages []stages.Stage
	Rows   [][]failures.Verdict // a row for each failure, with a verdict on each stage
	IsPart bool                 // some failures have no row
	Others []Other              // other locks, if any
	Lesson [][]*lesson.Played   // the chapters, if any
}

// Page returns a page. sources is the repository's root. The same arguments give the same bytes.
func Page(shown Shown, sources fs.FS, engine Engine) ([]byte, error) {
	var all [2]content // one for each language
	for i, l := range i18n.Languages {
		var err error
		if all[i], err = collect(shown, sources, l); err != nil {
			return nil, err
		}
		if all[i].Lesson, err = lessonOf(shown.Lesson, sources, l); err != nil {
			return nil, err
		}
		if len(shown.Lesson) > 0 {
			if all[i].Prompts, err = promptsOf(sources, l); err != nil {
				return nil, err
			}
		}
		if engine.isThere() {
			all[i].playable(l)
		}
	}
	translations, err := dictionaries(all[0], all[1])
	if err != nil {
		return nil, err
	}
	made, packed, err := engine.parts()
	if err != nil {
		return nil, err
	}
	all[0].fold()
	data, err := script(all[0])
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = wholePage.Execute(&b, map[string]any{
		"Title": Title, "NoScript": noScripts(), "Policy": engine.policy(),
		"Data": data, "Dictionaries": translations, "Engine": made, "Packed": packed,
		"Style": template.CSS(playerStyle + pageStyle + playStyle), "Script": template.JS(stepScript + pageScript),
	})
	return allowScript(b.Bytes()), err
}

// scriptHash stands in a page's policy for the hash of its script.
const scriptHash = "SHA256-OF-SCRIPT"

const ownScript = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + scriptHash + "'"

// allowScript puts the hash of a page's only script, which is its last element of that kind, into its policy.
func allowScript(page []byte) []byte {
	script := page[bytes.LastIndex(page, []byte("<script>"))+len("<script>") : bytes.LastIndex(page, []byte("</script>"))]
	hash := sha256.Sum256(script)
	return bytes.Replace(page, []byte(scriptHash), []byte(base64.StdEncoding.EncodeToString(hash[:])), 1)
}
