package docs_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	shown    = regexp.MustCompile("`Test\\w+`|findings/[a-z0-9-]+\\.sh|20\\d\\d-\\d\\d")
	number   = regexp.MustCompile(`\d+(?:\.\d+)+`)
	declared = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// factsOf returns the rows of the tables: the guess, what happens, on which versions, and what shows it.
func factsOf(d *document) (facts [][]string) {
	inTable := false
	for _, line := range d.lines {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if inTable && len(cells) == 4 {
			facts = append(facts, cells)
		}
		inTable = strings.HasPrefix(line, "|---") || inTable && strings.HasPrefix(line, "|")
	}
	return facts
}

// Each fact is shown by a test or a script that exists, or was measured in a month that is told.
func TestFactsAboutServersAreShown(t *testing.T) {
	d, exists := documentNamed(t, "docs/servers.md"), map[string]bool{}
	require.NoError(t, fs.WalkDir(root, "failures_test", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		raw, err := fs.ReadFile(root, name)
		for _, m := range declared.FindAllSubmatch(raw, -1) {
			exists["`"+string(m[1])+"`"] = true
		}
		return err
	}))
	for _, place := range shown.FindAllString(d.text, -1) {
		isDate := strings.HasPrefix(place, "20")
		require.True(t, isDate || exists[place] || has(place), place+" does not exist")
	}
	for _, fact := range factsOf(d) {
		require.Regexp(t, shown, fact[3], fact[0])
	}
}

func TestFactsAboutServersAreTheSameInChinese(t *testing.T) {
	english, chinese := factsOf(documentNamed(t, "docs/servers.md")), factsOf(documentNamed(t, "docs/zh-CN/servers.md"))
	require.Greater(t, len(english), 34)
	require.Len(t, chinese, len(english))
	for i, fact := range english {
		require.Equal(t, number.FindAllString(fact[2], -1), number.FindAllString(chinese[i][2], -1), fact[0])
		require.Equal(t, shown.FindAllString(fact[3], -1), shown.FindAllString(chinese[i][3], -1), fact[0])
	}
}
