package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/stages"
)

// FuzzStage6 uses the bytes as choices. It prints each violation as a schedule for replay.
func FuzzStage6(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 5, 0, 2, 0, 0, 0, 1, 0, 0})          // pauses while it holds the lock
	f.Add([]byte{0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0, 3, 0, 0, 0}) // waits
	f.Add([]byte{2, 2, 2, 2, 2, 2, 2, 2, 2, 2})
	column := stages.MustFind("6")
	f.Fuzz(func(t *testing.T, choices []byte) {
		subject, err := failures.DiscoverScripts(t, column.Subject)
		require.NoError(t, err)
		for _, q := range schedule.Suite {
			setup, properties := q.Ask(subject, 2)
			at := 0
			setup.Property = properties[0]
			played, err := schedule.Play(t, setup, func(p schedule.Point) (int, bool) {
				if at == len(choices) {
					return p.Default, true
				}
				at++
				return int(choices[at-1]) % len(p.Choices), true
			})
			require.NoError(t, err, schedule.Text(setup, played.Schedule))
			for _, p := range properties {
				if column.Search(p.Name, q.Env) != "none" {
					continue
				}
				setup.Property = p
				found := oracle.Ask(played.Trace, p.Breaks...)
				require.Empty(t, found, "go run . replay '%s'", schedule.Text(setup, played.Schedule))
			}
		}
	})
}
