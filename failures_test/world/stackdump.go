package world

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// ErrLeft reports goroutines of the lock that have not ended after a run.
var ErrLeft = errors.New("goroutines of the lock have not ended")

// Goroutine is a goroutine that runs the lock's code, or that the lock started.
type Goroutine struct {
	State    string // as the runtime calls it: "sleep", "sync.Mutex.Lock"
	Durable  bool   // synctest's "durably blocked": it waits for time, or for another goroutine of the bubble
	Function string // the innermost function of the lock: TryLock
	Line     string // where that is: mine/mutex.go:41; "" if it runs no function of the lock
	Started  string // the line of the lock that started it; "" if the lock did not
	InRedis  bool   // that function has called go-redis
}

var (
	bubbleHeader  = regexp.MustCompile(`^goroutine \d+ (?:[^\[]* )?\[([^\],]*).*synctest bubble (\d+)`)
	networkHeader = regexp.MustCompile(`(?m)^goroutine \d+ (?:[^\[\n]* )?\[IO wait[^\]\n]*synctest bubble`)
	arguments     = regexp.MustCompile(`\([^()]*\)$`)
	framePlace    = regexp.MustCompile(`^\t(.*/)?([^/]*/[^/]*\.go:\d+)`)
)

// Goroutines returns the goroutines of the newest bubble. Code belongs to the lock if its import
// path begins with pkg. If pkg is empty, all code outside Go, go-redis and the world does.
func Goroutines(pkg string) []Goroutine { return goroutinesIn(Stacks(), pkg) }

// HasSubscription reports whether a go-redis subscription is still running.
func HasSubscription() bool {
	return strings.Contains(Stacks(), goRedis+"v9.(*channel)")
}

// IsInNetwork reports whether a goroutine of a bubble waits for a real connection, so that no fake time can
// pass.
func IsInNetwork() bool { return networkHeader.MatchString(Stacks()) }

// Stacks returns the stacks of all goroutines.
func Stacks() string {
	for size := 1 << 20; ; size *= 2 {
		dump := make([]byte, size)
		if n := runtime.Stack(dump, true); n < size {
			return string(dump[:n])
		}
	}
}

func goroutinesIn(dump, pkg string) (all []Goroutine) {
	newest := 0
	for block := range strings.SplitSeq(dump, "\n\n") {
		head := bubbleHeader.FindStringSubmatch(block)
		if head == nil {
			continue
		}
		if bubble, _ := strconv.Atoi(head[2]); bubble > newest { // the pattern matches only digits
			newest, all = bubble, nil
		} else if bubble < newest {
			continue
		}
		g := Goroutine{}
		g.State, g.Durable = strings.CutSuffix(head[1], " (durable)")
		if g.read(strings.Split(block, "\n"), pkg); g.Line != "" || g.Started != "" {
			all = append(all, g)
		}
	}
	return all
}

// wires has the prefixes of this package's functions that go-redis calls.
var wires = []string{ours + "(*wire).", ours + "(*Process).Dial"}

// read finds the lock's functions on a stack, two lines for each function. It stops at functions of
// the world, except those of a wire.
func (g *Goroutine) read(lines []string, pkg string) {
	for i := 1; i+1 < len(lines); i += 2 {
		function, starts := strings.CutPrefix(lines[i], "created by ")
		place := framePlace.FindStringSubmatch(lines[i+1])
		if strings.HasPrefix(function, ours) && !beginsWith(function, wires...) {
			return
		}
		switch {
		case place == nil:
		case !isOfLock(function, pkg):
			g.InRedis = g.InRedis || g.Line == "" && strings.HasPrefix(function, goRedis)
		case starts:
			g.Started = path.Clean(place[2])
		case g.Line == "":
			g.Function, g.Line = shortFunction(arguments.ReplaceAllString(function, "")), path.Clean(place[2])
		}
	}
}

func isOfLock(function, pkg string) bool {
	if pkg != "" {
		return beginsWith(function, pkg+".", pkg+"/")
	}
	return !isLibrary(function)
}

// StackDump returns the innermost line of the lock for each goroutine of the newest bubble:
// "mine/mutex.go:41 (sync.Mutex.Lock)". Goroutines that keep the bubble from becoming idle come
// first.
func StackDump() []string {
	var all []string
	for _, durable := range []bool{false, true} {
		var lines []string
		for _, g := range Goroutines("") {
			if g.Durable == durable {
				lines = append(lines, fmt.Sprintf("%s (%s)", cmp.Or(g.Line, g.Started), g.State))
			}
		}
		slices.Sort(lines)
		all = append(all, lines...)
	}
	return slices.Compact(all)
}
