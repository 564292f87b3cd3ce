package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var replayLine = regexp.MustCompile(`go run \. replay '([^']+)'`)

func TestExploreDrawsTheCheapestWayAsReplayDoes(t *testing.T) {
	status, out, errors := command(t, "explore", "--stage", "3", "--property", "wrong-delete")
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "nothing shorter exists")
	require.Contains(t, out, "BROKEN: wrong delete")
	drawn := false
	for _, line := range replayLine.FindAllStringSubmatch(out, -1) {
		status, picture, errors := command(t, "replay", line[1])
		require.Equal(t, exitOK, status, errors)
		drawn = drawn || strings.Contains(out, picture)
	}
	require.True(t, drawn, "the picture is not what replay draws")
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

func TestExploreRefusesWhatMakesNoSense(t *testing.T) {
	for says, args := range map[string][]string{
		`--stage "x": give a number from 1 to 6, or all`: {"--stage", "x"},
		`there is no stage 7`:                            {"--stage", "7"},
		`there is no environment "nowhere"`:              {"--env", "nowhere"},
		`there is no property "luck"`:                    {"--property", "luck"},
		`--clients 5: it can be 2 or 3`:                  {"--clients", "5"},
		`--attempts 0: it can be 1 to 3`:                 {"--attempts", "0"},
		`--bound 12: it can be 0 to 9`:                   {"--bound", "12"},
		`--random -1: give how many schedules to run`:    {"--random", "-1"},
		`nobody asks about leak in pause`:                {"--property", "leak", "--env", "pause"},
		`explore takes no argument, but was given "3"`:   {"3"},
	} {
		status, out, errors := command(t, append([]string{"explore"}, args...)...)
		require.Equal(t, exitBadUsage, status)
		require.Contains(t, errors, says)
		require.Equal(t, 1, strings.Count(errors, "\n"))
		require.Empty(t, out)
	}
}
