package docs_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	proof   = regexp.MustCompile("`Test\\w+`|findings/[a-z0-9-]+\\.sh|20\\d\\d-\\d\\d")
	number  = regexp.MustCompile(`\d+(?:\.\d+)+`)
	declare = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// fact is a row of docs/servers.md.
type fact struct{ guess, versions, shownBy string }

func factsOf(d *document) (facts []fact) {
	inTable := false
	for _, line := range d.lines {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if inTable && len(cells) == 4 {
			facts = append(facts, fact{cells[0], cells[2], cells[3]})
		}
		inTable = strings.HasPrefix(line, "|---") || inTable && strings.HasPrefix(line, "|")
	}
	return facts
}

// Each fact is shown by a test or a script that exists, or was measured at a known time.
func TestFactsAboutServersAreShown(t *testing.T) {
	declared := map[string]bool{}
	require.NoError(t, fs.WalkDir(root, "failures_test", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		raw, err := fs.ReadFile(root, name)
		for _, m := range declare.FindAllSubmatch(raw, -1) {
			declared["`"+string(m[1])+"`"] = true
		}
		return err
	}))
	d := documentNamed(t, "docs/servers.md")
	for _, f := range factsOf(d) {
		require.Regexp(t, proof, f.shownBy, f.guess)
	}
	for _, place := range proof.FindAllString(d.text, -1) {
		switch {
		case strings.HasPrefix(place, "findings/"):
			require.True(t, has(place), place)
		case strings.HasPrefix(place, "`"):
			require.True(t, declared[place], place)
		}
	}
}

func TestFactsAboutServersAreTheSameInChinese(t *testing.T) {
	english, chinese := factsOf(documentNamed(t, "docs/servers.md")), factsOf(documentNamed(t, "docs/zh-CN/servers.md"))
	require.NotEmpty(t, english)
	require.Equal(t, len(english), len(chinese))
	for i, f := range english {
		require.Equal(t, number.FindAllString(f.versions, -1), number.FindAllString(chinese[i].versions, -1), f.guess)
		require.Equal(t, proof.FindAllString(f.shownBy, -1), proof.FindAllString(chinese[i].shownBy, -1), f.guess)
	}
}
