package others

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/timeline"
)

func TestRedsync(t *testing.T)   { gradeInWorld(t, Redsync, nil) }
func TestRedislock(t *testing.T) { gradeInWorld(t, Redislock, nil) }
func TestGoZero(t *testing.T) {
	gradeInWorld(t, GoZero, map[string]string{"lease-below-a-second": "it takes whole seconds", "each-grant-late": "it takes whole seconds"})
}

func TestRedsyncOverFiveServers(t *testing.T) {
	failures.Check(t, RedsyncOver, failures.Expected("redlock"))
}

// gradeInWorld grades a library in the controlled world.
func gradeInWorld(t *testing.T, s failures.Subject, unfit map[string]string) {
	s, err := failures.DiscoverScripts(t, s)
	require.NoError(t, err)
	grade(t, s.Name, unfit, func(t *testing.T, f catalogue.Failure) failures.Verdict { return failures.Run(t, f, s) })
}

// grade compares the outcome of each failure with testdata/expected.txt. With -v it prints a
// report card. unfit has the reasons why a failure's story does not fit the library.
func grade(t *testing.T, library string, unfit map[string]string, play func(*testing.T, catalogue.Failure) failures.Verdict) {
	want, section := expected(t, library), pageSection(t, library)
	counts := map[string]int{}
	var broken []failures.Verdict
	for _, f := range catalogue.OfLocks() {
		t.Run(f.ID, func(t *testing.T) {
			if why, is := unfit[f.ID]; is {
				require.Equal(t, failures.NotApplicable.String(), want[f.ID])
				t.Skip(why)
			}
			v := play(t, f)
			fmt.Fprintf(t.Output(), "%s: %s\n", f.ID, v.Headline())
			if v.Outcome != failures.Safe && v.Trace != nil && testing.Verbose() {
				fmt.Fprintf(t.Output(), "%s\n%s\n", f.Story, timeline.Text(v.Trace, v.Findings, timeline.Options{}))
			}
			counts[v.Outcome.String()]++
			require.Equal(t, want[f.ID], v.Outcome.String(), v.Sentence())
			if v.Outcome != failures.Broken {
				return
			}
			broken = append(broken, v)
			if _, line, sent := strings.Cut(strings.TrimSuffix(v.Headline(), "."), ".go:"); sent {
				require.True(t, strings.Contains(section, ".go:"+line+"`]"), "docs/others.md does not link line %s", line)
			}
		})
	}
	fmt.Fprintln(t.Output(), counts)
	for _, cause := range failures.Causes(broken) {
		fmt.Fprintf(t.Output(), "%d %s: %s\n", len(cause.Failures), cause.Text, strings.Join(cause.Failures, " "))
	}
}

// expected returns the outcomes of a library, by failure.
func expected(t *testing.T, library string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/expected.txt")
	require.NoError(t, err)
	outcomes := map[string]string{}
	column := -1
	for line := range strings.Lines(string(raw)) {
		failure, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		cells := strings.Split(rest, ", ")
		if column < 0 {
			column = slices.Index(cells, library)
			require.GreaterOrEqual(t, column, 0, library)
			continue
		}
		_, known := catalogue.Find(failure)
		require.True(t, known, failure)
		outcomes[failure] = cells[column]
	}
	return outcomes
}
