package timeline_test

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// here is the source of the lock in these tests.
func here(t *testing.T) timeline.Code {
	t.Helper()
	raw, err := os.ReadFile("text_test.go")
	require.NoError(t, err)
	return timeline.Code{Dir: "timeline", Files: []timeline.File{{Name: "text_test.go", Text: string(raw)}}}
}

// line is the number of the first line that contains a text.
func line(code timeline.Code, text string) string {
	before, _, _ := strings.Cut(code.Files[0].Text, text)
	return world.Source{File: "text_test.go", Line: 1 + strings.Count(before, "\n")}.String()
}

func stepsOf(t *testing.T, scenario func(*world.World)) timeline.Run {
	t.Helper()
	trace, err := world.Run(t, world.Config{New: newPlain}, scenario)
	require.NoError(t, err)
	return timeline.NewRun(trace, oracle.Judge(trace), here(t), texts.English)
}

// find is the first step whose sentence begins with a text.
func find(t *testing.T, r timeline.Run, says string) timeline.Step {
	t.Helper()
	for _, s := range r.Steps {
		if strings.HasPrefix(s.Says, says) {
			return s
		}
	}
	require.Fail(t, "no step says "+says)
	return timeline.Step{}
}

func TestStepsAreTheRowsOfTheText(t *testing.T) {
	r := stepsOf(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
		a.Unlock()
	})
	var said []string
	var at string
	for _, s := range r.Steps {
		at = cmp.Or(s.At, at) // it stands where it changes
		said = append(said, at+" "+s.Says)
	}
	require.Equal(t, []string{
		"0s A calls Lock().",
		"0s A sends SET K locked NX PX 30000, and Redis answers OK.",
		"0s A has the lock, and is inside.",
		"0s Time passes: 31s.",
		"30s The lease ends, and Redis removes the key.",
		"31s B calls Lock().",
		"31s B sends SET K locked NX PX 30000, and Redis answers OK.",
		"31s B has the lock, and is inside beside another: two are inside.",
		"31s A calls Unlock().",
		"31s A sends DEL K, and Redis answers 1.",
		"31s Unlock() comes back to A: unlocked.",
	}, said)
	require.Equal(t, "xx", r.Steps[7].Inside)
	require.Contains(t, r.Steps[7].Found[0], "exclusion: B is inside the lock while A still is")
}

func TestStepKnowsTheLineThatEachClientRuns(t *testing.T) {
	code := here(t)
	r := stepsOf(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{line(code, "func (p *plain) Lock(")}, r.Steps[0].Lines, "where the call begins")
	require.Equal(t, []string{line(code, `p.rdb.Do(ctx, "SET"`)}, r.Steps[1].Lines, "where the command is sent")
	require.Equal(t, []string{""}, r.Steps[2].Lines, "A is in its own code")
	require.Equal(t, []string{line(code, `p.rdb.Do(ctx, "DEL"`)}, find(t, r, "A calls Unlock").Lines, "a call in one line")
	require.Nil(t, find(t, r, "A sends DEL").Lines, "it is as before")
}

func TestStepKnowsTheKeysAndWhenTheirLeasesEnd(t *testing.T) {
	r := stepsOf(t, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(31 * time.Second)
	})
	require.Empty(t, *r.Steps[0].Keys)
	require.Equal(t, []timeline.Held{{Name: "K", Value: "locked", Owner: "A1", Lane: 0, Until: 30000}}, *r.Steps[1].Keys)
	require.Nil(t, r.Steps[2].Keys, "they are as before")
	require.Empty(t, *find(t, r, "The lease ends").Keys)
}

func TestStepKnowsWhoStandsStillIsDeadOrHasNoNetwork(t *testing.T) {
	r := stepsOf(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Freeze()
		b.Cut()
		b.Heal()
		a.Thaw()
		a.Crash()
	})
	var states []string
	for _, s := range r.Steps {
		states = append(states, s.State)
	}
	require.Equal(t, []string{"s-", "sn", "s-", "--", "d-"}, states)
}

func TestWriteToTheLedgerIsOverOnceItIsAnswered(t *testing.T) {
	r := stepsOf(t, func(w *world.World) { w.Client("A").Insert("tea") })
	last := r.Steps[len(r.Steps)-1]
	require.Equal(t, `A asks the ledger to insert order "tea": inserted.`, last.Says)
	require.Equal(t, []string{"tea by A"}, last.Orders)
	require.Equal(t, []string{""}, last.Does)
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func TestNoTextCanEndThePagesScript(t *testing.T) {
	trace, err := world.Run(t, world.Config{New: newPlain}, func(w *world.World) {
		w.Client("A").Insert(`</script><img src="x" onerror='alert("1")'>` + "\u2028&")
	})
	require.NoError(t, err)
	hostile := `a "verdict" </script> <!-- & 'one'`
	page, err := timeline.HTML(trace, nil, timeline.Code{Dir: "x", Files: []timeline.File{{Name: "</script>.go", Text: "`</script>` // \"quoted\""}}},
		timeline.Caption{Verdict: hostile, Tone: timeline.Bad, Subject: "</title><script>alert(1)</script>"})
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(page, "</script>"), "the data's and the script's own")
	require.NotContains(t, page, "<img")
	require.NotContains(t, page, "<script>alert")
	var data struct {
		Verdict timeline.Verdict
		Files   []timeline.File
		Run     timeline.Run
	}
	require.NoError(t, json.Unmarshal([]byte(dataElement.FindStringSubmatch(page)[1]), &data))
	require.Equal(t, hostile, data.Verdict.Text)
	require.Equal(t, "</script>.go", data.Files[0].Name)
	require.Contains(t, data.Run.Steps[0].Says, "</script>")
}

func TestPageOfARunSpeaksTheLanguageOfItsCaption(t *testing.T) {
	trace, err := world.Run(t, world.Config{New: newPlain}, func(w *world.World) { w.Client("A").Lock() })
	require.NoError(t, err)
	page, err := timeline.HTML(trace, nil, timeline.Code{}, timeline.Caption{Subject: "one", Language: texts.Chinese})
	require.NoError(t, err)
	require.Contains(t, page, `<html lang="zh-CN">`)
	var data struct {
		Run        timeline.Run
		Dictionary map[texts.Text]string
	}
	require.NoError(t, json.Unmarshal([]byte(dataElement.FindStringSubmatch(page)[1]), &data))
	require.Equal(t, "A 调用 Lock()。", data.Run.Steps[0].Says)
	for _, text := range timeline.PlayerTexts {
		if in := text.In(texts.Chinese); in != string(text) {
			require.Equal(t, in, data.Dictionary[text])
		}
	}
	require.NotEmpty(t, data.Dictionary["step {n} of {all}"])
}

func TestPageAsksNoHostForAnything(t *testing.T) {
	trace, err := world.Run(t, world.Config{New: newPlain}, func(w *world.World) { w.Client("A").Lock() })
	require.NoError(t, err)
	page, err := timeline.HTML(trace, nil, timeline.Code{}, timeline.Caption{Subject: "one"})
	require.NoError(t, err)
	require.NotRegexp(t, `(?i)(src|href)\s*=\s*["']?(https?:)?//|url\(|@import|fetch\(|XMLHttpRequest`, page)
	require.Contains(t, page, `content="default-src 'none';`)
	again, err := timeline.HTML(trace, nil, timeline.Code{}, timeline.Caption{Subject: "one"})
	require.NoError(t, err)
	require.Equal(t, page, again)
}
