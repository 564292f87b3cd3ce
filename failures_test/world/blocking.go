package world

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// blocking lists the commands that block in Redis until data arrives.
var blocking = []string{"BLPOP", "BRPOP", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "BRPOPLPUSH", "BLMOVE"}

// isBlocking reports whether a command can block in Redis.
func isBlocking(args []string) bool {
	name := strings.ToUpper(args[0])
	isBlock := func(arg string) bool { return strings.EqualFold(arg, "BLOCK") }
	return slices.Contains(blocking, name) || strings.HasPrefix(name, "XREAD") && slices.ContainsFunc(args, isBlock)
}

// refuseBlocking fails the scenario if the command blocks and the world cannot play it.
func (r *request) refuseBlocking() {
	if _, _, pops := r.pops(); isBlocking(r.Args) && !pops && !r.wire.world.closing {
		line := r.source()
		fail("%s sends %s at %s: the world cannot play a command that waits in Redis; poll, or wait for a message", r.Client, r.Name, line.String())
	}
}

// pops reports whether the request is a BLPOP or BRPOP in real time, and returns its lists and how long it waits at most.
func (r *request) pops() (lists []string, most time.Duration, is bool) {
	last := len(r.Args) - 1
	if r.Name != "BLPOP" && r.Name != "BRPOP" || last < 2 || r.wire.world.trace.Slack == 0 {
		return nil, 0, false
	}
	seconds, err := strconv.ParseFloat(r.Args[last], 64)
	if most = time.Duration(seconds * float64(time.Second)); seconds == 0 {
		most = math.MaxInt64 / 2 // without end
	}
	return r.Args[1:last], most, err == nil
}

// exist reports whether one of the keys is there. It does if Redis does not answer: then the request fails too.
func (r *request) exist(keys []string) bool {
	raw, err := r.wire.link.Execute(append([]string{"EXISTS"}, keys...))
	return err != nil || string(raw) != ":0\r\n"
}

// waits reports whether the request is a WAIT, BLPOP or BRPOP that Redis cannot answer yet.
func (r *request) waits() bool {
	replicas, most, isWait := r.isWait()
	lists, longest, pops := r.pops()
	w := r.wire.world
	switch {
	case r.inside || w.closing || !isWait && !pops:
		return false
	case isWait && r.wire.node.confirmed(r.wire.offset) >= replicas:
		return false
	case pops && r.exist(lists):
		return false
	}
	if !r.waiting {
		r.waiting, r.due = true, w.Now()+max(most, longest)
	}
	return r.due > w.reached
}
