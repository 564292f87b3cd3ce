//go:build live

package stages_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/internal/stages"
)

func TestEveryRunOfEveryLockIsTheSameAgain(t *testing.T) {
	for _, s := range append(slices.Clone(stages.Table), stages.Wait, stages.RedLock) {
		subject, err := failures.DiscoverScripts(t, s.Subject)
		require.NoError(t, err)
		for _, f := range subject.Failures() {
			times := 1
			if f.OnServers() {
				times = 19
			}
			requireSameAgain(t, failures.Run(t, f, subject), subject, times)
		}
	}
}
