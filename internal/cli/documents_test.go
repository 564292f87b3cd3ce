package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
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
var block = regexp.MustCompile("(?s)(<!-- (matrix|show [^>]*?|diff [^>]*?|list|replay [^>]*?) -->\n```(?:text|diff)\n)(.*?)(```\n<!-- end -->)")

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

var commandLine = regexp.MustCompile(`(?:printf '([^']*)' \| )?go run \. ?([a-z][^\n\x60#(]*)?`)

// documents are the texts that a reader follows.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../stage*/README.md", "../../stage*/*.go"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, names, pattern)
		for _, name := range names {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			texts[strings.TrimPrefix(name, "../../")] = string(raw)
		}
	}
	return texts
}

// Every command that a document names must exist and work, with the keys that the
// document gives it. Where it gives none, a game is left at once.
func TestCommandsInDocumentsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands of the documents take a minute")
	}
	seen := map[string]bool{}
	for name, text := range documents(t) {
		for _, match := range commandLine.FindAllStringSubmatch(text, -1) {
			keys, line := match[1], strings.TrimRight(strings.TrimSpace(strings.Split(match[2], "  ")[0]), ".,;:")
			if keys == "" {
				keys = "q"
			}
			command := strings.SplitN(line, " ", 2)[0]
			elsewhere := command == "kata" || command == "serve" || command == "interview" || line == "explore --stage all" // their own tests run them
			if elsewhere || seen[keys+line] || strings.Contains(line, "FAILURE") || strings.Contains(line, "--redis") {
				continue
			}
			seen[keys+line] = true
			t.Run("go run . "+line, func(t *testing.T) {
				status, _, errors := commandWithKeys(t, keys, strings.Fields(line)...)
				require.Equal(t, exitOK, status, "%s: %s", name, errors)
			})
		}
	}
}

var failureName = regexp.MustCompile("`([a-z]+(?:-[a-z]+)+)`")

// Every failure that a document names must be in the catalogue.
func TestFailuresInDocumentsExist(t *testing.T) {
	noFailures := []string{"redis-server"}
	for _, p := range schedule.Properties {
		noFailures = append(noFailures, p.Name)
	}
	for _, e := range schedule.Envs {
		noFailures = append(noFailures, e.Name)
	}
	for name, text := range documents(t) {
		for _, match := range failureName.FindAllStringSubmatch(text, -1) {
			if _, ok := failures.Find(match[1]); !ok {
				require.Contains(t, noFailures, match[1], "%s names a failure that does not exist", name)
			}
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#]+)`)

// Every file that a document links to must exist.
func TestLinksInDocumentsResolve(t *testing.T) {
	for name, text := range documents(t) {
		if filepath.Ext(name) != ".md" {
			continue
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(match[1], "://") {
				requireExists(t, filepath.Join("../..", filepath.Dir(name), match[1]), name)
			}
		}
	}
}

func requireExists(t *testing.T, path, document string) {
	t.Helper()
	_, err := os.Stat(path)
	require.NoError(t, err, document)
}
