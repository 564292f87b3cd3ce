package failures_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/incidents"
)

func TestIncidentsBelongToFailures(t *testing.T) {
	for id, all := range incidents.All() {
		_, ok := failures.Find(id)
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
