package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockkata/internal/playground/build"
	"lockkata/internal/texts"
	"lockkata/internal/theatre"
)

var (
	isBuilding   = texts.New("building the playground: a minute or two the first time, seconds after that")
	isBuilt      = texts.New("the playground is built, in {time}: {size} MB")
	noPlayground = texts.New("no playground: {error}")
)

// buildEngine builds the playground's engine in the background, and says so. A page can
// be shown meanwhile: what asks for the engine waits.
func (a *app) buildEngine(ctx context.Context) (runner string, engine func(context.Context) ([]byte, error)) {
	if !a.builds {
		return "", nil
	}
	runner, err := build.Runner(ctx, ".")
	if err != nil {
		a.note(noPlayground, "error", err)
		return "", nil
	}
	var packed []byte
	done := make(chan struct{})
	begun := time.Now()
	go func() {
		defer close(done)
		if packed, err = build.Wasm(ctx, ".", a.sources); err == nil && ctx.Err() == nil {
			a.note(isBuilt, "time", time.Since(begun).Round(100*time.Millisecond), "size", fmt.Sprintf("%.1f", float64(len(packed))/1e6))
		} else if ctx.Err() == nil {
			a.note(noPlayground, "error", err)
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
func (a *app) note(t texts.Text, pairs ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Fprintln(a.err, a.say(t, pairs...))
}

// engineBeside is an engine that a page asks for.
func engineBeside(runner string) theatre.Engine {
	if runner == "" {
		return theatre.Engine{}
	}
	return theatre.Engine{Runner: runner, File: theatre.EngineFile}
}
