package interpreter

import (
	"context"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"unsafe"
)

// forgetEvery is after how many runs the channels of old ones are forgotten.
const forgetEvery = 1000

// enterRun begins to count channels as those of the run that this goroutine is in.
func (p *program) enterRun() {
	run := bubble()
	if p.run.Swap(run)/forgetEvery != run/forgetEvery {
		p.channels.Range(func(ch, made any) bool {
			if made != uint64(0) {
				p.channels.Delete(ch)
			}
			return true
		})
	}
}

// made remembers in which run a channel was made, and keeps the channel, so that no other one
// gets its address.
func (p *program) made(ch reflect.Value) reflect.Value {
	p.channels.Store(ch.UnsafePointer(), p.run.Load())
	return ch
}

// ours is a channel that the lock uses. One of another run would end the process: each run is
// a bubble of synctest. One that was made before all runs may be used in each.
func (f *frame) ours(ch reflect.Value) reflect.Value {
	if ch.IsValid() && !ch.IsNil() && !f.thread.program.isOurs(ch) {
		f.stop(otherRun.With())
	}
	return ch
}

// ended is the channel of every context that had ended before anybody asked for its channel.
var ended = func() unsafe.Pointer {
	ctx, end := context.WithCancel(context.Background())
	end()
	return reflect.ValueOf(ctx.Done()).UnsafePointer()
}()

func (p *program) isOurs(v reflect.Value) bool {
	if v.UnsafePointer() == ended {
		return true
	}
	run := p.run.Load()
	made, _ := p.channels.LoadOrStore(v.UnsafePointer(), run)
	return made == run || made == uint64(0)
}

var waitGroup = reflect.TypeFor[*sync.WaitGroup]()

// groups is told of a call of a WaitGroup: it belongs to the run that adds to it, until somebody
// has waited. One in a variable of the package is nobody's, but only in a compiled lock.
func (f *frame) groups(method string, group reflect.Value) {
	switch p := f.thread.program; {
	case group.IsNil():
	case method == "Wait":
		p.channels.Delete(group.UnsafePointer())
	case !p.isOurs(group):
		f.stop(beyond.With("what", sharedGroup))
	}
}

var inBubble = regexp.MustCompile(`^goroutine \d+ \[[^\]]*synctest bubble (\d+)`)

// bubble is the number of the bubble of synctest that this goroutine is in, 0 in none.
func bubble() (n uint64) {
	var buf [80]byte
	if found := inBubble.FindSubmatch(buf[:runtime.Stack(buf[:], false)]); found != nil {
		n, _ = strconv.ParseUint(string(found[1]), 10, 64) // digits, says the pattern
	}
	return n
}
