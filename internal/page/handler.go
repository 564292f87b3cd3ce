package page

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strconv"
	"time"
)

// EngineFile is where a served page asks for its engine.
const EngineFile = "engine.wasm.gz"

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
		_, _ = w.Write(packed) // a client that has left needs no answer
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
