package main

import (
	"errors"
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// importGoRedis are the folders, besides the stages, whose code imports go-redis, with the folders in them. A
// package that mentions one of its types, even through other packages, takes two seconds to compile.
var importGoRedis = []string{
	"failures_test/adapters", "failures_test/documents", "failures_test/live", "failures_test/others",
	"internal/kata/exercises", "internal/lesson/locks", "internal/locktest", "internal/stages",
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
