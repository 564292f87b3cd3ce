package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the commands print into the documents")

// block is a command in a document with what it prints:
//
//	<!-- show delete-foreign --stage 2 -->
//	```text
//	…
//	```
//	<!-- end -->
//
// "<!-- matrix -->" is the command without arguments.
var block = regexp.MustCompile("(?s)(<!-- (matrix|show [^>]*?|diff [^>]*?|list) -->\n```(?:text|diff)\n)(.*?)(```\n<!-- end -->)")

var seconds = regexp.MustCompile(`in [0-9.]+ s;`)

func TestDocumentsShowWhatTheCommandsPrint(t *testing.T) {
	documents, err := filepath.Glob("../../stage*/README.md")
	require.NoError(t, err)
	for _, name := range append(documents, "../../README.md") {
		t.Run(strings.TrimPrefix(name, "../../"), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			text := string(raw)
			require.Regexp(t, block, text, "the document shows nothing that was run")
			current := block.ReplaceAllStringFunc(text, func(old string) string {
				part := block.FindStringSubmatch(old)
				return part[1] + printed(t, part[2]) + part[4]
			})
			if *update {
				require.NoError(t, os.WriteFile(name, []byte(current), 0o644))
				return
			}
			require.Equal(t, seconds.ReplaceAllString(current, "in S s;"), seconds.ReplaceAllString(text, "in S s;"),
				"out of date: go test ./internal/cli -run Documents -update")
		})
	}
}

func printed(t *testing.T, line string) string {
	t.Helper()
	args := strings.Fields(line)
	if line == "matrix" {
		args = nil
	}
	status, out, errors := command(t, args...)
	require.Equal(t, exitOK, status, errors)
	return out
}

var commandLine = regexp.MustCompile(`go run \. ?([a-z][^\n\x60#(]*)?`)

// Every command that a document names must exist and work.
func TestCommandsInDocumentsWork(t *testing.T) {
	documents, err := filepath.Glob("../../stage*/README.md")
	require.NoError(t, err)
	sources, err := filepath.Glob("../../stage*/mutex.go")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, name := range append(append(documents, sources...), "../../README.md") {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, match := range commandLine.FindAllStringSubmatch(string(raw), -1) {
			line := strings.TrimRight(strings.TrimSpace(strings.Split(match[1], "  ")[0]), ".,;:")
			if seen[line] {
				continue
			}
			seen[line] = true
			t.Run("go run . "+line, func(t *testing.T) {
				status, _, errors := command(t, strings.Fields(line)...)
				require.Equal(t, exitOK, status, "%s: %s", name, errors)
			})
		}
	}
}
