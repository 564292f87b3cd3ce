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

const readme = "../README.md"

var update = flag.Bool("update", false, "write the generated parts of the README")

func TestEveryFailureHasOneLesson(t *testing.T) {
	taught := map[string]bool{}
	for _, p := range lessons {
		for _, l := range p.lessons {
			_, known := failures.Find(l.failure)
			require.True(t, known, "%q is no failure", l.failure)
			require.False(t, taught[l.failure], "%s breaks two properties", l.failure)
			taught[l.failure] = true
		}
	}
	for _, l := range libraries {
		for _, f := range failures.All {
			c, err := newCard(l, f)
			require.NoError(t, err)
			require.True(t, l.Untold[f.ID] == "" || c.want == failures.NotApplicable, "%s cannot be told of %s", f.ID, l.Name)
		}
	}
}

// The links lead to the version that was built in, so this is where they point.
func TestPromisesStandWhereTheirLinksPoint(t *testing.T) {
	for _, l := range libraries {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", l.Module).Output()
		require.NoError(t, err)
		dir := strings.TrimSpace(string(out))
		require.True(t, strings.HasSuffix(dir, l.version()), "%s is not %s", dir, l.version())
		for about, p := range l.Promises {
			require.Contains(t, []word{promised, limited}, p.Word, about)
			require.NotEmpty(t, p.Says, about)
			if p.Line == 0 {
				require.True(t, strings.HasPrefix(l.link(p), "https://"), about)
				continue
			}
			raw, err := os.ReadFile(filepath.Join(dir, p.File))
			require.NoError(t, err, about)
			lines := strings.Split(string(raw), "\n")
			require.NotEmpty(t, p.Has, about)
			require.LessOrEqual(t, p.Line, len(lines), about)
			require.Contains(t, lines[p.Line-1], p.Has, "%s: %s", about, l.link(p))
		}
	}
}

// generated are the parts of the README that the program writes.
func generated(t *testing.T) map[string]string {
	t.Helper()
	var cards []card
	var words, claims strings.Builder
	claims.WriteString("| | library | what was said | |\n|---|---|---|---|\n")
	for _, l := range libraries {
		for _, f := range failures.All {
			c, err := newCard(l, f)
			require.NoError(t, err)
			cards = append(cards, c)
		}
		fmt.Fprintf(&words, "**%s %s**\n\n| property | its word | |\n|---|---|---|\n", l.Name, l.version())
		for _, lesson := range lessons {
			if p, ok := l.Promises[lesson.property]; ok {
				fmt.Fprintf(&words, "| %s | [%s](%s) | %s |\n", lesson.property, p.Word, l.link(p), p.Says)
			}
		}
		words.WriteString("\n")
	}
	for _, d := range defects {
		if d.Note != "" {
			d.Claim += ". " + strings.ToUpper(d.Note[:1]) + d.Note[1:]
		}
		fmt.Fprintf(&claims, "| `%s` | %s | %s | %s |\n", d.ID, d.Library, d.Claim, verdict(!d.Refuted))
	}
	var table bytes.Buffer
	printTable(&table, cards)
	return map[string]string{
		"cards":    "```text\n" + table.String() + "```\n",
		"promises": strings.TrimSpace(words.String()) + "\n",
		"defects":  claims.String(),
	}
}

func TestREADMEShowsWhatTheProgramPrints(t *testing.T) {
	raw, err := os.ReadFile(readme)
	require.NoError(t, err)
	text := string(raw)
	for name, part := range generated(t) {
		before, rest, ok := strings.Cut(text, "<!-- "+name+" -->\n")
		require.True(t, ok, "the README has no part %q", name)
		shown, after, ok := strings.Cut(rest, "<!-- end -->")
		require.True(t, ok, "the part %q of the README has no end", name)
		if *update {
			text = before + "<!-- " + name + " -->\n" + part + "<!-- end -->" + after
			continue
		}
		require.Equal(t, part, shown, "go test ./cards -run README -update writes it")
	}
	if *update {
		require.NoError(t, os.WriteFile(readme, []byte(text), 0o644))
	}
}
