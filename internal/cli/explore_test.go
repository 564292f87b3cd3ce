package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

var replayLine = regexp.MustCompile(`go run \. replay '([^']+)'`)

func TestExploreDrawsTheCheapestWayAsReplayDoes(t *testing.T) {
	status, out, errors := command(t, "explore", "--stage", "3", "--property", "wrong-delete", "--env", "async")
	require.Equal(t, exitOK, status, errors)
	require.True(t, strings.HasPrefix(out, "stage 3, wrong-delete in async"), "the words are explained below: %s", out)
	require.Contains(t, out, "nothing shorter exists")
	require.Contains(t, out, "BROKEN: wrong delete")
	way := replayLine.FindStringSubmatch(out)
	require.NotNil(t, way)
	status, picture, errors := command(t, "replay", way[1])
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, picture)
}

func TestExploreReportsItsBound(t *testing.T) {
	status, out, errors := command(t, "explore", "--stage", "4", "--property", "wrong-delete", "--env", "async", "--bound", "2")
	require.Equal(t, exitOK, status, errors)
	require.Regexp(t, `no violation up to 2 faults \(\d+ schedules, \d+ states`, out)
	require.NotContains(t, out, "proved")
}

func TestExploreAsJSON(t *testing.T) {
	status, out, errors := command(t, "explore", "--stage", "1", "--env", "crash", "--json")
	require.Equal(t, exitOK, status, errors)
	var answers []answer
	require.NoError(t, json.Unmarshal([]byte(out), &answers))
	require.Len(t, answers, 1)
	require.True(t, answers[0].Found)
	require.Equal(t, 1, answers[0].Cost)
}

func TestSearchesInChildProcessesHaveTheSameAnswers(t *testing.T) {
	line := strings.Fields("explore --stage 1 --property leak --bound 1 --lang zh")
	here, want, _ := onTerminal(t, usualWidth)
	require.Equal(t, exitOK, here.run(line))
	parent, out, errors := onTerminal(t, usualWidth)
	parent.binary = program(t)
	require.Equal(t, exitOK, parent.run(line), errors)
	require.Contains(t, out.String(), "没有租约：永远留着")
	require.Equal(t, want.String(), out.String())
}

// The documents show the result of the whole suite's search. The search itself runs only where the
// expected results are tested; this test compares the document with these.
func TestTableInTheDocumentsHasTheExpectedResults(t *testing.T) {
	var answers []answer
	for _, s := range stages.Public() {
		for _, q := range schedule.Suite {
			_, properties := q.Ask(s.Subject, 1)
			for _, p := range properties {
				one := answer{Stage: s.ID}
				one.Property, one.Env, one.Clients, one.Bound, one.Exhausted = p.Name, q.Env, q.Clients, q.Bound, true
				n, _ := fmt.Sscanf(s.Search(p.Name, q.Env), "%d/%d", &one.Cost, &one.Steps)
				one.Found = n == 2
				answers = append(answers, one)
			}
		}
	}
	for lang, name := range map[i18n.Language]string{i18n.English: "../../docs/schedules.md", i18n.Chinese: "../../docs/zh-CN/schedules.md"} {
		var out bytes.Buffer
		require.NoError(t, (&app{out: &out, width: usualWidth, lang: lang}).printAnswers(exploration{stage: "all"}, answers, stages.SuiteSchedules))
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		before, rest, _ := strings.Cut(string(raw), "<!-- explore --stage all -->\n```text\n")
		_, after, _ := strings.Cut(rest, "```\n<!-- end -->")
		requireFile(t, name, before+"<!-- explore --stage all -->\n```text\n"+out.String()+"```\n<!-- end -->"+after)
	}
}

const wrongDelete3 = "v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b"

func TestReplayDrawsTheSameTwice(t *testing.T) {
	status, out, errors := command(t, "replay", wrongDelete3)
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "Stage 3, the owner's value in the key: wrong-delete, async, 2 clients that ask for the lock once each\n")
	require.Contains(t, out, "BROKEN: wrong delete: B's DEL removes the lock of A (A1).\n")
	require.Contains(t, out, "9 steps, 3 faults: "+wrongDelete3+"\n")
	_, again, _ := command(t, "replay", wrongDelete3)
	require.Equal(t, out, again)
}

// The drawing ends with the last step, since nothing was chosen after it.
func TestReplayEndsWithTheSchedule(t *testing.T) {
	status, out, _ := command(t, "replay", "v1/stage2/2c/1x/async/wrong-delete/b.B")
	require.Equal(t, exitOK, status)
	require.NotContains(t, out, "DEL")
	require.Contains(t, strings.ReplaceAll(out, "\n", " "), "SAFE in this run, also if it goes on for a lease without another fault: no client removes, overwrites or renews another client's key. 2 steps, 0 faults")

	status, out, _ = command(t, "replay", "v1/stage2/2c/1x/async/wrong-delete/")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "0 steps, 0 faults")
}

// The first schedule ends before B's DEL, the second before the lease of the key that A left behind.
func TestReplayGoesOnUntilItsVerdictIsDecided(t *testing.T) {
	for cut, whole := range map[string]string{
		exampleSchedule: "wrong-delete/b.B.t.b.a.b.b",
		"v1/stage4/2c/1x/reply-loss/leak/a.da.a.A.b.B": "leak/a.da.a.A.b.B.t",
	} {
		_, out, _ := command(t, "replay", cut)
		require.Regexp(t, `(?s)\nBROKEN: .*\nYour schedule ends before that: .*`+whole+`\n`, out)
		_, again, _ := command(t, "replay", cut[:strings.LastIndex(cut, "/")+1]+whole[strings.Index(whole, "/")+1:])
		require.Equal(t, again, regexp.MustCompile("Your schedule .*\n").ReplaceAllString(out, ""))
	}
}

// Stage 3 with the Unlock of stage 4 has no GET that the schedule could execute.
func TestReplayReportsAChangedLock(t *testing.T) {
	swapped(t, "3", "4")
	status, out, errors := command(t, "replay", wrongDelete3)
	require.Equal(t, exitFailed, status)
	require.NotContains(t, out, "SAFE", "the run is not at its end")
	require.Equal(t, "step 9, b, is not possible: the lock has changed since, or the schedule has a typo\n", errors)

	status, _, errors = command(t, "replay", "v1/stage3/2c/1x/async/wrong-delete/a.A.b.wa")
	require.Equal(t, exitFailed, status)
	require.Equal(t, "step 4, wa, is not possible: the lock has changed since, or the schedule has a typo\n", errors)
}
