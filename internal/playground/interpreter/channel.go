package interpreter

import (
	"reflect"
	"regexp"
	"runtime"
	"strconv"
)

// forgetEvery is after how many runs the channels of old ones are forgotten.
const forgetEvery = 1000

// enterRun begins to count channels as those of the run that this goroutine is in.
func (p *program) enterRun() {
	run := bubble()
	if p.run.Swap(run) != run && run%forgetEvery == 0 {
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
	if !ch.IsValid() || ch.IsNil() {
		return ch
	}
	p := f.thread.program
	run := p.run.Load()
	if made, _ := p.channels.LoadOrStore(ch.UnsafePointer(), run); made != run && made != uint64(0) {
		f.stop(otherRun.With())
	}
	return ch
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
