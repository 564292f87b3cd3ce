package page_test

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

// played returns a verdict on a scenario of stage 2.
func played(t *testing.T, scenario func(*world.World)) failures.Verdict {
	t.Helper()
	trace, err := world.Run(t, world.Config{New: stages.MustFind("2").Subject.New}, scenario)
	require.NoError(t, err)
	return failures.Verdict{Outcome: failures.Safe, Trace: trace}
}

func lockOnce(w *world.World) { w.Client("A").Lock() }

func TestNoTextEndsTheScriptOfTheRunsPage(t *testing.T) {
	v := played(t, func(w *world.World) { w.Client("A").Insert(`</script><img src="x" onerror='alert("1")'>` + "\u2028&") })
	code := stages.Code{Dir: "x", Files: []stages.File{{Name: "</script>.go", Text: "`</script>` // \"quoted\""}}}
	page, err := page.Run(v, "</title><script>alert(1)</script>", code, i18n.English)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(page, "</script>"), "the data's and the script's own")
	require.NotContains(t, page, "<img")
	require.NotContains(t, page, "<script>alert")
	var data struct {
		Files []stages.File
		Cell  struct {
			Run struct{ Steps []struct{ Says string } }
		}
	}
	require.NoError(t, json.Unmarshal(dataElement.FindSubmatch([]byte(page))[1], &data))
	require.Equal(t, "</script>.go", data.Files[0].Name)
	require.Contains(t, data.Cell.Run.Steps[0].Says, "</script>")
}

func TestPageOfARunSpeaksItsLanguage(t *testing.T) {
	page, err := page.Run(played(t, lockOnce), "one", stages.Code{}, i18n.Chinese)
	require.NoError(t, err)
	require.Contains(t, page, `<html lang="zh-CN">`)
	var data struct {
		Cell struct {
			Verdict string
			Run     struct{ Steps []struct{ Says string } }
		}
		Dictionary map[i18n.Text]string
	}
	require.NoError(t, json.Unmarshal(dataElement.FindSubmatch([]byte(page))[1], &data))
	require.Equal(t, "A 调用 Lock()。", data.Cell.Run.Steps[0].Says)
	require.Contains(t, data.Cell.Verdict, "安全")
	require.Equal(t, i18n.Text("step {n} of {all}").Localize(i18n.Chinese), data.Dictionary["step {n} of {all}"])
}

func TestPageOfARunAsksNoHostForAnything(t *testing.T) {
	v := played(t, lockOnce)
	one, err := page.Run(v, "one", stages.Code{}, i18n.English)
	require.NoError(t, err)
	require.NotRegexp(t, `(?i)(src|href)\s*=\s*["']?(https?:)?//|url\(|@import|fetch\(|XMLHttpRequest`, one)
	require.Contains(t, html.UnescapeString(one), "content=\"default-src 'none';")
	require.Contains(t, html.UnescapeString(one), "; script-src '"+hashOfScript([]byte(one))+"'\"")
	again, err := page.Run(v, "one", stages.Code{}, i18n.English)
	require.NoError(t, err)
	require.Equal(t, one, again)
}
