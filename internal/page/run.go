package page

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

var (
	//go:embed player.js
	playerScript string
	//go:embed picture.js
	pictureScript string
	//go:embed code.js
	codeScript string
	//go:embed stepper.js
	stepperScript string
	//go:embed player.css
	playerStyle string
	//go:embed run.html.tmpl
	runText string

	stepScript = playerScript + pictureScript + codeScript + stepperScript // the classes Player and Stepper, which step through runs
	stepTexts  = i18n.OfScript(stepScript)                                 // its texts

	runPage = template.Must(template.New("run").Parse(runText))
)

// Run returns a page about one verdict's run. It makes no requests. The reader steps through the
// run and sees the keys in Redis and the lines of the lock that the clients run.
func Run(v failures.Verdict, title string, code stages.Code, in i18n.Language) (string, error) {
	cell := engine.CellOf(v, code, in)
	data, err := script(map[string]any{"cell": cell, "files": code.Files, "dictionary": i18n.Dictionary(in, stepTexts...)})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = runPage.Execute(&b, map[string]any{
		"Title": title, "Verdict": cell.Verdict, "Text": timeline.Text(v.Trace, v.Findings, timeline.Options{Width: 110, Language: in}),
		"Policy": ownScript, "Lang": in.Tag(), "Style": template.CSS(playerStyle), "Script": template.JS(stepScript), "Data": data,
	})
	return string(allowScript(b.Bytes())), err
}

// script returns a value as JSON for a script element. No text in it can end the element.
func script(value any) (template.JS, error) {
	raw, err := json.Marshal(value) // which writes <, > and & as \u003c, \u003e and \u0026
	return template.JS(raw), err
}

// searchFor returns the command that finds the shortest schedule with which a stage breaks the
// same rule. It returns "" if that search finds none, if the failure is about wrong use, or if no
// property is about the rule.
func searchFor(v failures.Verdict, c stages.Stage) string {
	if v.Outcome != failures.Broken && v.Outcome != failures.Limit || v.Failure.Family == catalogue.Usage {
		return ""
	}
	for _, p := range schedule.Properties {
		isBroken := slices.ContainsFunc(p.Breaks, func(m oracle.Rule) bool {
			return slices.Contains(v.Failure.Breaks, m) && oracle.Violates(v.Findings, m)
		})
		if !isBroken || p.Guard != v.Failure.Guard {
			continue
		}
		for _, q := range schedule.Suite {
			if slices.Contains(q.Properties, p.Name) && strings.Contains(c.Search(p.Name, q.Env), "/") {
				return fmt.Sprintf("go run . explore --stage %s --property %s", c.ID, p.Name)
			}
		}
	}
	return ""
}

// EngineFile is the address from which a served page loads its engine.
const EngineFile = "engine.wasm.gz"

// Handler serves a page at / for GET and HEAD, and its engine at [EngineFile]. engine waits until
// the engine is built; nil means that the page has no engine.
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

// serveEngine serves the engine once it is built.
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
		_, _ = w.Write(packed) // a closed connection is not an error
	}
}

// Serve serves requests on a listener until the context ends.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		_ = server.Close()
	}
	<-ended
	return nil
}
