package docs_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// termPages are the pages of the articles' names, and how their tables begin.
var termPages = map[string]string{
	"docs/terms.md":       "| in the articles | here | stage and file | test |",
	"docs/zh-CN/terms.md": "| 文章里 | 这里 | 阶段和文件 | 测试 |",
}

// term is a row of such a table.
type term struct {
	theirs, ours, test string
	files              []string // of ours, from the root
}

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	word   = regexp.MustCompile(`^[A-Za-z]\w*$`)
	linked = regexp.MustCompile(`\]\(([^)#]+)`)
)

// terms are the rows of all tables of a page.
func terms(t *testing.T, page string) (rows []term) {
	t.Helper()
	d := documentNamed(t, page)
	inside := false
	for line := range strings.Lines(d.text) {
		line = strings.TrimSpace(line)
		inside = line == termPages[page] || inside && strings.HasPrefix(line, "|")
		if !inside || line == termPages[page] || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		require.Len(t, cells, 4, line)
		row := term{theirs: cells[0], ours: cells[1], test: cells[3]}
		for _, file := range linked.FindAllStringSubmatch(cells[2], -1) {
			row.files = append(row.files, d.fromRoot(file[1]))
		}
		rows = append(rows, row)
	}
	require.Greater(t, len(rows), 90, "the tables of %s are gone", page)
	return rows
}

// names are what a cell quotes.
func names(cell string) (found []string) {
	for _, name := range quoted.FindAllStringSubmatch(cell, -1) {
		found = append(found, name[1])
	}
	return found
}

// Every name of ours has to be in one of the files of its row.
func TestTermsAreWhereTheTablesSay(t *testing.T) {
	for page := range termPages {
		for _, row := range terms(t, page) {
			var text strings.Builder
			for _, file := range row.files {
				raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
				require.NoError(t, err, row.theirs)
				text.Write(raw)
			}
			for _, name := range names(row.ours) {
				if word.MatchString(name) {
					require.Regexp(t, `\b`+name+`\b`, text.String(), "%s: %s is not in %s", page, name, row.files)
				}
			}
		}
	}
}

// Every test of the tables has to exist, and every row that names a file has one.
func TestTermsAreTested(t *testing.T) {
	tests := readCode(t).tests
	for page := range termPages {
		for _, row := range terms(t, page) {
			there := names(row.test)
			require.Equal(t, len(row.files) > 0, len(there) > 0, row.theirs)
			for _, name := range there {
				require.Contains(t, tests[path.Dir(row.files[0])], name, "%s: %s", page, row.theirs)
			}
		}
	}
}

// Both languages have the same rows: the same names, files and tests.
func TestTermsAreTheSameInBothLanguages(t *testing.T) {
	english, chinese := terms(t, "docs/terms.md"), terms(t, "docs/zh-CN/terms.md")
	for i := range min(len(english), len(chinese)) {
		ours, theirs := english[i], chinese[i]
		require.ElementsMatch(t, names(ours.theirs), names(theirs.theirs))
		require.ElementsMatch(t, names(ours.ours), names(theirs.ours), ours.theirs)
		require.Equal(t, ours.files, theirs.files, ours.theirs)
		require.Equal(t, ours.test, theirs.test, ours.theirs)
	}
	require.Len(t, chinese, len(english))
}
