package page

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"time"
)

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
