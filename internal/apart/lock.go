package apart

import (
	"fmt"
	"maps"
	"slices"

	failures "lockkata/failures_test"
)

// Files are a lock's files by name.
type Files map[string]string

// Names returns the names, sorted.
func (f Files) Names() []string { return slices.Sorted(maps.Keys(f)) }

// Key returns a string that is the same for the same files.
func (f Files) Key() string { return fmt.Sprintf("%q", map[string]string(f)) }

// Lock is a lock to compile.
type Lock struct {
	Files    Files
	Has      []failures.Feature // unless it has a func Subject with its features
	Exercise string             // the exercise that it is for, or ""
	Requires []string           // the failures that "go test" plays
}

func (l Lock) key() string { return l.Files.Key() + fmt.Sprint(l.Has) }

// testFile is the name of our file in a lock's package.
const testFile = "lockkata.go"
