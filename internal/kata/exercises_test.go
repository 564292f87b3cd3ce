package kata

import (
	"go/format"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

func TestEveryFolderIsAnExercise(t *testing.T) {
	var folders, listed []string
	entries, err := fs.ReadDir(exercises, "exercises")
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, entry.Name())
		}
	}
	for _, e := range All {
		listed = append(listed, e.Folder)
	}
	require.Equal(t, folders, listed, "in this order")
}

func TestReadmesHaveTheSamePartsInBothLanguages(t *testing.T) {
	for _, e := range All {
		heads := append(slices.Clone(hintHeads[:]), fixedHead, predictHead)
		if e.Search.Blind {
			heads = append(heads, blindHead)
		}
		heads = append(heads, askedHead)
		lists := map[i18n.Language]int{}
		for _, l := range i18n.Languages {
			text, readme := e.Text(l), e.readme(l)
			var found []string
			for _, part := range strings.Split(readme, "\n## ")[1:] {
				head, body, _ := strings.Cut(part, "\n")
				found = append(found, head)
				require.NotEmpty(t, strings.TrimSpace(body), "%s of exercise %s", head, e.ID)
			}
			require.Equal(t, i18n.Each(l, heads...), found, "exercise %s", e.ID)
			require.True(t, strings.HasPrefix(readme, "# "+e.ID+" · "+text.Title+"\n\n"), "exercise %s", e.ID)
			require.NotEmpty(t, text.Title)
			require.NotEmpty(t, text.Task)
			require.NotEmpty(t, text.Predict)
			require.Len(t, text.Choices, len(e.Predict.Means), "exercise %s", e.ID)
			lists[l] = strings.Count(readme, "\n- ")
		}
		require.Equal(t, lists[i18n.English], lists[i18n.Chinese], "items of exercise %s", e.ID)
		require.Equal(t, strings.HasPrefix(e.ID, "r"), e.isRepair(), "exercise %s: what a search makes of it", e.ID)
		for _, id := range append(e.Required(), e.Predict.Failure) {
			_, ok := catalogue.Find(id)
			require.True(t, ok, "exercise %s names %s", e.ID, id)
		}
	}
}

var linkTarget = regexp.MustCompile(`\[([^\]]*)\]\(([^)#]*)(#[^)]*)?\)`)

// The last link of a README is the page with the answer.
func TestLinksOfReadmesLead(t *testing.T) {
	for _, e := range All {
		for _, l := range i18n.Languages {
			links := linkTarget.FindAllStringSubmatch(e.readme(l), -1)
			require.NotEmpty(t, links)
			for _, link := range links {
				page := path.Join("internal/kata/exercises", e.Folder, link[2])
				require.FileExists(t, path.Join(repositoryRoot(t), page))
				require.Equal(t, link[1], page+link[3], "a terminal shows the page's name only")
			}
			require.Equal(t, e.Read.Localize(l), links[len(links)-1][1], "exercise %s", e.ID)
		}
	}
}

var codeInText = regexp.MustCompile("(?s)```.*?```|`[^`]*`|go run \\. \\S+ \\S+")

func TestTextsFitASmallTerminalAndTheChineseIsChinese(t *testing.T) {
	for _, e := range All {
		for _, l := range i18n.Languages {
			text := e.Text(l)
			all := append([]string{text.Task, text.Fixed, text.Predict, text.Blind, text.Question}, text.Choices...)
			for _, said := range append(all, text.Hints[:]...) {
				for line := range strings.Lines((View{Width: narrow, Lang: l}).markdown(said)) {
					require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), narrow, line)
				}
				if l == i18n.Chinese {
					require.NotRegexp(t, `[a-z]+ [a-z]+ [a-z]+`, codeInText.ReplaceAllString(said, ""))
				}
			}
		}
	}
}

func TestMarkdownIsLaidOutForATerminal(t *testing.T) {
	text := "Read [the page](../page.md) that\nfollows.\n\n- one item that is longer\n- two\n\n```go\nif a {\n\tb()\n}\n```\n\nEnd."
	require.Equal(t, "Read the page that\nfollows.\n\n- one item that is\n  longer\n- two\n\n    if a {\n    \tb()\n    }\n\nEnd.\n", View{Width: 20}.markdown(text))
	require.Equal(t, "锁丢了，通知持有者，\n它就停下。\n", View{Width: 20}.markdown("锁丢了，通知\n持有者，它就停下。"))
}

func TestStartDoesNotRevealItsMistake(t *testing.T) {
	for _, e := range All {
		found := ""
		for name, text := range filesOf(t, e.Start) {
			comment, _, isMylock := strings.Cut(text, "package mylock\n")
			require.True(t, isMylock, "%s of exercise %s", name, e.ID)
			found += comment
		}
		want := ""
		switch {
		case e.isRepair():
			want = "// Package mylock is a lock with a mistake.\n"
		case e.ID == "1":
			want = "// Package mylock is the lock that you write.\n"
		}
		require.Equal(t, want, found, "package comment of exercise %s", e.ID)
	}
}

func TestStartIsFormatted(t *testing.T) {
	for _, e := range All {
		for name, text := range filesOf(t, e.Start) {
			formatted, err := format.Source([]byte(text))
			require.NoError(t, err, "%s of exercise %s", name, e.ID)
			require.Equal(t, string(formatted), text, "%s of exercise %s", name, e.ID)
		}
	}
}

func TestChangeThatDoesNotFitItsLockIsNamed(t *testing.T) {
	e := exercise(t, "r10")
	e.Repair = []edits.Change{{File: "lock.go", Old: "own.count"}}
	_, err := e.Solution(os.DirFS(repositoryRoot(t)))
	require.EqualError(t, err, `exercise r10: edits: "own.count" is 5 times in lock.go, not once`)
	e.Changes = []edits.Change{{File: "mutex.go", Old: "GetLock"}}
	_, err = e.Start(os.DirFS(repositoryRoot(t)))
	require.EqualError(t, err, `exercise r10: edits: "GetLock" is 0 times in mutex.go, not once`)
}

func TestSubjectSaysHowTheLockIsMade(t *testing.T) {
	made := func(id string) string { return filesOf(t, exercise(t, id).Start)[subjectName] }
	require.Empty(t, made("5"))
	require.Contains(t, made("6.1"), "// Once Lock returns a hold: adapters.Holding(adapters.With(NewMutex, opts...), ErrLocked, ErrLost)\n\t\treturn adapters.Plain(adapters.With(NewMutex, opts...))")
	require.Contains(t, made("6.2"), "with := func(opts ...Option) world.Constructor {\n\t\treturn adapters.Holding(adapters.With(NewMutex, opts...), ErrLocked, ErrLost)\n")
	require.Contains(t, made("6.2"), "failures.FixedLease: with(WithoutWatchdog()),")
	plain := apart.Files{"mine.go": "package mylock\n\nfunc NewMutex() {}\n"}
	require.Contains(t, apart.SubjectOf(plain), "with := func() world.Constructor {\n\t\t// Once Lock returns a hold: adapters.Holding(NewMutex, ErrLocked, ErrLost)\n\t\treturn adapters.Plain(NewMutex)\n")
	plain["mine.go"] = "package mylock\n\nfunc NewMutex(opts ...Opt) {}\n\nfunc WithMaxHold() {}\n"
	require.Contains(t, apart.SubjectOf(plain), "return with(WithMaxHold(3*lease))(p, name, lease)")

	own := apart.Files{"mine.go": "package mylock\n\nfunc Subject() failures.Subject {\n"}
	require.Len(t, exercise(t, "6.2").withSubject(own), 1, "one that is there stays")
}
