package main

import (
	"bytes"
	"errors"
	"go/build"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram is an environment variable that makes the test binary run the program.
const asProgram = "LOCKKATA_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// "go run" turns every failing status into 1, so the test runs the program itself. It runs in an
// empty folder: all files that it needs are embedded.
func TestProgramExitsWithItsStatus(t *testing.T) {
	binary, err := os.Executable()
	require.NoError(t, err)
	for args, want := range map[string]int{
		"diff 3":                      0,
		"show oom --stage 1 --html -": 0,
		"interview --lang zh":         0,
		"replay v1/stage3/2c/1x/async/wrong-delete/a.A.b.wa": 1, // no such step
		"show no-such-failure":                               2,
		"show delete-foreign -v":                             2, // the testing package's flags are not ours
	} {
		t.Run("lockkata "+args, func(t *testing.T) {
			cmd := exec.Command(binary, strings.Fields(args)...)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), asProgram+"=1", "XDG_CONFIG_HOME="+t.TempDir())
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				require.NoError(t, err)
			}
			require.Equal(t, want, cmd.ProcessState.ExitCode(), said.String())
			require.NotContains(t, out.String(), "PASS")
			require.Equal(t, want == 0, out.Len() > 0 && said.Len() == 0, said.String())
		})
	}
}

// importGoRedis are the folders, besides the stages, whose code imports go-redis, with the folders in them. A
// package that mentions one of its types, even through other packages, takes two seconds to compile.
var importGoRedis = []string{
	"failures_test/adapters", "failures_test/documents", "failures_test/foreign/workers", "failures_test/live/realredis", "failures_test/live/topology",
	"failures_test/others", "internal/kata/exercises/01_setnx", "internal/lesson/locks", "internal/locktest", "internal/stages",
}

func TestFewPackagesImportGoRedis(t *testing.T) {
	used := map[string]bool{}
	check := func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		p, err := build.ImportDir(dir, 0)
		if empty := new(build.NoGoError); errors.As(err, &empty) {
			return nil
		}
		if slices.ContainsFunc(p.Imports, func(path string) bool { return strings.Contains(path, "/go-redis/") }) {
			i := slices.IndexFunc(importGoRedis, func(allowed string) bool {
				return strings.HasPrefix(filepath.ToSlash(dir)+"/", allowed+"/")
			})
			require.GreaterOrEqual(t, i, 0, "%s imports go-redis", dir)
			used[importGoRedis[i]] = true
		}
		return err
	}
	require.NoError(t, filepath.WalkDir("failures_test", check))
	require.NoError(t, filepath.WalkDir("internal", check))
	require.Len(t, used, len(importGoRedis), "only %v", used)
}

// The page's engine runs in a browser, which has no compiler, no processes and no sockets.
func TestEngineHasOnlyTheBenchHere(t *testing.T) {
	seen := map[string]bool{}
	var follow func(dir string)
	follow = func(dir string) {
		p, err := build.ImportDir(filepath.FromSlash(dir), 0)
		require.NoError(t, err)
		for _, path := range p.Imports {
			if ours, is := strings.CutPrefix(path, "lockkata/"); is && !seen[ours] {
				seen[ours] = true
				follow(ours)
			}
		}
	}
	follow("internal/page/engine")
	require.True(t, seen["failures_test"])
	for _, other := range []string{"internal/apart", "failures_test/judge", "failures_test/live"} {
		require.False(t, seen[other], other)
	}
}
