package stages_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/stages"
)

// sendsCommand matches a call that sends a command.
var sendsCommand = regexp.MustCompile(`\.(Do|Run|HGet|Exec|send|Subscribe|Receive)\(`)

// requireLinesOf requires that the commands of a verdict's findings were sent by lines of the lock. It returns whether
// the verdict names a line.
func requireLinesOf(t *testing.T, v failures.Verdict, code stages.Code) bool {
	t.Helper()
	for _, f := range v.Findings {
		if sent := f.CommandIn(v.Trace).Source; sent != nil {
			require.Regexp(t, sendsCommand, code.Line(sent), "%s on %s: %s at %s", v.Failure.ID, v.Subject, f.Text, sent)
		}
	}
	at := v.At()
	if at != nil {
		require.Contains(t, v.Headline(), " at "+at.Short()+".")
	}
	if against, _ := v.Against(); v.Outcome == failures.Broken && slices.Contains([]oracle.Rule{oracle.WrongDelete, oracle.WrongExtend, oracle.Leak}, against.Rule) {
		require.NotNil(t, at, "%s on %s: %s", v.Failure.ID, v.Subject, v.Headline())
	}
	return at != nil
}
