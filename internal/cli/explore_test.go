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
	"lockkata/internal/stages"
)

var replayLine = regexp.MustCompile(`go run \. replay '([^']+)'`)

func TestExploreDrawsTheCheapestWayAsReplayDoes(t *testing.T) {
	status, out, errors := command(t, "explore", "--stage", "3", "--property", "wrong-delete", "--env", "async")
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "nothing shorter exists")
	require.Contains(t, out, "BROKEN: wrong delete")
	way := replayLine.FindStringSubmatch(out)
	require.NotNil(t, way)
	status, picture, errors := command(t, "replay", way[1])
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, picture)
}

func TestExploreSaysTheBoundOfWhatItDidNotFind(t *testing.T) {
	status, out, errors := command(t, "explore", "--stage", "4", "--property", "wrong-delete", "--env", "async", "--bound", "2")
	require.Equal(t, exitOK, status, errors)
	require.Regexp(t, `no violation up to cost 2 \(\d+ schedules, \d+ states`, out)
	require.NotContains(t, out, "proved")
}

func TestExploreByChanceIsTheSameForTheSameSeed(t *testing.T) {
	ask := []string{"explore", "--stage", "2", "--property", "exclusion", "--env", "async", "--random", "500", "--seed", "7"}
	_, first, errors := command(t, ask...)
	require.Contains(t, first, "by chance", errors)
	_, again, _ := command(t, ask...)
	require.Equal(t, first, again)
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

// The documents show what the search of the whole suite finds. It runs once, where the
// lessons are tested: here they stand for what it finds.
func TestTableInTheDocumentsIsWhatTheLessonsSay(t *testing.T) {
	var answers []answer
	for _, s := range stages.All {
		for _, q := range schedule.Suite {
			_, properties := q.Ask(s.Subject, nil, 1)
			for _, p := range properties {
				one := answer{Stage: s.Number}
				one.Property, one.Env, one.Clients, one.Bound, one.Exhausted = p.Name, q.Env, q.Clients, q.Bound, true
				n, _ := fmt.Sscanf(schedule.Lesson(p.Name, q.Env, s.Number), "%d/%d", &one.Cost, &one.Steps)
				one.Found = n == 2
				answers = append(answers, one)
			}
		}
	}
	answers[0].Runs = schedule.SuiteSchedules
	var out bytes.Buffer
	require.NoError(t, (&app{out: &out}).printAnswers(exploration{stage: "all"}, answers))
	for _, name := range []string{"../../docs/schedules.md", "../../docs/zh-CN/schedules.md"} {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		_, block, _ := strings.Cut(string(raw), "<!-- explore --stage all -->\n```text\n")
		block, _, _ = strings.Cut(block, "```\n<!-- end -->")
		require.Equal(t, out.String(), block, "%s is out of date: go generate ./docs", name)
	}
}
