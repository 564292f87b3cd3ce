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

// A bubble knows its goroutines. In real time a label tells them: whatever a
// goroutine starts has the label too.
const labelKey = "lockkata live"

var runs atomic.Int64

// withLabel runs f, and marks every goroutine that comes of it.
func withLabel(f func(label string)) {
	label := strconv.FormatInt(runs.Add(1), 10)
	pprof.Do(context.Background(), pprof.Labels(labelKey, label), func(context.Context) { f(label) })
}

// withoutLabel runs f, and marks nothing of what comes of it.
func withoutLabel(f func() error) error {
	done := make(chan error)
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		done <- f()
	}()
	return <-done
}

var profileEntry = regexp.MustCompile(`(?m)^(\d+) @[^\n]*\n# labels: (\{[^\n]*\})`)

// labelled counts the goroutines with that label.
func labelled(label string) int {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return 0 // a buffer takes everything
	}
	count := 0
	mark := fmt.Appendf(nil, "%q:%q", labelKey, label)
	for _, entry := range profileEntry.FindAllSubmatch(profile.Bytes(), -1) {
		if bytes.Contains(entry[2], mark) {
			n, _ := strconv.Atoi(string(entry[1])) // digits, says the pattern
			count += n
		}
	}
	return count
}
