package docs_test

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
)

// row is something that one of the five documents has, and where it is in this repository.
type row struct {
	subject, chinese string
	places           []string
}

// rowsOf returns the rows of one of the five documents, from testdata/documents.txt.
func rowsOf(t *testing.T, document string) (rows []row) {
	t.Helper()
	raw, err := fs.ReadFile(root, "docs/testdata/documents.txt")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(raw), "\n# "+document+"\n")
	require.True(t, found, "testdata/documents.txt has no rows of "+document)
	text, _, _ = strings.Cut(text, "\n# ")
	for line := range strings.Lines(text) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		require.Len(t, parts, 3, line)
		rows = append(rows, row{parts[0], parts[1], strings.Fields(parts[2])})
	}
	return rows
}

// tableOf returns the rows of one of the five documents as a table of the page.
func tableOf(t *testing.T, page *document, document string) (string, error) {
	t.Helper()
	chinese := languageOf(page.name) == i18n.Chinese
	lines := []string{"| | in the document | here |", "|---|---|---|"}
	if chinese {
		lines[0] = "| | 文档里 | 这里 |"
	}
	for i, r := range rowsOf(t, document) {
		var shown []string
		for _, p := range r.places {
			text, err := shownPlace(page, p)
			if err != nil {
				return "", fmt.Errorf("%s %d: %w", document, i+1, err)
			}
			shown = append(shown, text)
		}
		subject := r.subject
		if chinese {
			subject = r.chinese
		}
		lines = append(lines, fmt.Sprintf("| %d | %s | %s |", i+1, subject, strings.Join(shown, " · ")))
	}
	return strings.Join(lines, "\n") + "\n", nil
}

var testPlace = regexp.MustCompile(`^([a-z0-9_/]+)\.((?:Test|Example)\w+)$`)

// shownPlace returns what the page shows for a place: a link to an anchor or a failure, or the command
// that runs a test.
func shownPlace(page *document, place string) (string, error) {
	name, anchor, isAnchor := strings.Cut(place, "#")
	if m := testPlace.FindStringSubmatch(place); m != nil {
		if !declares(m[1], m[2]) {
			return "", fmt.Errorf("%s has no %s", m[1], m[2])
		}
		return fmt.Sprintf("`go test -v -run %s ./%s`", m[2], m[1]), nil
	}
	if !isAnchor {
		if _, found := catalogue.Find(place); !found {
			return "", fmt.Errorf("%s is neither a failure, nor an anchor, nor a test", place)
		}
		return fmt.Sprintf("[%s](failures.md#%s)", place, place), nil
	}
	there := named(documents(), path.Join(path.Dir(page.name), name))
	if there == nil {
		return "", fmt.Errorf("there is no %s", name)
	}
	title, found := there.titleAt(anchor)
	if !found {
		return "", fmt.Errorf("%s has no anchor #%s above a heading", there.name, anchor)
	}
	if there == page {
		name = ""
	}
	return fmt.Sprintf("[%s](%s#%s)", strings.TrimSpace(firstSentence.FindString(title)), name, anchor), nil
}

// firstSentence matches the first sentence of a title, by which a question is recognized.
var firstSentence = regexp.MustCompile(`^.+?(?:[.?](?: |$)|[。？]|$)`)

// declares reports whether the tests of the folder declare the function.
func declares(folder, function string) bool {
	files, _ := fs.Glob(root, folder+"/*_test.go") // the pattern is valid
	return slices.ContainsFunc(files, func(name string) bool {
		raw, err := fs.ReadFile(root, filepath.ToSlash(name))
		return err == nil && strings.Contains(string(raw), "\nfunc "+function+"(")
	})
}

// titleAt returns the heading below <a id="anchor">.
func (d *document) titleAt(anchor string) (string, bool) {
	a := slices.IndexFunc(d.anchors, func(p part) bool { return p.text == anchor })
	if a < 0 {
		return "", false
	}
	h := slices.IndexFunc(d.headings, func(h heading) bool { return h.line == d.anchors[a].line+1 })
	if h < 0 {
		return "", false
	}
	return d.headings[h].text, true
}

func TestEachRowOfTheDocumentsHasAPlace(t *testing.T) {
	for document, count := range map[string]int{"doc1": 27, "doc2": 46, "doc3": 79, "doc4": 40, "doc5": 29} {
		rows := rowsOf(t, document)
		require.Len(t, rows, count, document)
		for _, r := range rows {
			require.NotEmpty(t, r.places, r.subject)
			require.NotEmpty(t, r.chinese, r.subject)
		}
	}
}

func TestPlaceThatVanishedIsReported(t *testing.T) {
	page := documentNamed(t, "docs/documents.md")
	for place, problem := range map[string]string{
		"names.md":                           "names.md is neither a failure, nor an anchor, nor a test",
		"../stage3_owner_value":              "../stage3_owner_value is neither a failure, nor an anchor, nor a test",
		"names.md#names-gone":                "docs/names.md has no anchor #names-gone above a heading",
		"gone.md#names-lock":                 "there is no gone.md",
		"gone-failure":                       "gone-failure is neither a failure, nor an anchor, nor a test",
		"stage6_reentrant_pubsub.TestIsGone": "stage6_reentrant_pubsub has no TestIsGone",
	} {
		_, err := shownPlace(page, place)
		require.EqualError(t, err, problem)
	}
	for place, shown := range map[string]string{
		"names.md#names-unlock":              "[Releasing it](names.md#names-unlock)",
		"late-unlock":                        "[late-unlock](failures.md#late-unlock)",
		"stage2_set_nx_ex.Example_luaScript": "`go test -v -run Example_luaScript ./stage2_set_nx_ex`",
	} {
		text, err := shownPlace(page, place)
		require.NoError(t, err)
		require.Equal(t, shown, text)
	}
}
