package failures_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/stages"
)

func TestNoticedRunNamesTheTwoThatWereInside(t *testing.T) {
	const told = "NOTICED: the hold is lost, and its owner is told; "
	for id, says := range map[string]string{
		"key-gone":          "A and B were both inside from 4s to 10s, for 6s.",
		"fixed-lease-taken": "A and B were both inside from 4s to 10s, for 6s.",
		"forced-unlock":     "A and C were both inside from 7.5s to 10s, for 2.5s.",
		"renew-partition":   "no two were inside.",
	} {
		f, _ := catalogue.Find(id)
		require.Equal(t, told+says, failures.Run(t, f, stages.MustFind("6").Subject).Headline(), id)
	}
}
