package world

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What comes of these arguments, every lock's script can take: some keys exist,
// some do not, some are of the wrong type; one of the arguments is a command.
var samples = [][]string{
	{"lock", "token", "waiters"}, {"lock", "token", "waiters"}, {"h", "n", "z"}, {"s", "n", "z"}, {"z", "l", "h"}, {"l", "s", "s"},
}

func TestScriptsOfTheRepositoryRunAsInMiniredis(t *testing.T) {
	sources := repositoryScripts(t)
	require.Greater(t, len(sources), 20)
	inTwin(t, func(w *twin) {
		for name, source := range sources {
			require.True(t, compile(source).tame, name)
			for _, argv := range [][]string{
				{"f", "30000", "60000", "room", "1", "1000"}, {"news", "PUBLISH", "f", "30000", "60000", "0"},
				{"news", "PUBLISH", "other"}, {"text", "1000"}, {"A", "1", "1000", "news", "always"}, {},
			} {
				w.seed()
				for _, keys := range samples {
					for count := range len(keys) + 1 {
						w.script(source, keys[:count], argv...)
					}
					time.Sleep(700 * time.Millisecond)
				}
			}
		}
	})
}

// repositoryScripts are the .lua files and the Go constants that call Redis from
// Lua. Stage 6 makes some of its scripts of several files.
func repositoryScripts(t *testing.T) map[string]string {
	found := map[string]string{}
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.IsDir() && (d.Name() == "bench" || strings.HasPrefix(d.Name(), ".git") || d.Name() == "redisson") {
				return filepath.SkipDir // modules of their own
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".lua":
			source, err := os.ReadFile(path)
			found[path] = string(source)
			return err
		case ".go":
			if strings.HasPrefix(d.Name(), "script_") {
				return nil // these tests
			}
			for i, source := range luaLiterals(t, path) {
				found[fmt.Sprintf("%s %d", path, i)] = source
			}
		}
		return nil
	}))
	return found
}

// luaLiterals are the string constants of a Go file that are scripts.
func luaLiterals(t *testing.T, path string) []string {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if ok && literal.Kind == token.STRING && strings.Contains(literal.Value, "redis.call(") {
			source, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			if compile(source).proto != nil {
				found = append(found, source)
			}
		}
		return true
	})
	return slices.Compact(found)
}
