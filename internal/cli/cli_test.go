package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// asProgram is an environment variable that makes the test binary run the program.
const asProgram = "LOCKKATA_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		Main(os.DirFS("../.."))
	}
	world.TuneForBatch()
	os.Exit(m.Run())
}

// program returns the test binary, and makes it run as the program in child processes.
func program(t *testing.T) string {
	t.Helper()
	t.Setenv(asProgram, "1")
	binary, err := os.Executable()
	require.NoError(t, err)
	return binary
}

// command runs a command line without a terminal.
func command(t *testing.T, args ...string) (status int, out, errors string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = Run(t, os.DirFS("../.."), nil, &stdout, &stderr, args...)
	return status, stdout.String(), stderr.String()
}

// fewFailures makes the catalogue short.
func fewFailures(t *testing.T, ids ...string) {
	t.Helper()
	all := catalogue.All
	t.Cleanup(func() { catalogue.All = all })
	catalogue.All = slices.DeleteFunc(slices.Clone(all), func(f catalogue.Failure) bool { return !slices.Contains(ids, f.ID) })
	require.Len(t, catalogue.All, len(ids))
}

// swapped replaces a stage's lock by another stage's.
func swapped(t *testing.T, stage, other string) {
	t.Helper()
	all, known := stages.Table, kept
	kept = map[string]map[string]failures.Cell{}
	t.Cleanup(func() { stages.Table, kept = all, known })
	stages.Table = slices.Clone(all)
	at := slices.Index(stages.IDs(all), stage)
	stages.Table[at].Subject.New = stages.MustFind(other).Subject.New
}

// results matches the signs in a row.
const results = `(([✗✓~◐–?] +)+|(the resource|a majority|the caller|资源|多数派|调用方) )`

// rowsOf returns the failures in a table, in order.
func rowsOf(table string) (ids []string) {
	for _, row := range regexp.MustCompile(`(?m)^  ([a-z-]+) +`+results).FindAllStringSubmatch(table, -1) {
		ids = append(ids, row[1])
	}
	return ids
}

// Failures that an earlier stage or step fixes come first.
func TestFirstScreenShowsTheLessonsInAtMost55Lines(t *testing.T) {
	lessons := []string{
		"crash-before-expire", "cancel-in-flight", "loss-hidden-at-unlock", "delete-foreign", "double-unlock", "check-then-delete", "late-unlock",
		"work-outlives-ttl", "renew-partition", "grant-reply-lost", "self-deadlock", "idle-waiters",
		"process-pause", "failover-async", "unlock-before-commit", "done-twice", "process-pause-fenced",
	}
	onScreen := func(flags ...string) {
		for _, lang := range i18n.Languages {
			a, out, errors := onTerminal(t, 80)
			require.Equal(t, exitOK, a.run(append(flags, "--lang", string(lang))), errors)
			require.Equal(t, lessons, rowsOf(out.String()))
			require.LessOrEqual(t, strings.Count(out.String(), "\n"), 55)
			require.NotContains(t, out.String(), "…")
			requireColumns(t, 80, out.String())
		}
	}
	onScreen()
	_, out, _ := command(t)
	require.Contains(t, out, fmt.Sprintf("17 of %[1]d failures are shown; the counts are of all %[1]d. All: go run . --all", len(catalogue.All)))
	require.Contains(t, out, "all results are as expected")
	require.NotContains(t, out, "\x1b", "no colour without a terminal")
	fewFailures(t, lessons...)
	onScreen("--documents")
}

func TestNarrowTerminalBreaksNoWordsAndIsAskedForRoom(t *testing.T) {
	a, out, _ := onTerminal(t, 70)
	require.Equal(t, exitOK, a.run(nil))
	words := strings.Fields(out.String())
	for _, f := range catalogue.All {
		if f.FirstScreen {
			require.Subset(t, words, strings.Fields(strings.TrimPrefix(f.Title, "fencing token: ")))
		}
	}
	for _, line := range []string{"", "show delete-foreign", "replay " + exampleSchedule} {
		a, _, errors := onTerminal(t, 48)
		require.Equal(t, exitOK, a.run(strings.Fields(line)))
		require.Equal(t, "this needs 60 columns; the terminal has 48\n", errors.String())
	}
}

func TestAllShowsEveryFailureByFamily(t *testing.T) {
	var ids []string
	for _, f := range catalogue.All {
		ids = append(ids, f.ID)
	}
	status, out, errors := command(t, "--all")
	require.Equal(t, exitOK, status, errors)
	require.Equal(t, ids, rowsOf(out))
	require.Regexp(t, `(?m)^waiters +1  `, out)
	fewFailures(t, "delete-foreign", "idle-waiters")
	for flag, first := range map[string]string{"--steps": "5", "--documents": "doc1"} {
		status, out, errors := command(t, "--all", flag)
		require.Equal(t, exitOK, status, errors)
		require.Equal(t, []string{"delete-foreign", "idle-waiters"}, rowsOf(out))
		require.Regexp(t, `(?m)^waiters +`+first+`  `, out)
	}
}

// Each step has failures that it changes.
func TestStepsShowWhatChanges(t *testing.T) {
	for _, lang := range i18n.Languages {
		a, out, errors := onTerminal(t, 80)
		require.Equal(t, exitOK, a.run([]string{"--steps", "--lang", string(lang)}), errors)
		requireColumns(t, 80, out.String())
		table, _, _ := strings.Cut(out.String(), "\n  ✗ ")
		require.Len(t, regexp.MustCompile(`(?m)^    \S`).FindAllString(table, -1), 24, "the titles of the failures")
		require.Contains(t, out.String(), "5  6.1  6.2  6.3  6.4  6.5  6\n")
		rows := rowsOf(out.String())
		require.Subset(t, rows, []string{"renew-partition", "grant-reply-lost", "self-deadlock", "idle-waiters", "process-pause-fenced", "hold-dropped"})
		require.Len(t, rows, 4*6)
	}
	_, out, _ := command(t, "--steps")
	require.Regexp(t, `24 of \d+ failures whose result changes from step to step are shown, at most 4 for each step\.`, out)
	for _, id := range rowsOf(out) {
		f, _ := catalogue.Find(id)
		require.True(t, slices.ContainsFunc(stages.Steps(), func(c stages.Stage) bool { return c.Expect(f) != stages.Steps()[0].Expect(f) }), id)
	}
}

func TestMatrixAsJSONHasEveryCell(t *testing.T) {
	fewFailures(t, "delete-foreign", "idle-waiters", "process-pause-fenced")
	for flag, locks := range map[string][]stages.Stage{"--json": stages.Public(), "--steps": stages.Steps(), "--documents": stages.Documents()} {
		status, out, _ := command(t, "--json", flag)
		require.Equal(t, exitOK, status)
		var cells []map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &cells))
		require.Len(t, cells, len(catalogue.All)*len(locks))
	}
}

func TestGuardsAreATableOfTwoFailuresWithoutAGuardAndWithEach(t *testing.T) {
	status, out, _ := command(t, "--guards")
	require.Equal(t, exitOK, status)
	var want []string
	for _, id := range []string{"process-pause", "write-delayed"} {
		for _, guard := range []string{"", "-fenced", "-unique", "-version", "-stock", "-idempotent"} {
			want = append(want, id+guard)
		}
	}
	require.Equal(t, want, rowsOf(out))
	require.Contains(t, out, "  process-pause             the resource       ")
	require.Contains(t, out, "  process-pause-fenced      –  –  –  –  –  ✓ ")
	require.Contains(t, out, "  process-pause-unique      ✓  ✓  ✓  ✓  ✓  ✓ ")
	require.Contains(t, out, "The resource protects the data")
	for _, other := range []string{"--all", "--family=owner"} {
		status, _, errors := command(t, "--guards", other)
		require.Equal(t, exitBadUsage, status)
		require.Contains(t, errors, "exclude each other")
	}
}

// A stage that is worse than expected fails, and so does one that is better, or broken by something else.
func TestMatrixNamesTheCellThatIsNotAsExpected(t *testing.T) {
	for other, want := range map[string]string{
		"2": "delete-foreign on stage3: expected safe, got broken: wrong delete: A's DEL removes the lock of B (B1)",
		"4": "check-then-delete on stage3: expected broken, got safe: no rule is broken",
		"doc5": "grant-reply-lost on stage3: broken as expected, but not by what this failure is about: " +
			"wrong delete: B's SET overwrites the lock of A (A1)",
	} {
		t.Run(other, func(t *testing.T) {
			id, _, _ := strings.Cut(want, " ")
			fewFailures(t, id)
			swapped(t, "3", other)
			status, out, errors := command(t)
			require.Equal(t, exitFailed, status)
			require.Contains(t, errors, want)
			require.Contains(t, out, "1 result (!) is not as expected")
		})
	}
}

func TestShowDrawsTheLastStageThatBreaksAndTheFirstThatDoesNot(t *testing.T) {
	_, last, _ := command(t, "show", "check-then-delete")
	require.Contains(t, last, "✗ wrong delete: A's DEL removes the lock of B (B1)")
	require.Contains(t, last, "BROKEN: wrong delete")
	require.Contains(t, last, "That is stage 4: go run . diff 4")
	status, out, _ := command(t, "show", "check-then-delete", "--before-after")
	require.Equal(t, exitOK, status)
	before, after, found := strings.Cut(out, "\nOn stage 4, compare and delete in one script:")
	require.True(t, found)
	require.Equal(t, last, before)
	require.Contains(t, before, "On stage 3, the owner's value in the key:")
	require.Contains(t, after, "SAFE from wrong delete in this run.")
}

func TestShowAsJSONHasTheWholeTrace(t *testing.T) {
	status, out, _ := command(t, "show", "delete-foreign", "--stage", "2", "--json")
	require.Equal(t, exitOK, status)
	var runs []struct {
		Outcome string
		Trace   trace.Trace
	}
	require.NoError(t, json.Unmarshal([]byte(out), &runs))
	require.Equal(t, "broken", runs[0].Outcome)
	require.NotEmpty(t, runs[0].Trace.Events)
}

func TestEveryPictureFitsItsTerminal(t *testing.T) {
	g, err := judgeAll(t.Context(), catalogue.All, stages.Public(), (&app{t: t}).here, 1)
	require.NoError(t, err)
	for _, row := range g.rows {
		for i, v := range row {
			for _, width := range []int{80, usualWidth} {
				if v.Trace != nil && len(v.Trace.Clients) > 3 {
					continue // four clients need more room
				}
				var out bytes.Buffer
				a := &app{out: &out, width: width}
				a.showOne(v, g.columns[i], true, g.columns)
				for line := range strings.Lines(out.String()) {
					require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), width, "%s on %s: %s", v.Failure.ID, g.columns[i].NameText(), line)
				}
			}
		}
	}
}

func TestListHasEveryFailure(t *testing.T) {
	_, short, _ := command(t, "list")
	_, long, _ := command(t, "list", "--long")
	narrow, out80, _ := onTerminal(t, 80)
	require.Equal(t, exitOK, narrow.run([]string{"list"}))
	requireColumns(t, 80, out80.String())
	for _, f := range catalogue.All {
		require.Regexp(t, `(?m)^  `+f.ID+` +`+regexp.QuoteMeta(f.Title)+`$`, short)
		require.Contains(t, long, "  "+f.ID+": "+f.Title)
	}
	require.Contains(t, long, "Runs in: world and live")
	require.Contains(t, long, "Runs in: world: a real Redis reads the clock")
	_, out, _ := command(t, "list", "--json")
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
	_, out, _ = command(t, "diff", "6.2")
	require.Regexp(t, `\n\d+ lines added, \d+ lines removed, without blanks and comments\n$`, out)
	require.Contains(t, out, "step2_unknown/once.go")
}

func TestDiffOfTheWholeLockIsAMap(t *testing.T) {
	status, out, _ := command(t, "diff", "6")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "From stage 6.5 to stage 6: ")
	require.Regexp(t, `\nwatchdog.go, \d+ lines\n`, out)
	require.Contains(t, out, "Needed by the failures fixed-lease-taken, ")
	require.Contains(t, out, "On a first reading skip ")
	require.Less(t, strings.Count(out, "\n"), 100, "one reads it at a glance")
}

func TestHelpHasTwoGroups(t *testing.T) {
	_, out, _ := command(t, "--help")
	start, more, found := strings.Cut(out, "\nMore:\n")
	require.True(t, found)
	require.Regexp(t, `\nStart:\n  learn  .*\n  show  .*\n  diff  .*\n  play  .*\n  kata  .*\n  interview  .*\n  serve  .*\n$`, start)
	require.Regexp(t, `^  explore  .*\n  replay  .*\n  list  .*\n  grade  .*\n  demo  .*\n\n`, more)
	_, out, _ = command(t, "help", "--lang", "zh")
	require.Contains(t, out, "\n先用这些：\n  learn ")
	require.Contains(t, out, "\n其他：\n  explore ")
	_, out, _ = command(t, "kata", "help", "start")
	require.Contains(t, out, "--fresh")
}

func TestColorOnlyWhereItIsAskedFor(t *testing.T) {
	var out bytes.Buffer
	a := &app{t: t, sources: os.DirFS("../.."), out: &out, err: &out, width: usualWidth, color: true}
	require.Equal(t, exitOK, a.run([]string{"show", "delete-foreign"}))
	require.Contains(t, out.String(), "\x1b[31m✗ wrong delete")
}

func TestTotalsAreTheEndOfTheTable(t *testing.T) {
	_, out, _ := command(t)
	_, totals, _ := command(t, "--totals")
	require.Contains(t, totals, "not by this lock 48: no lock over one server can. The row says who")
	require.Contains(t, out, totals)
}

// Without --steps the fixed run is that of stage 6, not of a step.
func TestBeforeAndAfterShowTheStepThatFixes(t *testing.T) {
	_, out, _ := command(t, "show", "grant-reply-lost", "--before-after", "--steps")
	require.Contains(t, out, "On stage 6.1, ")
	require.Contains(t, out, "That is stage 6.2: go run . diff 6.2")
	require.Contains(t, out, "On stage 6.2, ")
	_, out, _ = command(t, "show", "grant-reply-lost", "--before-after")
	require.Contains(t, out, "On stage 5, ")
	require.Contains(t, out, "That is stage 6: go run . diff 6")
	_, out, _ = command(t, "show", "self-deadlock", "--stage", "6.2")
	require.Contains(t, out, "On stage 6.2, ")
	require.Contains(t, out, "That is stage 6.3: go run . diff 6.3")
}
