package stages_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// Each run has the expected outcome, and its verdict names lines of its lock. Runs on stages and on several servers
// are the same again, byte for byte.
func TestEveryRunOfEveryLock(t *testing.T) {
	require.Len(t, stages.Documents(), 5)
	named := 0
	for _, s := range append(slices.Clone(stages.Table), stages.Wait, stages.RedLock) {
		code, err := s.Code(os.DirFS("../.."))
		require.NoError(t, err)
		subject, err := failures.DiscoverScripts(t, s.Subject)
		require.NoError(t, err)
		for _, f := range subject.Failures() {
			v := failures.Run(t, f, subject)
			require.NoError(t, v.Err, f.ID)
			require.True(t, v.Is(s.Expect(f)), "%s on %s: %s: %s", f.ID, s.ID, v.Outcome, v.Sentence())
			if requireLinesOf(t, v, code) {
				named++
			}
			if !s.Hidden || f.OnServers() {
				requireSameAgain(t, v, subject, 1)
			}
		}
	}
	t.Logf("%d verdicts name a line", named)
	require.NotZero(t, named)
}

// requireSameAgain plays a failure so many times more, and requires the same trace, byte for byte.
func requireSameAgain(t *testing.T, first failures.Verdict, subject failures.Subject, times int) {
	t.Helper()
	if first.Trace == nil {
		return
	}
	for range times {
		again := failures.Run(t, first.Failure, subject)
		require.True(t, bytes.Equal(first.Trace.Bytes(), again.Trace.Bytes()), "%s on %s", first.Failure.ID, subject.Name)
	}
}

// A diff shows the files' own lines, with their numbers.
func TestDiffHasTheLinesOfTheFiles(t *testing.T) {
	hunk := regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@$`)
	for _, c := range stages.All() {
		if c.Before == "" {
			continue
		}
		diffs, err := c.Diff(os.DirFS("../.."))
		require.NoError(t, err)
		var files [2][]string // before, after
		var at [2]int
		for line := range strings.Lines(strings.Join(diffs, "")) {
			line = strings.TrimSuffix(line, "\n")
			next := func(side int) {
				require.Equal(t, files[side][at[side]], line[1:], "%s: line %d", c.ID, at[side]+1)
				at[side]++
			}
			switch m := hunk.FindStringSubmatch(line); {
			case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
				raw, _ := os.ReadFile(filepath.Join("../..", line[4:])) // a new file has no text before
				files[strings.IndexByte("-+", line[0])] = strings.Split(string(raw), "\n")
			case m != nil:
				for side := range at {
					at[side], err = strconv.Atoi(m[side+1])
					require.NoError(t, err)
					at[side]--
				}
			case line[0] == '-':
				next(0)
			case line[0] == '+':
				next(1)
			default:
				at[0]++
				next(1)
			}
		}
		require.NotContains(t, strings.Join(diffs, ""), "stage:", c.ID)
	}
}

func TestCatalogueIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range catalogue.All {
		require.False(t, seen[f.ID], "%s is there twice", f.ID)
		seen[f.ID] = true
		require.NotEmpty(t, f.Breaks, f.ID)
		require.NotEmpty(t, f.Title, f.ID)
		require.NotEmpty(t, f.Story, f.ID)
		require.NotEmpty(t, f.Fixed, f.ID)
		isLimit := false
		for _, c := range stages.Table {
			outcome := c.Expect(f)
			require.True(t, strings.ContainsRune("xoni-", rune(outcome)) || c.Hidden && outcome == failures.NotTested, "%s on %s: %c", f.ID, c.ID, outcome)
			isLimit = isLimit || outcome == failures.Limit
		}
		require.Equal(t, f.PreventedBy != "", isLimit, "%s: a limit in word and in outcome", f.ID)
	}
}

// What no lock over one server prevents has a command that shows how it is prevented.
func TestLimitHasACure(t *testing.T) {
	cured := 0
	for _, f := range catalogue.All {
		require.Equal(t, f.PreventedBy == "", f.Cure == "", f.ID)
		id, isStory := strings.CutPrefix(f.Cure, "show ")
		if f.PreventedBy == "" {
			continue
		}
		cured++
		require.Equal(t, f.PreventedBy == catalogue.Majority, f.Cure == "--servers", f.ID)
		if isStory {
			story, found := catalogue.Find(id)
			require.True(t, found, f.Cure)
			require.Equal(t, f.Breaks, story.Breaks)
			require.Equal(t, failures.Safe, failures.Run(t, story, stages.MustFind("6").Subject).Outcome, f.Cure)
		}
	}
	require.Equal(t, 8, cured)
}

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

// The map names each file of the whole lock. Each failure that it names breaks the lock before and
// not this one, and each test that it names exists.
func TestMapOfTheWholeLockIsCorrect(t *testing.T) {
	whole := stages.MustFind("6")
	before := stages.MustFind(whole.Before)
	lines, err := whole.Lines(os.DirFS("../.."))
	require.NoError(t, err)
	tests := testsOf(t, whole)
	var mapped []string
	for _, part := range whole.Map {
		mapped = append(mapped, part.File)
		require.NotEmpty(t, part.Tests, part.File)
		for _, name := range part.Tests {
			require.Contains(t, tests, name, part.File)
		}
		for _, id := range part.Failures {
			f, found := catalogue.Find(id)
			require.True(t, found, id)
			require.Equal(t, failures.Broken, before.Expect(f), id)
			require.Contains(t, []failures.Outcome{failures.Safe, failures.Noticed}, whole.Expect(f), id)
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(lines)), mapped)

	for _, f := range catalogue.All { // none is left out
		if before.Expect(f) == failures.Broken && whole.Expect(f) != failures.Broken {
			require.True(t, slices.ContainsFunc(whole.Map, func(p stages.Part) bool { return slices.Contains(p.Failures, f.ID) }), f.ID)
		}
	}
}

// testsOf returns the names of the functions in the tests of a stage's folder.
func testsOf(t *testing.T, c stages.Stage) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", c.Dir, "*_test.go"))
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}
