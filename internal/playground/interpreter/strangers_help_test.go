package interpreter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	failures "lockkata/failures_test"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func difference(want, is failures.Verdict) string {
	if a, b := want.Outcome.String()+": "+want.Sentence(), is.Outcome.String()+": "+is.Sentence(); a != b {
		return a + " / " + b
	}
	a, _ := json.Marshal(want.Findings)
	b, _ := json.Marshal(is.Findings)
	if string(a) != string(b) && os.Getenv("EVENTS") == "" {
		return string(a) + " / " + string(b)
	}
	if (want.Trace == nil) != (is.Trace == nil) {
		return "trace"
	}
	if want.Trace == nil {
		return ""
	}
	for i, e := range want.Trace.Events {
		if i >= len(is.Trace.Events) {
			return fmt.Sprint("fewer events ", len(is.Trace.Events), " of ", len(want.Trace.Events))
		}
		a, _ := json.Marshal(e)
		b, _ := json.Marshal(is.Trace.Events[i])
		if string(a) != string(b) {
			return fmt.Sprintf("event %d:\n%s\n%s", i+1, a, b)
		}
	}
	if len(is.Trace.Events) != len(want.Trace.Events) {
		return "more events"
	}
	return ""
}
