package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// foreign are words that mean nothing to a reader: places on somebody's machine,
// and papers that are not in the repository.
var foreign = []string{
	"/work/", "/tmp/w/", "/root/", "/home/", "/Users/", "file://",
	"CATALOGUE.md", "DESIGN.md", "STYLE.md", "seeds/", "research/", "TODO", "FIXME",
}

// The documents, their pictures and their pages speak of nothing else.
func TestDocumentsSpeakOnlyOfTheProject(t *testing.T) {
	var problems []string
	for _, d := range append(documents(t), read(t, folders)...) {
		problems = append(problems, foreignWords(d.name, d.text)...)
	}
	for _, pattern := range []string{"*.html", "zh-CN/*.html", "pictures/*"} {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range names {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			problems = append(problems, foreignWords("docs/"+name, string(raw))...)
		}
	}
	requireNone(t, problems)
}

func foreignWords(name, text string) (problems []string) {
	d := document{name: name}
	for i, line := range strings.Split(text, "\n") {
		for _, word := range foreign {
			if strings.Contains(line, word) {
				problems = append(problems, d.at(i+1)+"a reader has no "+word)
			}
		}
	}
	return problems
}

func TestForeignWordsAreFound(t *testing.T) {
	require.Equal(t, []string{"docs/x.md:2: a reader has no seeds/"}, foreignWords("docs/x.md", "a work of art\nsee seeds/one\n"))
	for _, word := range foreign {
		require.Len(t, foreignWords("x.md", word), 1)
	}
	require.Empty(t, foreignWords("x.md", "a seed, a design, working, /tmp/order.svg"))
}
