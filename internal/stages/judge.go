package stages

import (
	"fmt"
	"testing"

	failures "lockkata/failures_test"
)

// Rehearse returns the scripts of each stage, in the order of [All].
func Rehearse(t *testing.T) ([][]string, error) {
	scripts := make([][]string, len(All))
	for n, stage := range All {
		var err error
		if scripts[n], err = failures.Rehearse(t, stage.Subject); err != nil {
			return nil, fmt.Errorf("%s does not survive an ordinary day: %w", stage.Subject.Name, err)
		}
	}
	return scripts, nil
}

// Judge plays the whole catalogue on every stage: a row for each failure, in it a
// verdict for each stage.
func Judge(t *testing.T, scripts [][]string) [][]failures.Verdict {
	rows := make([][]failures.Verdict, len(failures.All))
	for i, f := range failures.All {
		for n, stage := range All {
			rows[i] = append(rows[i], failures.Run(t, f, stage.Subject, scripts[n]))
		}
	}
	return rows
}
