package kata

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// repositoryRoot is the module's folder.
func repositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// exercise is the one with that ID.
func exercise(t *testing.T, id string) Exercise {
	t.Helper()
	e, err := Find(id)
	require.NoError(t, err)
	return e
}

// mistake is a lock of an exercise with a change, and what a check says of it.
type mistake struct {
	exercise, name string
	says           string // how the first line begins; "" for a lock that passes
	changes        []change
}

type change struct{ file, old, new string }

// mistakes reads testdata/mistakes.txt.
func mistakes(t *testing.T) (all []*mistake) {
	t.Helper()
	raw, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	var m *mistake
	var c *change
	for line := range strings.Lines(string(raw)) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "==":
			m = &mistake{}
			m.exercise, m.name, _ = strings.Cut(rest, ": ")
			all = append(all, m)
		case "@":
			m.changes = append(m.changes, change{file: rest})
			c = &m.changes[len(m.changes)-1]
		case "-":
			c.old += rest + "\n"
		case "+":
			c.new += rest + "\n"
		case "says":
			m.says = rest
		}
	}
	return all
}

// apply changes a lock. A text that is less than a line has no line's end.
func (m *mistake) apply(t *testing.T, files Files) Files {
	t.Helper()
	changed := Files{}
	for name, text := range files {
		changed[name] = text
	}
	for _, c := range m.changes {
		if strings.Count(changed[c.file], c.old) != 1 {
			c.old, c.new = strings.TrimSuffix(c.old, "\n"), strings.TrimSuffix(c.new, "\n")
		}
		require.Equal(t, 1, strings.Count(changed[c.file], c.old), "%s: %q in %s", m.name, c.old, c.file)
		changed[c.file] = strings.Replace(changed[c.file], c.old, c.new, 1)
	}
	return changed
}

var _ = fmt.Sprint
var _ context.Context
var _ sync.Once
