package theatre

import (
	"context"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"

	"lockkata/failures_test/timeline"
)

var (
	//go:embed engine.js
	engineScript string
	//go:embed play.js
	playScript string
	//go:embed break.js
	breakScript string
	//go:embed play.css
	playStyle string
	//go:embed worker.js
	workerScript string
)

// Engine is the playground's engine as a page gets it: either it asks for a file beside the
// page, or has it inside. Without both the page has none.
type Engine struct {
	Runner string // the JavaScript that runs Go's WebAssembly
	File   string // the address of the engine, compressed by gzip
	Packed []byte // the engine itself, compressed by gzip
}

// isThere tells whether the page has an engine.
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
	page := map[string]string{"worker": e.Runner + "\n" + workerScript}
	if e.File != "" {
		page["url"] = e.File
	} else {
		page["packed"] = "packed"
		packed = template.JS(strconv.Quote(base64.StdEncoding.EncodeToString(e.Packed)))
	}
	text, err := timeline.JSON(page)
	return template.JS(text), packed, err
}

// EngineFile is where a served page asks for its engine.
const EngineFile = "playground.wasm.gz"

// serveEngine answers with the engine, as soon as it is there.
func serveEngine(engine func(context.Context) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		packed, err := engine(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/gzip")
		h.Set("Content-Length", strconv.Itoa(len(packed)))
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(packed) // who has left needs no answer
	}
}
