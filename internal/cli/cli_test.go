package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// command runs a command line as the program would, without a terminal.
func command(t *testing.T, args ...string) (status int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{t: t, sources: os.DirFS("../.."), out: &stdout, err: &stderr, width: 120}
	status = a.run(args)
	return status, stdout.String(), stderr.String()
}

func TestMatrixShowsEveryFailureOnEveryStage(t *testing.T) {
	status, out, errors := command(t)
	require.Equal(t, exitOK, status, errors)
	for _, f := range failures.All {
		require.Regexp(t, `(?m)^  `+f.ID+` +([✗✓~◐–]  ){5}[✗✓~◐–]   `, out)
	}
	require.Contains(t, out, "every cell is what its lesson says")
	require.NotContains(t, out, "\x1b", "no colour without a terminal")
}

func TestMatrixAsJSONHasEveryCell(t *testing.T) {
	status, out, _ := command(t, "--json")
	require.Equal(t, exitOK, status)
	var cells []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &cells))
	require.Len(t, cells, len(failures.All)*len(stages.All))
}

func TestMatrixNamesTheCellThatIsNotAsExpected(t *testing.T) {
	healthy := stages.All[2].Subject.New
	stages.All[2].Subject.New = stages.All[1].Subject.New // stage 3 loses its owner
	defer func() { stages.All[2].Subject.New = healthy }()
	status, out, errors := command(t)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, "delete-foreign on stage3: expected safe, got broken: wrong delete: A's DEL removes the lock of B (B1)")
	require.Contains(t, out, "cells (!) are not what their lesson says")
}

func TestAccidentallyBetterStageIsAFailureToo(t *testing.T) {
	healthy := stages.All[2].Subject
	stages.All[2].Subject.New = stages.All[3].Subject.New // stage 3 gets stage 4's script
	defer func() { stages.All[2].Subject = healthy }()
	status, _, errors := command(t)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, "check-then-delete on stage3: expected broken, got safe: no rule is broken")
}

func TestShowDrawsTheLastStageThatBreaks(t *testing.T) {
	status, out, _ := command(t, "show", "check-then-delete")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "On stage 3, the owner's value in the key:")
	require.Contains(t, out, "✗ wrong delete: A's DEL removes the lock of B (B1)")
	require.Contains(t, out, "BROKEN: wrong delete")
	require.Contains(t, out, "That is stage 4: go run . diff 4")
}

func TestShowBeforeAndAfter(t *testing.T) {
	status, out, _ := command(t, "show", "check-then-delete", "--before-after")
	require.Equal(t, exitOK, status)
	before, after, found := strings.Cut(out, "On stage 4, compare and delete in one script:")
	require.True(t, found)
	require.Contains(t, before, "On stage 3")
	require.Contains(t, after, "SAFE in this run")
}

func TestShowAsJSONHasTheWholeTrace(t *testing.T) {
	status, out, _ := command(t, "show", "delete-foreign", "--stage", "2", "--json")
	require.Equal(t, exitOK, status)
	var runs []struct {
		Outcome string
		Trace   world.Trace
	}
	require.NoError(t, json.Unmarshal([]byte(out), &runs))
	require.Equal(t, "broken", runs[0].Outcome)
	require.NotEmpty(t, runs[0].Trace.Events)
}

func TestEveryPictureFitsATerminalOf120Columns(t *testing.T) {
	for _, f := range failures.All {
		for _, s := range stages.All {
			_, out, _ := command(t, "show", f.ID, "--stage", string(rune('0'+s.Number)))
			if lanes(t, f, s) > 3 {
				continue // four clients need more room
			}
			for line := range strings.Lines(out) {
				require.LessOrEqual(t, len([]rune(line)), 131, "%s on stage %d: %s", f.ID, s.Number, line)
			}
		}
	}
}

func lanes(t *testing.T, f failures.Failure, s stages.Stage) int {
	t.Helper()
	v := failures.Run(t, f, s.Subject, nil)
	if v.Trace == nil {
		return 0
	}
	return len(v.Trace.Lanes)
}

func TestListTellsEveryStory(t *testing.T) {
	status, out, _ := command(t, "list")
	require.Equal(t, exitOK, status)
	for _, f := range failures.All {
		require.Contains(t, out, "  "+f.ID+": "+f.Title)
	}
	status, out, _ = command(t, "list", "--json")
	require.Equal(t, exitOK, status)
	require.True(t, json.Valid([]byte(out)))
}

func TestDiffShowsTheLessonAndNothingElse(t *testing.T) {
	status, out, _ := command(t, "diff", "4")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "+var unlockScript")
	require.Contains(t, out, `-	value, err := m.rdb.Do(ctx, "GET", m.key).Text()`)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			require.NotContains(t, line, "TryLock", "the acquire is the same")
		}
	}
}

func TestBadUsageIsOneLineThatNamesTheRemedy(t *testing.T) {
	for says, args := range map[string][]string{
		`there is no failure "check-than-delete"; did you mean check-then-delete?`: {"show", "check-than-delete"},
		`there is no failure "zzz"; there are: crash-before-expire,`:               {"show", "zzz"},
		`there is no stage 9; there are 1 to 6`:                                    {"show", "delete-foreign", "--stage", "9"},
		`--stage and --before-after exclude each other`:                            {"show", "delete-foreign", "--stage", "1", "--before-after"},
		`process-pause breaks every stage, so there is no after`:                   {"show", "process-pause", "--before-after"},
		`second-client breaks no stage`:                                            {"show", "second-client", "--before-after"},
		`show: which failure? There are: crash-before-expire`:                      {"show"},
		`show takes one failure, not 2: a b`:                                       {"show", "a", "b"},
		`there is no command "shw"; did you mean show?`:                            {"shw"},
		`stage 1 is the first; diff takes: 2, 3, 4, 5, 6`:                          {"diff", "1"},
		`there is no stage 12; there are 1 to 6`:                                   {"diff", "12"},
		`"four" is no stage; there are: 2, 3, 4, 5, 6`:                             {"diff", "four"},
		`diff: which stage? There are: 2, 3, 4, 5, 6`:                              {"diff"},
		`unknown flag: --colour`:                                                   {"--colour"},
		`invalid argument "x" for "--stage"`:                                       {"show", "oom", "--stage", "x"},
		`list takes no arguments, not "stage1"`:                                    {"list", "stage1"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			status, out, errors := command(t, args...)
			require.Equal(t, exitBadUsage, status)
			require.Contains(t, errors, says)
			require.Equal(t, 1, strings.Count(errors, "\n"))
			require.Empty(t, out)
		})
	}
}

func TestHelpNamesTheSubcommands(t *testing.T) {
	status, out, _ := command(t, "--help")
	require.Equal(t, exitOK, status)
	for _, name := range []string{"show", "list", "diff"} {
		require.Contains(t, out, name)
	}
}

func TestColorOnlyWhereItIsAskedFor(t *testing.T) {
	var out bytes.Buffer
	a := &app{t: t, sources: os.DirFS("../.."), out: &out, err: &out, width: 120, color: true}
	require.Equal(t, exitOK, a.run([]string{"show", "delete-foreign"}))
	require.Contains(t, out.String(), "\x1b[31m✗ wrong delete")
}
