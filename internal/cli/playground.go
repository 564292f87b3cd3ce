package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockkata/internal/playground/build"
	"lockkata/internal/theatre"
)

// buildEngine builds the playground's engine in the background, and says so. A page can
// be shown meanwhile: what asks for the engine waits.
func (a *app) buildEngine(ctx context.Context) (runner string, engine func(context.Context) ([]byte, error)) {
	if !a.builds {
		return "", nil
	}
	runner, err := build.Runner(ctx, ".")
	if err != nil {
		fmt.Fprintf(a.err, "no playground: %v\n", err)
		return "", nil
	}
	var packed []byte
	done := make(chan struct{})
	begun := time.Now()
	go func() {
		defer close(done)
		if packed, err = build.Wasm(ctx, ".", a.sources); err == nil && ctx.Err() == nil {
			a.note("the playground is built, in %v: %.1f MB", time.Since(begun).Round(100*time.Millisecond), float64(len(packed))/1e6)
		} else if ctx.Err() == nil {
			a.note("no playground: %v", err)
		}
	}()
	return runner, func(asked context.Context) ([]byte, error) {
		select {
		case <-done:
			return packed, err
		case <-asked.Done():
			return nil, asked.Err()
		}
	}
}

// saying guards what is said in the background.
var saying sync.Mutex

// note says something that happened in the background.
func (a *app) note(format string, args ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Fprintf(a.err, format+"\n", args...)
}

// engineBeside is an engine that a page asks for.
func engineBeside(runner string) theatre.Engine {
	if runner == "" {
		return theatre.Engine{}
	}
	return theatre.Engine{Runner: runner, File: theatre.EngineFile}
}
