package columns

import (
	"testing"

	failures "lockkata/failures_test"
)

// Ready returns the columns with the scripts that their locks use.
func Ready(t *testing.T, of []Column) ([]Column, error) {
	ready := make([]Column, len(of))
	for n, c := range of {
		var err error
		if c.Subject, err = failures.DiscoverScripts(t, c.Subject); err != nil {
			return nil, err
		}
		ready[n] = c
	}
	return ready, nil
}

// Judge plays failures on the columns: a row for each failure, in it a verdict for each
// column.
func Judge(t *testing.T, all []failures.Failure, of []Column) [][]failures.Verdict {
	rows := make([][]failures.Verdict, len(all))
	for i, f := range all {
		for _, c := range of {
			rows[i] = append(rows[i], failures.Run(t, f, c.Subject))
		}
	}
	return rows
}
