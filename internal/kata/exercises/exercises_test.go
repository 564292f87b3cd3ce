package exercises

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

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// root is the module's folder.
const root = "../../.."

var repository = os.DirFS(root)

// exercise returns the exercise with that ID.
func exercise(t *testing.T, id string) Exercise {
	t.Helper()
	e, err := Find(id)
	require.NoError(t, err)
	return e
}

// filesOf reads a start or a solution.
func filesOf(t *testing.T, read func(fs.FS) (apart.Files, error)) apart.Files {
	t.Helper()
	files, err := read(repository)
	require.NoError(t, err)
	return files
}

func TestEveryFolderIsAnExercise(t *testing.T) {
	var folders, listed []string
	entries, err := os.ReadDir(".")
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
		heads := append(slices.Clone(hintHeads[:]), fixHead, predictHead)
		if e.Search.Blind {
			heads = append(heads, blindHead)
		}
		heads = append(heads, questionHead)
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
		require.Equal(t, strings.HasPrefix(e.ID, "r"), e.IsRepair(), "exercise %s: what a search makes of it", e.ID)
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
				require.FileExists(t, path.Join(root, page))
				require.Equal(t, link[1], page+link[3], "a terminal shows the page's name only")
			}
			require.Equal(t, e.Read.Localize(l), links[len(links)-1][1], "exercise %s", e.ID)
		}
	}
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
		case e.IsRepair():
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
	_, err := e.Solution(repository)
	require.EqualError(t, err, `exercise r10: edits: "own.count" is 5 times in lock.go, not once`)
	e.Changes = []edits.Change{{File: "mutex.go", Old: "GetLock"}}
	_, err = e.Start(repository)
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
	require.Len(t, exercise(t, "6.2").WithSubject(own), 1, "one that is there stays")
}

func TestOneChoiceOfEachPredictionIsRightForOurLock(t *testing.T) {
	for _, e := range All {
		subject, err := failures.DiscoverScripts(t, stages.MustFind(e.Lock).Subject)
		require.NoError(t, err)
		f, _ := catalogue.Find(e.Predict.Failure)
		_, fits := e.Predicted(failures.Cell{Verdict: failures.Run(t, f, subject)}, i18n.English)
		require.True(t, fits, "exercise %s", e.ID)
	}
}
