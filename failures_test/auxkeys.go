package failures

import (
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/trace"
)

// A lock may have auxiliary keys next to the one of its holder: a counter of tokens, a queue of
// waiters.

// IsAuxKey reports whether a key has the name of a usual auxiliary key.
func IsAuxKey(key string) bool {
	return strings.HasSuffix(key, ":token") || strings.HasSuffix(key, ":waiters")
}

// AuxKeys returns the auxiliary keys of a lock, from the trace of its normal use. There are two kinds:
// keys that a client created without getting the lock, and that did not exist when others got it;
// and keys that an Unlock left when it removed another key. A nil trace has no keys.
func AuxKeys(tr *trace.Trace) (found []string) {
	if tr == nil {
		return nil
	}
	var got, locked []trace.Key
	installed := map[int][]string{}
	for _, s := range tr.Scenes() {
		e := s.Event
		for _, x := range e.Effects {
			if x.Kind == trace.Installed {
				installed[e.Call] = append(installed[e.Call], x.Key)
			}
		}
		switch {
		case e.Acquires():
			got = append(got, s.Keys...)
		case e.Kind == trace.Returned && trace.IsAcquire(e.Op):
			for _, key := range installed[e.Call] {
				if !slices.ContainsFunc(got, func(k trace.Key) bool { return alike(k.Name, key) }) {
					found = append(found, key)
				}
			}
		case e.Kind == trace.Called && e.Op == trace.OpUnlock:
			locked = s.Keys
		case e.Kind == trace.Returned && e.Op == trace.OpUnlock:
			var left []string
			for _, key := range s.Keys {
				left = append(left, key.Name)
			}
			if slices.ContainsFunc(locked, func(k trace.Key) bool { return !slices.Contains(left, k.Name) }) {
				found = append(found, left...)
			}
		}
	}
	return found
}

// Ignoring returns the lock with more keys to ignore. If the name of a key contains an id, each waiter
// has such a key.
func (s Subject) Ignoring(keys []string) Subject {
	ignore := s.Ignore
	s.Ignore = func(key string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return alike(k, key) }) || ignore != nil && ignore(key)
	}
	return s
}

// alike reports whether two names differ only in the ids in them.
func alike(a, b string) bool { return ids.ReplaceAllString(a, "*") == ids.ReplaceAllString(b, "*") }

var ids = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}`)
