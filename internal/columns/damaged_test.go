package columns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/edits"
)

// Files that the repository does not have: which edit is in force, and how the test chooses it.
const (
	forceFile = "package damaged\n\nvar InForce int\n"
	chooser   = `package columns_test

import "lockkata/internal/damaged"

func init() { damage = func(i int) { damaged.InForce = i } }
`
)

// buildDamaged builds this package's tests on the damaged locks. The compiler gets them as
// an overlay: nothing is written into the repository.
func buildDamaged(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	scratch := t.TempDir()
	overlay := map[string]string{}
	put := func(file, text string) {
		copied := filepath.Join(scratch, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(copied, []byte(text), 0o600))
		overlay[filepath.Join(root, file)] = copied
	}
	put("internal/damaged/damaged.go", forceFile)
	put("internal/columns/choose_test.go", chooser)
	for _, e := range edits.All {
		if filepath.Ext(e.File) == ".go" {
			put(e.File, damagedSource(t, e.File)) // the same for all edits of a file
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	list, program := filepath.Join(scratch, "overlay.json"), filepath.Join(scratch, "damaged.exe")
	require.NoError(t, os.WriteFile(list, raw, 0o600))
	build := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", list, "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

// damagedSource is a file in which each function that an edit changes has one body more
// for each edit.
func damagedSource(t *testing.T, file string) string {
	t.Helper()
	source := read(t, file)
	whole := declarations(t, source)
	cases := make([]string, len(whole)) // the other bodies of each function
	for i, e := range edits.All {
		if e.File != file {
			continue
		}
		for n, d := range declarations(t, applied(t, e, source)) {
			if d.body != whole[n].body {
				cases[n] += fmt.Sprintf("case %d:\n%s\n", i+1, d.body)
			}
		}
	}
	for n, d := range whole {
		if cases[n] != "" {
			all := "{\nswitch damaged.InForce {\n" + cases[n] + "default:\n" + d.body + "\n}\n}"
			source = strings.Replace(source, d.text, strings.TrimSuffix(d.text, d.body)+all, 1)
		}
	}
	if strings.Contains(source, "damaged.InForce") {
		source = strings.Replace(source, "\nimport (", "\nimport \"lockkata/internal/damaged\"\n\nimport (", 1)
	}
	return source
}

// applied is the text with the edit.
func applied(t *testing.T, e edits.Edit, text string) string {
	t.Helper()
	edited, err := e.Apply(text)
	require.NoError(t, err)
	return edited
}

// inScripts is the subject with the edit, where it is one of a Lua script: the script that
// is sent is another one. Elsewhere the subject stays as it is.
func inScripts(t *testing.T, e edits.Edit, subject failures.Subject) failures.Subject {
	t.Helper()
	text := read(t, e.File)
	for _, script := range subject.Scripts {
		if !strings.Contains(text, script) || !strings.Contains(script, e.Old) {
			continue
		}
		swap := swapped{script, applied(t, e, script)}
		subject.New = swap.in(subject.New)
		variants := map[failures.Variant]world.Constructor{}
		for name, create := range subject.Variants {
			variants[name] = swap.in(create)
		}
		subject.Variants = variants
	}
	return subject
}

// swapped is a hook of go-redis that sends another script than the lock does.
type swapped struct{ old, new string }

func (s swapped) in(create world.Constructor) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		rdb.AddHook(s)
		return create(rdb, name, lease)
	}
}

func (s swapped) DialHook(next redis.DialHook) redis.DialHook { return next }
func (s swapped) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s swapped) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		for i, arg := range cmd.Args() {
			switch arg {
			case s.old:
				cmd.Args()[i] = s.new
			case redis.NewScript(s.old).Hash():
				cmd.Args()[i] = redis.NewScript(s.new).Hash()
			}
		}
		return next(ctx, cmd)
	}
}
