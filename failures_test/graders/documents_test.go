package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
)

var update = flag.Bool("update", false, "write the generated parts of README.md")

func TestEveryFailureHasAPropertyAndALesson(t *testing.T) {
	about := map[string]property{}
	for _, p := range properties {
		for _, id := range p.failures {
			_, known := failures.Find(id)
			require.True(t, known, "%q is no failure", id)
			require.Empty(t, about[id], "%s breaks two properties", id)
			about[id] = p.property
		}
	}
	for _, f := range failures.All {
		require.NotEmpty(t, about[f.ID], f.ID)
	}
	require.Len(t, lessons, len(failures.All))
	_, err := lessonRows()
	require.NoError(t, err)
	for _, l := range libraries {
		require.Len(t, l.Promises, len(properties), l.Name)
		for id := range l.Untold {
			want, err := lesson(l.Name, id)
			require.NoError(t, err)
			require.Equal(t, failures.NotApplicable, want, "%s cannot be told of %s", id, l.Name)
		}
	}
}

// The links lead to the version that was built in, so this is where they point.
func TestPromisesStandWhereTheirLinksPoint(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.Name, func(t *testing.T) {
			out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", l.Module).Output()
			require.NoError(t, err)
			dir := strings.TrimSpace(string(out))
			require.True(t, strings.HasSuffix(dir, l.version()), "%s is not %s", dir, l.version())
			for about, p := range l.Promises {
				require.Contains(t, []word{promised, limited, notPromised}, p.Word, about)
				require.NotEmpty(t, p.Says, about)
				if p.Page != "" {
					require.Empty(t, p.File, about)
					require.True(t, strings.HasPrefix(l.link(p), "https://"), about)
					continue
				}
				raw, err := os.ReadFile(filepath.Join(dir, p.File))
				require.NoError(t, err, about)
				lines := strings.Split(string(raw), "\n")
				require.NotEmpty(t, p.Has, about)
				require.Less(t, p.Line, len(lines)+1, about)
				require.Contains(t, lines[p.Line-1], p.Has, "%s: %s", about, l.link(p))
			}
		})
	}
}

// generated are the parts of README.md that the program writes.
func generated(t *testing.T) map[string]string {
	t.Helper()
	rows, err := lessonRows()
	require.NoError(t, err)
	var table bytes.Buffer
	printTable(&table, rows)
	var words strings.Builder
	for _, l := range libraries {
		fmt.Fprintf(&words, "**%s %s**\n\n| property | its word | |\n|---|---|---|\n", l.Name, l.version())
		for _, p := range properties {
			word := l.Promises[p.property]
			fmt.Fprintf(&words, "| %s | [%s](%s) | %s |\n", p.property, word.Word, l.link(word), word.Says)
		}
		words.WriteString("\n")
	}
	var claims strings.Builder
	claims.WriteString("| | library | what was said | |\n|---|---|---|---|\n")
	for _, d := range defects {
		found := tried{defect: d, evidence: evidence{Shown: d.True}}
		says := d.Claim
		if d.Note != "" {
			says += ". " + strings.ToUpper(d.Note[:1]) + d.Note[1:]
		}
		fmt.Fprintf(&claims, "| `%s` | %s | %s | %s |\n", d.ID, d.Library, says, found.verdict())
	}
	return map[string]string{
		"cards":    "```text\n" + table.String() + "```\n",
		"promises": strings.TrimSpace(words.String()) + "\n",
		"defects":  claims.String(),
	}
}

func TestREADMEShowsWhatTheProgramPrints(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	require.NoError(t, err)
	text := string(raw)
	for name, part := range generated(t) {
		begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
		before, rest, ok := strings.Cut(text, begin)
		require.True(t, ok, "README.md has no part %q", name)
		shown, after, ok := strings.Cut(rest, end)
		require.True(t, ok, "the part %q of README.md has no end", name)
		if *update {
			text = before + begin + part + end + after
			continue
		}
		require.Equal(t, part, shown, "go test -run README -update writes it")
	}
	if *update {
		require.NoError(t, os.WriteFile("README.md", []byte(text), 0o644))
	}
}
