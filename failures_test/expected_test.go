package failures_test

import (
	"go/build"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/incidents"
)

func TestEachFailureHasItsExpectedOutcomes(t *testing.T) {
	var all []string
	for _, f := range catalogue.All {
		all = append(all, f.ID)
	}
	require.Equal(t, all, failures.ExpectedRows)
}

func TestExpectedOutcomeDependsOnTheLock(t *testing.T) {
	f, found := catalogue.Find("crash-before-expire")
	require.True(t, found)
	require.Equal(t, failures.Broken, failures.Expected("1")(f))
	require.Equal(t, failures.Safe, failures.Expected("2")(f))
	require.Zero(t, failures.Expected("7")(f), "there is no such lock")
}

func TestMalformedTablePanics(t *testing.T) {
	for text, want := range map[string]string{
		"1 2\noom x":            "failures: row oom has 1 words for 2 columns",
		"1 2\noom x o\noom x o": "failures: row oom is there twice",
	} {
		require.PanicsWithError(t, want, func() { failures.ReadTable(text) })
	}
	table := failures.ReadTable("# a heading\n1 6.1\n\noom  x o\n")
	require.Equal(t, "o", table.Cell("oom", "6.1"))
	require.Empty(t, table.Cell("oom", "7")+table.Cell("ooom", "1"))
}

func TestFirstStageThatFixesAFailure(t *testing.T) {
	for id, want := range map[string][2]string{
		"late-unlock": {"stage3", "4"}, "grant-reply-lost": {"stage5", "6.2"}, "process-pause": {"stage3", ""}, "double-unlock": {"mylock", ""},
	} {
		f, found := catalogue.Find(id)
		require.True(t, found)
		require.Equal(t, want[1], failures.FixedIn(f, want[0]), id)
	}
}

func TestIncidentsBelongToFailures(t *testing.T) {
	for id, all := range incidents.All() {
		_, ok := catalogue.Find(id)
		require.True(t, ok, "%s is no failure of the catalogue", id)
		require.NotEmpty(t, all, id)
		seen := map[string]bool{}
		for _, i := range all {
			link, err := url.Parse(i.Link)
			require.NoError(t, err, id)
			require.Equal(t, "https", link.Scheme, "%s: %s", id, i.Link)
			require.NotEmpty(t, link.Host, "%s: %s", id, i.Link)
			require.False(t, seen[i.Link], "%s: %s is there twice", id, i.Link)
			seen[i.Link] = true
			require.NotEmpty(t, i.Source, i.Link)
		}
	}
}

func TestIncidentsOnGitHubNameTheirThread(t *testing.T) {
	require.Equal(t, incidents.Incident{Source: "redis/redis-py #818", Link: "https://github.com/redis/redis-py/issues/818"},
		incidents.All()["crash-before-expire"][0])
}

// The rules and the pictures see the trace only: neither the world that wrote it, nor go-redis, nor a
// lock. The world knows no rule, and the trace nothing of ours. The catalogue does not know how its failures
// are run.
func TestImportsPointOneWay(t *testing.T) {
	for dir, allowed := range map[string][]string{
		"trace":          nil,
		"world":          {"trace"},
		"oracle":         {"trace", "i18n"},
		"catalogue":      {"trace", "world", "oracle", "i18n"},
		"timeline":       {"trace", "oracle", "i18n", "term"},
		"timeline/svg":   {"trace", "oracle", "timeline", "i18n", "term"},
		"live/realredis": {"trace", "world", "adapters", "proxy", "redisserver"},
	} {
		p, err := build.ImportDir(dir, 0)
		require.NoError(t, err)
		for _, path := range p.Imports {
			if ours, is := strings.CutPrefix(path, "lockkata/"); is {
				require.Contains(t, allowed, ours[strings.LastIndexByte(ours, '/')+1:], "%s imports %s", dir, path)
			}
			require.False(t, dir != "world" && dir != "live/realredis" && strings.Contains(path, "redis"), "%s imports %s", dir, path)
		}
	}
}
