package world

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// blocking lists the commands that wait in Redis until a key has something to take. The
// number says how many of the last arguments are no such keys.
var blocking = map[string]int{"BLPOP": 1, "BRPOP": 1, "BZPOPMIN": 1, "BZPOPMAX": 1, "BRPOPLPUSH": 2, "BLMOVE": 4}

// Blocks tells whether a command of that name may wait in Redis. Its sender sleeps meanwhile.
func Blocks(name string) bool { return blocking[name] > 0 }

// waitsForStream tells whether a command waits in Redis for something new in a stream.
func waitsForStream(args []string) bool {
	return strings.HasPrefix(strings.ToUpper(args[0]), "XREAD") && slices.ContainsFunc(args, func(arg string) bool { return strings.EqualFold(arg, "BLOCK") })
}

// refuseStreams ends the scenario of a lock that waits for a stream. What is new in one depends
// on what the lock has read, so the world does not know how long it waits.
func (w *World) refuseStreams(r *request) {
	if waitsForStream(r.Args) && !w.closing {
		line := r.stack.source(w.config.SkipFrames)
		fail("%s sends %s with BLOCK at %s: the world cannot play that; wait for a list or a message instead", r.lane.Name, r.Name, line.String())
	}
}

// blocked tells whether the command waits in Redis at that moment, and until when at most.
func (w *World) blocked(r *request, now time.Duration) (until time.Duration, is bool) {
	args, rest := r.Args, blocking[r.Name]
	if rest == 0 || len(args) <= rest {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(args[len(args)-1], 64)
	if err != nil {
		return 0, false
	}
	until = math.MaxInt64 // 0 seconds are for ever
	if seconds > 0 {
		until = max(r.sent, r.due) + time.Duration(seconds*float64(time.Second))
	}
	all := w.server.read(func(string) bool { return false })
	for _, key := range args[1 : len(args)-rest] {
		if _, has := all[key]; has {
			return until, false
		}
	}
	return until, now < until
}

// executeBlocking runs a command that has waited for as long as it will: in a transaction
// it takes what is there, and answers at once.
func (l *embeddedLink) executeBlocking(args []string) []byte {
	l.dispatch("MULTI")
	l.dispatch(args...)
	return bytes.TrimPrefix(l.dispatch("EXEC"), []byte("*1\r\n"))
}
