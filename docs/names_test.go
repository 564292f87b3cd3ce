package docs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
)

// code is what the documents can name: the failures, the files and the tests.
type code struct {
	fs.FS
	tests     map[string][]string // those that run, of each folder
	liveTests map[string][]string // those that run with -tags live, of each folder
}

var (
	function = regexp.MustCompile(`^((?:Test|Example|Benchmark|Fuzz)\w*)\(`)
	output   = regexp.MustCompile(`(?mi)^\s*// (?:unordered )?output:`)
	isLive   = regexp.MustCompile(`(?m)^//go:build .*\blive\b`)
)

// repository is this one, looked at once.
var repository = sync.OnceValue(func() *code { return readCode(root) })

// readCode finds the tests of a repository. A learner's folder is not part of it.
func readCode(files fs.FS) *code {
	c := &code{files, map[string][]string{}, map[string][]string{}}
	err := fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "mylock" || name != "." && strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		raw, err := fs.ReadFile(files, name)
		for _, text := range strings.Split(string(raw), "\nfunc ") {
			found := function.FindStringSubmatch(text)
			if found == nil || strings.HasPrefix(text, "Example") && !output.MatchString(text) {
				continue // go test does not run it
			}
			dir := path.Dir(name)
			c.liveTests[dir] = append(c.liveTests[dir], found[1])
			if !isLive.MatchString(string(raw)) {
				c.tests[dir] = append(c.tests[dir], found[1])
			}
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return c
}

// has tells whether there is a file or folder of that name.
func (c *code) has(name string) bool {
	_, err := fs.Stat(c, name)
	return err == nil
}

// noFailures are names that look like a failure's and are none.
func noFailures() []string {
	names := []string{ // programs, libraries and settings of others
		"redis-server", "redis-cli", "redis-sentinel", "go-redis", "go-zero", "zh-cn", "maxmemory-policy", "allkeys-lru",
		"volatile-lru", "volatile-ttl", "min-replicas-to-write", "min-replicas-max-lag", "cluster-node-timeout",
		"down-after-milliseconds", "appendfsync-everysec",
	}
	for _, p := range schedule.Properties {
		names = append(names, p.Name)
	}
	for _, e := range schedule.Envs {
		names = append(names, e.Name)
	}
	return names
}

var (
	failureName = regexp.MustCompile(`^[a-z]+(?:-[a-z]+)+$`)
	testName    = regexp.MustCompile(`^(?:Test|Example|Benchmark|Fuzz)(?:[A-Z_]\w*)?(?:/[\w/-]+)?$`)
	ourPath     = regexp.MustCompile(`^(?:\./)?((?:stage\d_\w+|failures_test|internal|docs|\.ci)(?:/[\w./-]*)?)$`)
	ourFolder   = regexp.MustCompile(`(?:stage\d_\w+|failures_test|internal)(?:/[a-z]\w*)*`)
)

// What a document names in back-quotes exists: failures, tests, files.
func TestNamesInDocumentsExist(t *testing.T) {
	for _, d := range documents() {
		requireNone(t, repository().nameProblems(d))
	}
}

func (c *code) nameProblems(d *document) (problems []string) {
	for _, s := range d.spans {
		var problem string
		switch {
		case failureName.MatchString(s.text):
			problem = failureProblem(s.text)
		case testName.MatchString(s.text):
			problem = c.testProblem(s.text, c.folders(d, s.line), c.liveTests)
		case ourPath.MatchString(s.text):
			problem = c.pathProblem(d, s.text)
		}
		if problem != "" {
			problems = append(problems, d.at(s.line)+problem)
		}
	}
	return problems
}

func failureProblem(name string) string {
	if _, ok := failures.Find(name); ok || slices.Contains(noFailures(), name) {
		return ""
	}
	return "there is no failure " + name
}

// folders are those that a test is said to be in: the ones that its paragraph names,
// or else the document's own; all if it may be anywhere.
func (c *code) folders(d *document, line int) (folders []string) {
	for _, name := range ourFolder.FindAllString(d.around(line), -1) {
		for ; name != "."; name = path.Dir(name) {
			if c.liveTests[name] != nil {
				folders = append(folders, name)
				break
			}
		}
	}
	own := path.Dir(d.name)
	switch {
	case folders != nil:
	case c.liveTests[own] != nil && own != "docs":
		folders = []string{own}
	default:
		folders = slices.Collect(maps.Keys(c.liveTests))
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// testProblem looks for a test, or a failure as TestFailures/oom, in folders.
func (c *code) testProblem(name string, folders []string, tests map[string][]string) string {
	name, part, _ := strings.Cut(name, "/")
	if name == "TestFailures" && part != "" {
		if problem := failureProblem(part); problem != "" {
			return problem
		}
	}
	for _, folder := range folders {
		if slices.Contains(tests[folder], name) {
			return ""
		}
	}
	return fmt.Sprintf("there is no %s in %s", name, strings.Join(folders, ", "))
}

// pathProblem looks for a file or folder, from the root or from the document.
func (c *code) pathProblem(d *document, text string) string {
	name := strings.TrimSuffix(text, "/...")
	if c.has(path.Clean(name)) || c.has(d.fromRoot(name)) {
		return ""
	}
	return "there is no " + text
}

// tryTests looks for the tests that a go test line runs.
func (c *code) tryTests(line string) string {
	parts := testLine.FindStringSubmatch(line)
	folder, tests := strings.TrimSuffix(parts[2], "/..."), c.tests
	if strings.Contains(line, " -tags live ") {
		tests = c.liveTests
	}
	if len(tests[folder]) == 0 {
		return "there are no tests in " + folder
	}
	if parts[1] == "" {
		return ""
	}
	for _, name := range strings.Split(strings.Trim(parts[1], "'"), "|") {
		name = strings.NewReplacer("^", "", "$", "").Replace(name)
		if !testName.MatchString(name) {
			return fmt.Sprintf("-run %s: name the tests, with | between them", name)
		}
		if problem := c.testProblem(name, []string{folder}, tests); problem != "" {
			return problem
		}
	}
	return ""
}

// termPages are the pages of the documents' names, and how their tables begin.
var termPages = map[string]string{
	"docs/terms.md":       "in the documents|here|stage and file|test",
	"docs/zh-CN/terms.md": "文档里|这里|阶段和文件|测试",
}

// term is a row of such a table.
type term struct {
	theirs, ours, tests []string
	files               []string // of ours, from the root
}

// terms are the rows of all tables of a page.
func terms(t *testing.T, page string) (rows []term) {
	t.Helper()
	d := documentNamed(t, page)
	for _, table := range d.tables {
		if strings.Join(table.rows[0], "|") != termPages[page] {
			continue
		}
		for _, cells := range table.rows[2:] {
			row := term{theirs: quoted(cells[0]), ours: quoted(cells[1]), tests: quoted(cells[3])}
			for _, file := range linked.FindAllStringSubmatch(cells[2], -1) {
				row.files = append(row.files, d.fromRoot(file[3]))
			}
			rows = append(rows, row)
		}
	}
	require.Greater(t, len(rows), 90, "the tables of %s are gone", page)
	return rows
}

// quoted are the names that a cell quotes.
func quoted(cell string) (names []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}

var word = regexp.MustCompile(`^[A-Za-z]\w*$`)

// Every name of ours is in one of the files of its row, and every row that names a file
// names a test. Both languages have the same rows.
func TestTermsAreWhereTheTablesSay(t *testing.T) {
	english, chinese := terms(t, "docs/terms.md"), terms(t, "docs/zh-CN/terms.md")
	require.Len(t, chinese, len(english))
	for i, row := range english {
		other := chinese[i]
		require.ElementsMatch(t, row.theirs, other.theirs)
		require.ElementsMatch(t, row.ours, other.ours, row.theirs)
		require.Equal(t, row.files, other.files, row.theirs)
		require.Equal(t, row.tests, other.tests, row.theirs)
		require.Equal(t, row.files == nil, row.tests == nil, "%s: a test for each file", row.theirs)
		text := ""
		for _, file := range row.files {
			raw, err := fs.ReadFile(root, file)
			require.NoError(t, err)
			text += string(raw)
		}
		for _, name := range row.ours {
			if word.MatchString(name) {
				require.Regexp(t, `\b`+name+`\b`, text, "%s is not in %s", name, row.files)
			}
		}
	}
}
