package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
)

// themeHeading is a heading of the index: ### [The lease](interview/lease.md)
var themeHeading = regexp.MustCompile(`^### \[.*\]\((interview/([a-z]+)\.md)\)$`)

// indexOf returns the index of the questions with all questions below its themes' headings, and their
// follow-ups. The must-knows come first in their theme.
func indexOf(t *testing.T, d *document, l i18n.Language) string {
	t.Helper()
	themes, err := interview.Parse(root, l)
	require.NoError(t, err)
	var all []interview.Question
	for _, theme := range themes {
		all = append(all, theme.Questions...)
	}
	position := func(q interview.Question) int {
		page, anchor, _ := strings.Cut(q.Place, "#")
		return strings.Index(documentNamed(t, page).text, fmt.Sprintf("<a id=%q>", anchor))
	}
	slices.SortStableFunc(all, func(a, b interview.Question) int { return position(a) - position(b) })
	folder, lines, inThemes := filepath.Dir(d.name)+"/", []string{}, false
	for _, line := range d.lines {
		m := themeHeading.FindStringSubmatch(line)
		if inThemes = inThemes || m != nil; !inThemes {
			lines = append(lines, line)
		}
		if m == nil {
			continue
		}
		lines = append(lines, line, "")
		for _, page := range []string{"interview/must.md", m[1]} {
			for _, q := range all {
				place := strings.TrimPrefix(q.Place, folder)
				if strings.HasPrefix(place, page+"#") && (page == m[1] || strings.HasPrefix(q.ID, m[2]+"-")) {
					lines = append(lines, fmt.Sprintf("- [%s](%s)", q.Title, place), "  - "+followUps(q))
				}
			}
		}
		lines = append(lines, "")
	}
	return strings.Join(lines, "\n")
}

// followUps returns the follow-ups of a question in one line, without their links.
func followUps(q interview.Question) string {
	var all []string
	for _, f := range q.FollowUps {
		all = append(all, lineEnd.ReplaceAllString(linked.ReplaceAllString(f.Question, "$2"), " "))
	}
	return strings.Join(all, " · ")
}

// With -update the test writes the lists.
func TestIndexListsTheQuestionsAndTheirFollowUps(t *testing.T) {
	for name, l := range map[string]i18n.Language{"docs/interview.md": i18n.English, "docs/zh-CN/interview.md": i18n.Chinese} {
		d := documentNamed(t, name)
		text := indexOf(t, d, l)
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("..", filepath.FromSlash(name)), []byte(text), 0o644))
			continue
		}
		require.Empty(t, udiff.Unified(name, "the questions", d.text, text), "out of date: go generate ./docs")
	}
}
