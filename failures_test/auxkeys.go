package failures

import (
	"regexp"
	"slices"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// A lock may have auxiliary keys next to the one of its holder: a counter of tokens, a queue of
// waiters.

// IsAuxKey reports whether a key has the name of a usual auxiliary key.
func IsAuxKey(key string) bool {
	return strings.HasSuffix(key, ":token") || strings.HasSuffix(key, ":waiters")
}

// AuxKeys returns the auxiliary keys of a lock, from the trace of its normal use. There are four kinds:
//
//   - a key that a client created without getting the lock, and that did not exist when others got it;
//   - a list, a set or a sorted set that existed next to another key when a client got the lock;
//   - a key that an Unlock made or left when it removed another key, of another kind;
//   - a string or hash that was made with the lock, with an id in its name or a number as its value; see besides.
//
// A key is named with a * for the name of the lock, since a story may use locks of other names. A nil
// trace has no keys.
func AuxKeys(tr *trace.Trace) (found []string) {
	if tr == nil {
		return nil
	}
	var got, locked []trace.Key
	installed := map[int][]string{}
	add := func(key string) {
		if key != tr.Lock {
			key = strings.ReplaceAll(key, tr.Lock, "*")
		}
		if !slices.Contains(found, key) {
			found = append(found, key)
		}
	}
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
			for _, key := range besides(tr.Lock, s.Keys, installed[e.Call]) {
				add(key)
			}
			if collections := slices.DeleteFunc(slices.Clone(s.Keys), isSingle); len(collections) < len(s.Keys) {
				for _, key := range collections {
					add(key.Name)
				}
			}
		case e.Kind == trace.Returned && trace.IsAcquire(e.Op):
			for _, key := range installed[e.Call] {
				if !slices.ContainsFunc(got, func(k trace.Key) bool { return alike(k.Name, key) }) {
					add(key)
				}
			}
		case e.Kind == trace.Called && e.Op == trace.OpUnlock:
			locked = s.Keys
		case e.Kind == trace.Returned && e.Op == trace.OpUnlock:
			isLeft := func(k trace.Key) bool {
				return slices.ContainsFunc(s.Keys, func(l trace.Key) bool { return l.Name == k.Name })
			}
			removed := slices.DeleteFunc(slices.Clone(locked), isLeft)
			madeOrLeft := installed[e.Call]
			for _, key := range s.Keys {
				madeOrLeft = append(madeOrLeft, key.Name)
			}
			for _, key := range madeOrLeft {
				if len(removed) > 0 && !slices.ContainsFunc(removed, func(k trace.Key) bool { return alike(k.Name, key) }) {
					add(key)
				}
			}
		}
	}
	return found
}

// besides returns those of the keys of one acquire that say something about its lock: their names have an id, or they
// have a number where another key has none. The key whose name is the lock's, with a prefix or in braces, is the
// lock. One key is left in any case.
func besides(lock string, all []trace.Key, installed []string) (found []string) {
	keys := slices.DeleteFunc(slices.Clone(all), func(k trace.Key) bool { return !isSingle(k) || !slices.Contains(installed, k.Name) })
	isPlain := func(k trace.Key) bool { return strings.HasSuffix(strings.TrimSuffix(k.Name, "}"), lock) }
	isNumber := func(k trace.Key) bool {
		return !slices.ContainsFunc(k.Entries, func(e trace.Entry) bool { return !number.MatchString(e.Value) })
	}
	for _, k := range keys {
		countsFor := func(other trace.Key) bool {
			return isNumber(k) && !isNumber(other) && k.Type == "string" || isNumber(k) && isPlain(other)
		}
		if !isPlain(k) && (world.ID.MatchString(k.Name) || slices.ContainsFunc(keys, countsFor)) {
			found = append(found, withoutOwner(k.Name, keys))
		}
	}
	if len(found) == len(keys) {
		return nil
	}
	return found
}

// withoutOwner returns a key's name with a * for a value of another key that is no id: each hold has another one.
func withoutOwner(name string, keys []trace.Key) string {
	for _, k := range keys {
		for _, e := range k.Entries {
			if len(e.ID) >= shortestValue && k.Name != name {
				name = strings.ReplaceAll(name, e.ID, "*")
			}
		}
	}
	return name
}

// shortestValue is the length from which a value is in a name for a reason.
const shortestValue = 4

var number = regexp.MustCompile(`^\d+$`)

// LockKeys returns the keys that the clients of a trace have made to get the lock, without its auxiliary keys.
func LockKeys(tr *trace.Trace, aux []string) (found []string) {
	if tr == nil {
		return nil
	}
	isAux := Subject{}.Ignoring(aux).Ignore
	for _, e := range tr.Events {
		for _, x := range e.Effects {
			if x.Kind == trace.Installed && trace.IsAcquire(e.Op) && !isAux(x.Key) && !slices.Contains(found, x.Key) {
				found = append(found, x.Key)
			}
		}
	}
	return found
}

// isSingle reports whether a key has room for one holder, as a string or a hash has. The others are
// queues.
func isSingle(k trace.Key) bool { return k.Type == "string" || k.Type == "hash" }

// Ignoring returns the lock with the keys of [AuxKeys] to ignore. If the name of a key contains an id,
// each waiter has such a key.
func (s Subject) Ignoring(keys []string) Subject {
	ignore := s.Ignore
	patterns := make([]string, len(keys))
	for i, key := range keys {
		withIDs := world.ID.ReplaceAllLiteralString(regexp.QuoteMeta(key), "(?:"+world.ID.String()+")")
		patterns[i] = strings.ReplaceAll(withIDs, `\*`, ".+")
	}
	isAux := regexp.MustCompile("^(?:" + strings.Join(patterns, "|") + ")$")
	s.Ignore = func(key string) bool { return isAux.MatchString(key) || ignore != nil && ignore(key) }
	return s
}

// alike reports whether two names differ only in the ids in them.
func alike(a, b string) bool {
	return world.ID.ReplaceAllString(a, "*") == world.ID.ReplaceAllString(b, "*")
}
