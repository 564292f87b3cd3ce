package live

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
)

// labelKey is the profiler label of a run. Goroutines inherit it, so it identifies them in real
// time, where there is no bubble.
const labelKey = "lockkata live"

var runs atomic.Int64

// withLabel runs f with a label for all goroutines that f starts.
func withLabel(f func(label string)) {
	label := strconv.FormatInt(runs.Add(1), 10)
	pprof.Do(context.Background(), pprof.Labels(labelKey, label), func(context.Context) { f(label) })
}

// withoutLabel runs f without the label.
func withoutLabel(f func() error) error {
	done := make(chan error)
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		done <- f()
	}()
	return <-done
}

var profileEntry = regexp.MustCompile(`(?m)^(\d+) @[^\n]*\n# labels: (\{[^\n]*\})`)

// labelled returns the number of goroutines with that label.
func labelled(label string) int {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return 0 // a buffer never fails
	}
	count := 0
	mark := fmt.Appendf(nil, "%q:%q", labelKey, label)
	for _, entry := range profileEntry.FindAllSubmatch(profile.Bytes(), -1) {
		if bytes.Contains(entry[2], mark) {
			n, _ := strconv.Atoi(string(entry[1])) // the pattern matches only digits
			count += n
		}
	}
	return count
}
