package page_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/page"
	"lockkata/internal/stages"
)

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

// sources returns stages whose files contain text that could end a page's element.
func sources() fstest.MapFS {
	files := fstest.MapFS{}
	for _, s := range stages.All() { // the last stage is built on a step
		files[s.Dir+"/mutex.go"] = &fstest.MapFile{Data: []byte("// </script><script>alert('" + s.Dir + "')\npackage x\n")}
		files[s.Dir+"/mutex_test.go"] = &fstest.MapFile{Data: []byte("package x // a test\n")}
	}
	return files
}

// hostile returns verdicts with such texts.
func hostile() [][]failures.Verdict {
	f := catalogue.Failure{ID: "an-id", Family: `"family" & <b>`, Title: "</script>", Story: "<!-- 'story'"}
	var row []failures.Verdict
	for range stages.Public() {
		row = append(row, failures.Verdict{Failure: f, Outcome: failures.Safe, Trace: &trace.Trace{Clients: []string{"A"}, Events: []trace.Event{
			{Step: 1, Kind: trace.Called, Client: "A", Process: "A", Call: 1, Op: "</script>"},
		}}})
	}
	return [][]failures.Verdict{row}
}

func TestNoTextEndsThePagesScript(t *testing.T) {
	page, err := page.Page(page.Shown{Stages: stages.Public(), Rows: hostile()}, sources(), page.Engine{})
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(page), "</script>"), "the data's, the dictionaries', the engine's and the script's own")
	require.NotContains(t, string(page), "<script>alert")
	var data struct {
		Failures []struct{ Title, Story, Family string }
		Stages   []struct {
			Files []struct{ Name, Text string }
		}
	}
	require.NoError(t, json.Unmarshal(dataElement.FindSubmatch(page)[1], &data))
	require.Equal(t, "</script>", data.Failures[0].Title)
	require.Equal(t, `"family" & <b>`, data.Failures[0].Family)
	require.Len(t, data.Stages[0].Files, 1, "no tests")
	require.Contains(t, data.Stages[0].Files[0].Text, "</script><script>alert('stage1_setnx_expire')")
}

func TestSourcesAreInThePageOnce(t *testing.T) {
	page, err := page.Page(page.Shown{Stages: stages.Public(), Rows: append(hostile(), hostile()...)}, sources(), page.Engine{})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(page), "alert('stage1_setnx_expire')"))
}

func TestHandlerServesThePageAndNothingElse(t *testing.T) {
	server := httptest.NewServer(page.Handler([]byte("<!DOCTYPE html>the page"), nil))
	defer server.Close()
	for _, one := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/", 200}, {"HEAD", "/", 200}, {"POST", "/", 405}, {"PUT", "/", 405}, {"DELETE", "/", 405},
		{"GET", "/favicon.ico", 404}, {"GET", "/../go.mod", 404},
	} {
		request, err := http.NewRequestWithContext(t.Context(), one.method, server.URL+one.path, nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, one.status, answer.StatusCode, "%s %s", one.method, one.path)
		if one.status == 200 {
			require.Equal(t, "text/html; charset=utf-8", answer.Header.Get("Content-Type"))
			require.EqualValues(t, 23, answer.ContentLength)
			require.Equal(t, "no-cache", answer.Header.Get("Cache-Control"), "the next serve may show other runs")
			require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
		}
	}
}

func TestBrokenRunNamesTheSearchForItsShortestSchedule(t *testing.T) {
	found := func(m oracle.Rule) []oracle.Finding { return []oracle.Finding{{Rule: m, Text: "it"}} }
	row := hostile()[0]
	for i := range row {
		row[i].Failure.Breaks = []oracle.Rule{oracle.WrongDelete}
		row[i].Outcome, row[i].Findings = failures.Broken, found(oracle.WrongDelete)
	}
	row[0].Findings = found(oracle.Leak) // not the rule of this failure
	row[1].Outcome = failures.Safe       // nothing is broken
	page, err := page.Page(page.Shown{Stages: stages.Public(), Rows: [][]failures.Verdict{row}}, sources(), page.Engine{})
	require.NoError(t, err)
	var data struct {
		Failures []struct {
			Cells []struct{ Search string }
		}
	}
	require.NoError(t, json.Unmarshal(dataElement.FindSubmatch(page)[1], &data))
	var searches []string
	for _, c := range data.Failures[0].Cells {
		searches = append(searches, c.Search)
	}
	require.Equal(t, []string{"", "", "go run . explore --stage 3 --property wrong-delete", "", "", ""}, searches,
		"stages 4 to 6: the search is known to find none")
}

// The page may request its own host only, and that for the engine.
func TestPolicyAllowsTheEngineAndNoOtherHost(t *testing.T) {
	for more, e := range map[string]page.Engine{
		"":                                      {},
		" 'wasm-unsafe-eval'; worker-src blob:": {Runner: "go", Packed: []byte("wasm")},
		" 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'": {Runner: "go </script>", File: page.EngineFile},
	} {
		page, err := page.Page(page.Shown{Stages: stages.Public(), Rows: hostile()}, os.DirFS("../.."), e)
		require.NoError(t, err)
		policy := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src '" + hashOfScript(page) + "'" + more
		require.Contains(t, html.UnescapeString(string(page)), `content="`+policy+`"`)
		require.Equal(t, e.Packed != nil, strings.Contains(string(page), `id="packed"`))
		require.NotContains(t, string(page), "go </script>")
	}
}

// Only a page whose engine lies on a server knows its size: "go run . serve" may be building it still.
func TestPageKnowsTheSizeOfAnEngineThatIsBuilt(t *testing.T) {
	for _, size := range []int{0, 5_800_000} {
		content, err := page.Page(page.Shown{Stages: stages.Public(), Rows: hostile()}, sources(), page.Engine{Runner: "go", File: page.EngineFile, Size: size})
		require.NoError(t, err)
		require.True(t, page.Is(content))
		require.Contains(t, string(content), fmt.Sprintf(`"size":%d,"url":"engine.wasm.gz"`, size))
	}
}

// hashOfScript returns the hash of a page's own script, as its policy names it.
func hashOfScript(page []byte) string {
	hash := sha256.Sum256(regexp.MustCompile(`(?s)<script>(.*)</script>`).FindSubmatch(page)[1])
	return "sha256-" + base64.StdEncoding.EncodeToString(hash[:])
}

func TestHandlerServesTheEngineOrTheErrorOfItsBuild(t *testing.T) {
	for _, one := range []struct {
		packed []byte
		err    error
		status int
		says   string
	}{{[]byte("wasm"), nil, 200, "wasm"}, {nil, errors.New("no Go here"), 503, "no Go here\n"}} {
		server := httptest.NewServer(page.Handler(nil, func(context.Context) ([]byte, error) { return one.packed, one.err }))
		answer, err := server.Client().Get(server.URL + "/" + page.EngineFile)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, one.status, answer.StatusCode)
		require.Equal(t, one.says, string(body))
		server.Close()
	}
}
