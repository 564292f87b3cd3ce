//go:build js && wasm

// Command wasm is the playground in a web worker: it waits for requests and posts their
// answers. Its build gives it the locks' sources, and locks that can be edited.
package main

import (
	"encoding/json"
	"io/fs"
	"log"
	"sync/atomic"
	"syscall/js"
	"testing"
	"testing/fstest"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/playground"
	"lockkata/internal/playground/interpreter"
)

// What the build's own file sets.
var (
	sources fs.FS = fstest.MapFS{}
	force   func(i int)
)

// often is how long a long request works before it looks for messages. It costs some
// milliseconds to look.
const often = 100 * time.Millisecond

// beat is how often a sign is given while something is done. None comes from code that lets
// nobody else run.
const beat = 500 * time.Millisecond

func main() {
	world.Main(func(t *testing.T, _ []string) int {
		requests := make(chan string, 1)
		var stopped, working, resting atomic.Bool
		js.Global().Set("ask", js.FuncOf(func(_ js.Value, args []js.Value) any {
			requests <- args[0].String()
			return nil
		}))
		js.Global().Set("stop", js.FuncOf(func(js.Value, []js.Value) any {
			stopped.Store(true)
			return nil
		}))
		post := js.Global().Get("post")
		engine := playground.New(t, sources, force)
		js.Global().Set("idle", js.FuncOf(func(js.Value, []js.Value) any {
			if working.Load() && !resting.Load() { // nothing runs, and something is to be done
				post.Invoke("hangs", string(engine.Stuck()))
			}
			return nil
		}))
		go func() {
			for ; ; time.Sleep(beat) {
				if working.Load() {
					post.Invoke("beat", string(engine.Sign()))
				}
			}
		}()
		log.SetOutput(&interpreter.Printed)
		post.Invoke("ready", "{}")
		for request := range requests {
			stopped.Store(false)
			working.Store(true)
			told := time.Now()
			answer := engine.Answer([]byte(request), func(p playground.Progress) bool {
				isDue := time.Since(told) >= often
				if isDue || p.Failure != "" {
					raw, _ := json.Marshal(p) // numbers, and a name
					post.Invoke("progress", string(raw))
				}
				if isDue {
					resting.Store(true)
					time.Sleep(time.Millisecond) // outside every bubble: the browser's messages come in
					resting.Store(false)
					told = time.Now()
				}
				return stopped.Load()
			})
			working.Store(false)
			if text := interpreter.Printed.Take(); text != "" {
				post.Invoke("printed", text)
			}
			post.Invoke("answer", string(answer))
		}
		return 0
	})
}
