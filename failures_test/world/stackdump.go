package world

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// ErrLeft reports goroutines of the lock that had not ended when a run was over.
var ErrLeft = errors.New("goroutines of the lock were left when all was over")

// Goroutine is a goroutine that runs the lock's code, or that the lock started.
type Goroutine struct {
	State    string // as the runtime calls it: "sleep", "sync.Mutex.Lock"
	Durable  bool   // it waits for time, or for another goroutine of the bubble
	Function string // the innermost function of the lock: TryLock
	Line     string // where that is: mine/mutex.go:41; "" if it runs no function of the lock
	Started  string // the line of the lock that started it; "" if the lock did not
	InRedis  bool   // go-redis is inside of that function
}

var (
	bubbleHeader = regexp.MustCompile(`^goroutine \d+ (?:[^\[]* )?\[([^\],]*).*synctest bubble (\d+)`)
	framePlace   = regexp.MustCompile(`^\t(.*/)?([^/]*/[^/]*\.go:\d+)`)
)

// Goroutines returns those of the newest bubble. Code is the lock's if its import path begins
// with pkg, or if it is neither Go's, go-redis's nor the world's where pkg is empty.
func Goroutines(pkg string) []Goroutine { return goroutinesIn(bubbleDump(), pkg) }

// HasSubscription reports whether a goroutine of one of go-redis's subscriptions runs.
func HasSubscription() bool {
	return strings.Contains(bubbleDump(), goRedis+"v9.(*channel)")
}

// bubbleDump returns the stacks of all goroutines.
func bubbleDump() string {
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
		if bubble, _ := strconv.Atoi(head[2]); bubble > newest { // digits, says the pattern
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

// wires are the beginnings of the names of functions of this package that go-redis calls.
var wires = []string{ours + "(*wire).", ours + "(*process).dial"}

// read finds the lock's functions on a stack, each of which has two lines. Other functions of the
// world than those of a wire call the lock, or are called by the scenario.
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
			name, _, _ := strings.Cut(function, "(0x") // the arguments
			g.Function, g.Line = shortFunction(strings.TrimSuffix(name, "()")), path.Clean(place[2])
		}
	}
}

func isOfLock(function, pkg string) bool {
	if pkg != "" {
		return beginsWith(function, pkg+".", pkg+"/")
	}
	return !isLibrary(function)
}

// StackDump returns where the goroutines of the newest bubble are, each as the innermost line
// of the lock: "mine/mutex.go:41 (sync.Mutex.Lock)". Those that keep the bubble from coming
// to rest come first.
func StackDump() []string {
	var first, others []string
	for _, g := range Goroutines("") {
		line := g.Line
		if line == "" {
			line = g.Started
		}
		line = fmt.Sprintf("%s (%s)", line, g.State)
		if g.Durable {
			others = append(others, line)
		} else {
			first = append(first, line)
		}
	}
	slices.Sort(first)
	slices.Sort(others)
	return slices.Compact(append(first, others...))
}
