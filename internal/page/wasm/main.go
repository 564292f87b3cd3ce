//go:build js && wasm

// Command wasm is the engine in a web worker: it waits for requests and posts the answers. Its build
// adds the locks' sources and all edits.
package main

import (
	"encoding/json"
	"io/fs"
	"sync/atomic"
	"syscall/js"
	"testing"
	"testing/fstest"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/page/engine"
)

// Variables that a generated file of the build sets.
var (
	sources fs.FS = fstest.MapFS{}
	force   func(i int)
)

// often is how often a long request looks for messages. Each look costs some milliseconds.
const often = 100 * time.Millisecond

func main() {
	world.Main(func(t *testing.T, _ []string) int {
		requests := make(chan string, 1)
		var stopped atomic.Bool
		js.Global().Set("ask", js.FuncOf(func(_ js.Value, args []js.Value) any {
			requests <- args[0].String()
			return nil
		}))
		js.Global().Set("stop", js.FuncOf(func(js.Value, []js.Value) any {
			stopped.Store(true)
			return nil
		}))
		post := js.Global().Get("post")
		locks := engine.New(t, sources, force)
		post.Invoke("ready", "{}")
		for request := range requests {
			stopped.Store(false)
			looked := time.Now()
			post.Invoke("answer", string(locks.Answer([]byte(request), func(p engine.Progress) bool {
				if time.Since(looked) >= often {
					raw, _ := json.Marshal(p) // it has only numbers
					post.Invoke("progress", string(raw))
					time.Sleep(time.Millisecond) // in real time, so that the browser can deliver messages
					looked = time.Now()
				}
				return stopped.Load()
			})))
		}
		return 0
	})
}
