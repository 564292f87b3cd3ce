package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/incidents"
	"lockkata/failures_test/world"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

//go:generate go test lockkata/internal/cli -run TestPicturesAre|TestFailuresDocument|TestPageIs|TestTableInThe -timeout 30m -update

var update = flag.Bool("update", false, "write the pictures, the catalogue of failures and the page into the documents")

// requireFile requires that a file has this text; with -update it writes the file.
func requireFile(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		return
	}
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, text == string(raw), "%s is out of date: go generate ./internal/cli", name)
}

var (
	pictureShown = regexp.MustCompile(`pictures/(([a-z0-9-]+)-([0-9.]+|redlock)\.svg)\)`)
	pageFolders  = []string{"../..", "../../stage*", "../../docs", "../../docs/*", "../../docs/zh-CN/interview"} // of the documents
)

// The documents show pictures that the command draws, in their own language, and the folders have no others.
func TestPicturesAreWhatTheCommandDraws(t *testing.T) {
	want := map[string]string{}
	for _, folder := range pageFolders {
		pages, err := filepath.Glob(folder + "/*.md")
		require.NoError(t, err)
		for _, name := range pages {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			folder, lang := "../../docs/pictures/", "en"
			if strings.Contains(name, "zh-CN") {
				folder, lang = "../../docs/zh-CN/pictures/", "zh"
			}
			for _, m := range pictureShown.FindAllStringSubmatch(string(raw), -1) {
				if want[folder+m[1]] != "" {
					continue
				}
				status, out, errors := command(t, "show", m[2], "--stage", m[3], "--svg", "--lang", lang)
				require.Equal(t, exitOK, status, errors)
				want[folder+m[1]] = out
			}
		}
	}
	for _, folder := range []string{"../../docs/pictures/", "../../docs/zh-CN/pictures/"} {
		names, err := filepath.Glob(folder + "*.svg")
		require.NoError(t, err)
		for _, name := range names {
			if *update && want[folder+filepath.Base(name)] == "" {
				require.NoError(t, os.Remove(name))
				continue
			}
			require.Contains(t, want, folder+filepath.Base(name), "no document shows it: go generate ./internal/cli")
		}
	}
	for name, text := range want {
		requireFile(t, name, text)
	}
}

func TestFailuresDocumentIsWhatTheCommandPrints(t *testing.T) {
	for lang, name := range map[string]string{"en": "../../docs/failures.md", "zh": "../../docs/zh-CN/failures.md"} {
		status, out, errors := command(t, "list", "--markdown", "--lang", lang)
		require.Equal(t, exitOK, status, errors)
		requireFile(t, name, out)
		for _, f := range catalogue.Everything {
			require.Equal(t, 1, strings.Count(out, `<a id="`+f.ID+`"></a>`), f.ID)
			require.Equal(t, f.FirstScreen, strings.Contains(out, "](pictures/"+f.ID+"-"), "a lesson has a picture: "+f.ID)
		}
		for _, all := range incidents.All() {
			for _, i := range all {
				require.Contains(t, out, "["+i.Source+"]("+i.Link+")")
			}
		}
	}
}

// The page has a recorded run of an edited lock, which it judges itself. With -update the test records it.
func TestPageIsGivenTheRunOfAnEditedLock(t *testing.T) {
	e := page.Edited()
	if *update {
		root, err := apart.FindRoot(".")
		require.NoError(t, err)
		f, _ := catalogue.Find(e.Failure)
		played, err := (&app{sources: os.DirFS("../.."), lang: i18n.English}).playEdited(t.Context(), root, e, f)
		require.NoError(t, err)
		trace, err := json.MarshalIndent(played.Trace, "", " ")
		require.NoError(t, err)
		requireFile(t, "../../"+page.EditedTrace, string(trace)+"\n")
	}
	others, err := page.PlayOthers(t, os.DirFS("../.."))
	require.NoError(t, err)
	require.Equal(t, e.Outcome, others[len(others)-1].Runs[0].Outcome)
}

// linkedRuns returns the runs to which the documents link in the page, as "late-unlock/3".
func linkedRuns(t *testing.T) (all []string) {
	t.Helper()
	for _, folder := range append(pageFolders, "../../findings") {
		names, err := filepath.Glob(folder + "/*.md")
		require.NoError(t, err)
		for _, name := range names {
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, link := range runLinked.FindAllStringSubmatch(string(raw), -1) {
				for _, stage := range strings.Split(link[2], "..") { // two of them side by side
					if link[1] != "learn" {
						all = append(all, link[1]+"/"+stage)
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var runLinked = regexp.MustCompile(`index\.html(?:\?[a-z=]+)?#([a-z-]+)/([0-9.a-z]+)`)

// smallPage returns docs/index.html: the lesson, the failures of the first screen, and those whose runs are linked.
// Each is played on all stages.
func smallPage(t *testing.T, all []catalogue.Failure) []byte {
	t.Helper()
	isLinked := map[string]bool{}
	for _, run := range linkedRuns(t) {
		id, _, _ := strings.Cut(run, "/")
		isLinked[id] = true
	}
	all = slices.DeleteFunc(slices.Clone(all), func(f catalogue.Failure) bool { return !f.FirstScreen && !isLinked[f.ID] })
	shown, sources := page.Shown{Stages: stages.Public(), IsPart: true}, os.DirFS("../..")
	var err error
	shown.Rows, err = failures.Rows(t.Context(), all, stages.Here(t, shown.Stages), 1)
	require.NoError(t, err)
	shown.Lesson, err = lesson.PlayAll(t, sources)
	require.NoError(t, err)
	content, err := page.Page(shown, sources, page.Engine{})
	require.NoError(t, err)
	return content
}

func TestPageIsUpToDateAndSmall(t *testing.T) {
	small := smallPage(t, catalogue.All)
	require.Less(t, len(small), 700_000, "the page opens at once")
	requireFile(t, "../../docs/index.html", string(small))
	shown := runsIn(t, small)
	linked := linkedRuns(t)
	require.Len(t, linked, 6, "%s", linked)
	require.Subset(t, shown, linked)
	for _, f := range catalogue.All {
		for _, s := range stages.Public() {
			if f.FirstScreen && s.Expect(f) != failures.NotApplicable {
				require.Contains(t, shown, f.ID+"/"+s.ID)
			}
		}
	}
}

// A failure that no document links to may change without a new docs/index.html.
func TestPageDoesNotDependOnOtherFailures(t *testing.T) {
	before := smallPage(t, catalogue.All)
	others := []string{"wake-lost", "redlock-pause"}
	for _, all := range [][]catalogue.Failure{catalogue.All, catalogue.OfServers, catalogue.Everything} {
		for i, was := range all {
			if slices.Contains(others, was.ID) {
				defer func() { all[i] = was }()
				all[i].Title, all[i].Story, all[i].Script = "another title", "another story", func(*world.World) {}
			}
		}
	}
	require.True(t, bytes.Equal(before, smallPage(t, catalogue.All)))
}

// runsIn returns the runs of a page on the stages, as "late-unlock/3".
func runsIn(t *testing.T, content []byte) (all []string) {
	t.Helper()
	var data struct {
		Stages   []struct{ ID string }
		Failures []struct {
			ID    string
			Cells []struct{ Run any }
		}
	}
	raw := regexp.MustCompile(`(?s)id="data">(.*?)</script>`).FindSubmatch(content)[1]
	require.NoError(t, json.Unmarshal(raw, &data))
	for _, f := range data.Failures {
		for i, c := range f.Cells {
			if c.Run != nil {
				all = append(all, f.ID+"/"+data.Stages[i].ID)
			}
		}
	}
	return all
}

// serve shows all runs, until it is interrupted.
func TestServedPageIsWhole(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	out, printed := io.Pipe()
	a := &app{t: t, sources: os.DirFS("../.."), out: printed, err: io.Discard}
	ended := make(chan int, 1)
	go func() {
		ended <- a.runWithin(ctx, []string{"serve", "--addr", "127.0.0.1:0", "--lang", "zh"})
		_ = printed.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(line)
	require.Equal(t, "在 "+address+" 可以一步一步看每次运行；按 Ctrl-C 结束\n", line)

	answer, err := http.Get(address)
	require.NoError(t, err)
	served, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Less(t, len(served), 2_600_000, "the page opens at once")
	shown := runsIn(t, served)
	for _, f := range catalogue.All {
		for _, s := range stages.Public() {
			require.Equal(t, s.Expect(f) != failures.NotApplicable, slices.Contains(shown, f.ID+"/"+s.ID), f.ID)
		}
	}
	end()
	require.Equal(t, exitInterrupted, <-ended)
}

func TestPageHasNoSpaceBetweenChineseWords(t *testing.T) {
	text, err := os.ReadFile("../../docs/index.html")
	require.NoError(t, err)
	require.Empty(t, regexp.MustCompile(`.{0,20}\p{Han} \p{Han}.{0,20}`).FindAllString(string(text), 5))
}

func TestShowWritesAPageThatStandsAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	status, out, errors := command(t, "show", "check-then-delete", "--stage", "3", "--html", name)
	require.Equal(t, exitOK, status, errors)
	require.Empty(t, out)
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Contains(t, string(raw), "<title>the lock changes hands between GET and DEL, on stage 3")
	require.Regexp(t, `"mutex\.go:\d+"`, string(raw))
	require.Less(t, len(raw), 100_000)
	status, out, _ = command(t, "show", "check-then-delete", "--stage", "3", "--html", "-")
	require.Equal(t, exitOK, status)
	require.Equal(t, string(raw), out)
}

// A page is written whole or not at all, and through a link.
func TestPageIsWrittenWholeAndThroughALink(t *testing.T) {
	dir := t.TempDir()
	page, link := filepath.Join(dir, "page.html"), filepath.Join(dir, "link.html")
	require.NoError(t, os.Symlink(page, link))
	require.NoError(t, os.WriteFile(page+".new", []byte("mine"), 0o644))
	require.NoError(t, os.WriteFile(page, nil, 0o600))
	require.NoError(t, writePage(page, []byte("one")))
	info, err := os.Stat(page)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode(), "the file's mode stays")
	mine, err := os.ReadFile(page + ".new")
	require.NoError(t, err)
	require.Equal(t, "mine", string(mine), "no other file is touched")
	require.NoError(t, writePage(link, []byte("two")))
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, "two", string(raw))
	require.Error(t, writePage(dir, []byte("three")))
	left, err := filepath.Glob(dir + "/*")
	require.NoError(t, err)
	require.Len(t, left, 3, "no part of a page")
}
