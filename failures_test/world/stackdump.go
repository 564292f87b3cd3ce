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

var (
	bubbleHeader = regexp.MustCompile(`^goroutine \d+ (?:[^\[]* )?\[([^\],]*).*synctest bubble (\d+)`)
	framePlace   = regexp.MustCompile(`^\t(.*/)?([^/]*/[^/]*\.go:\d+)`)
)

// StackDump returns where the goroutines of the newest bubble are, each as the innermost line
// of the lock: "mine/mutex.go:41 (sync.Mutex.Lock)". Those that keep the bubble from coming
// to rest come first.
func StackDump() []string {
	dump := make([]byte, 1<<20)
	dump = dump[:runtime.Stack(dump, true)]
	newest := 0
	var first, others []string
	for block := range strings.SplitSeq(string(dump), "\n\n") {
		head := bubbleHeader.FindStringSubmatch(block)
		if head == nil {
			continue
		}
		if bubble, _ := strconv.Atoi(head[2]); bubble > newest { // digits, says the pattern
			newest, first, others = bubble, nil, nil
		} else if bubble < newest {
			continue
		}
		state, rests := strings.CutSuffix(head[1], " (durable)")
		line := lineOfLock(block)
		switch {
		case line == "":
		case rests:
			others = append(others, fmt.Sprintf("%s (%s)", line, state))
		default:
			first = append(first, fmt.Sprintf("%s (%s)", line, state))
		}
	}
	slices.Sort(first)
	slices.Sort(others)
	return slices.Compact(append(first, others...))
}

// lineOfLock is the innermost line of a goroutine's stack that is the lock's.
func lineOfLock(block string) string {
	lines := strings.Split(block, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function := strings.TrimPrefix(lines[i], "created by ")
		if place := framePlace.FindStringSubmatch(lines[i+1]); place != nil && !isLibrary(function) && !isOurs(function) {
			return path.Clean(place[2])
		}
	}
	return ""
}

// isOurs tells of functions that play, and of those of Go that wait.
func isOurs(function string) bool {
	return beginsWith(function, "lockkata/failures_test.", "lockkata/failures_test/schedule.", "lockkata/failures_test/adapters.",
		"testing.", "testing/", "internal/", "time.", "net.", "sync/")
}
