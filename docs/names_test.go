package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
)

// code is what the documents can name: the failures, the files and the tests.
type code struct {
	failures map[string]bool
	lines    map[string]int      // of each file, by its path from the root; folders have 0
	tests    map[string][]string // the tests of each folder
}

var function = regexp.MustCompile(`(?m)^func ((?:Test|Example|Benchmark|Fuzz)\w*)\(`)

// readCode looks at the repository.
func readCode(t *testing.T) code {
	t.Helper()
	c := code{map[string]bool{}, map[string]int{}, map[string][]string{}}
	for _, f := range failures.All {
		c.failures[f.ID] = true
	}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			c.lines[name] = 0
			if name == ".git" || name == "mylock" {
				return fs.SkipDir
			}
			return err
		}
		raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		c.lines[name] = strings.Count(string(raw), "\n")
		if strings.HasSuffix(name, "_test.go") {
			for _, found := range function.FindAllStringSubmatch(string(raw), -1) {
				c.tests[path.Dir(name)] = append(c.tests[path.Dir(name)], found[1])
			}
		}
		return nil
	}))
	return c
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
	for _, b := range failures.BesideTheCatalogue {
		names = append(names, b.ID)
	}
	return names
}

var (
	failureName = regexp.MustCompile(`^[a-z]+(?:-[a-z]+)+$`)
	testName    = regexp.MustCompile(`^(?:Test|Example|Benchmark|Fuzz)(?:[A-Z_]\w*)?(?:/[\w/-]+)?$`)
	ourPath     = regexp.MustCompile(`^(?:\./)?((?:stage\d_\w+|failures_test|internal|docs|\.ci)(?:/[\w./-]*)?)$`)
	lineNumber  = regexp.MustCompile(`^([\w./-]+\.(?:go|lua|md)):(\d+)$`)
	ourFolder   = regexp.MustCompile(`(?:stage\d_\w+|failures_test|internal)(?:/[a-z]\w*)*`)
)

// What a document names in back-quotes exists: failures, tests, files.
func TestNamesInDocumentsExist(t *testing.T) {
	c := readCode(t)
	var problems []string
	for _, d := range documents(t) {
		problems = append(problems, c.nameProblems(d)...)
	}
	requireNone(t, problems)
}

func (c code) nameProblems(d *document) (problems []string) {
	for _, s := range d.spans {
		var problem string
		switch {
		case failureName.MatchString(s.text):
			if !c.failures[s.text] && !slices.Contains(noFailures(), s.text) {
				problem = fmt.Sprintf("there is no failure %s", s.text)
			}
		case testName.MatchString(s.text):
			problem = c.testProblem(s.text, c.folders(d, s))
		case ourPath.MatchString(s.text), lineNumber.MatchString(s.text):
			problem = c.pathProblem(d, s.text)
		}
		if problem != "" {
			problems = append(problems, d.at(s.line)+problem)
		}
	}
	found, _ := commandsOf(d)
	for _, cmd := range found {
		if problem := c.runProblem(cmd.line); problem != "" {
			problems = append(problems, cmd.place+": "+problem)
		}
	}
	return problems
}

// folders are those that a test is said to be in: the ones that its paragraph names,
// or else the document's own; none if it may be anywhere.
func (c code) folders(d *document, s span) (folders []string) {
	for _, name := range ourFolder.FindAllString(s.block, -1) {
		for ; name != "."; name = path.Dir(name) {
			if c.tests[name] != nil && !slices.Contains(folders, name) {
				folders = append(folders, name)
				break
			}
		}
	}
	if own := path.Dir(d.name); folders == nil && c.tests[own] != nil && own != "docs" {
		folders = []string{own}
	}
	return folders
}

// testProblem looks for a test in folders, or anywhere if there are none.
func (c code) testProblem(name string, folders []string) string {
	name, part, _ := strings.Cut(name, "/")
	if name == "TestFailures" && part != "" && !c.failures[part] {
		return fmt.Sprintf("there is no failure %s", part)
	}
	if len(folders) == 0 {
		for folder := range c.tests {
			folders = append(folders, folder)
		}
	}
	for _, folder := range folders {
		if slices.Contains(c.tests[folder], name) {
			return ""
		}
	}
	slices.Sort(folders)
	return fmt.Sprintf("there is no %s in %s", name, strings.Join(folders, ", "))
}

// pathProblem looks for a file, and for its line if it is given.
func (c code) pathProblem(d *document, text string) string {
	number := 0
	if parts := lineNumber.FindStringSubmatch(text); parts != nil {
		text = parts[1]
		number, _ = strconv.Atoi(parts[2])
	}
	name := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/...")
	for _, candidate := range []string{path.Clean(name), d.fromRoot(name)} {
		if lines, ok := c.lines[candidate]; ok {
			if number > lines {
				return fmt.Sprintf("%s has %d lines, not %d", candidate, lines, number)
			}
			return ""
		}
	}
	return fmt.Sprintf("there is no %s", text)
}

var (
	runFlag = regexp.MustCompile(`^go test .*-run (?:'([^']+)'|(\S+)).* \./(\S+)$`)
	plain   = regexp.MustCompile(`^\^?(\w+)\$?(?:/(\S+))?$`)
)

// runProblem looks for the tests that a go test -run names: go test itself does not
// miss one of several, nor a failure.
func (c code) runProblem(line string) string {
	parts := runFlag.FindStringSubmatch(line)
	if parts == nil {
		return ""
	}
	folder := strings.TrimSuffix(parts[3], "/...")
	for _, one := range strings.Split(parts[1]+parts[2], "|") {
		name := plain.FindStringSubmatch(one)
		if name == nil {
			return fmt.Sprintf("-run %s: name the tests, with | between them", one)
		}
		begins := func(test string) bool { return strings.Contains(test, name[1]) }
		if !slices.ContainsFunc(c.tests[folder], begins) {
			return fmt.Sprintf("there is no %s in %s", name[1], folder)
		}
		if part := strings.Trim(name[2], "^$"); name[1] == "TestFailures" && part != "" && !c.failures[part] {
			return fmt.Sprintf("there is no failure %s", part)
		}
	}
	return ""
}

func TestNamesThatDoNotExistAreFound(t *testing.T) {
	c := code{
		failures: map[string]bool{"late-unlock": true},
		lines:    map[string]int{"stage1_setnx_expire": 0, "stage1_setnx_expire/mutex.go": 9, "docs/pictures": 0, "stage1_setnx_expire/README.md": 1},
		tests:    map[string][]string{"stage1_setnx_expire": {"TestFailures", "TestOne", "Example_x"}, "internal/cli": {"TestTwo"}},
	}
	for text, problem := range map[string]string{
		"`late-unlock` `wrong-delete` `redis-server` `string-meets-hash` `stage1_setnx_expire/mutex.go:9`\n\n`TestTwo`": "",
		"`TestFailures/late-unlock` in `stage1_setnx_expire`, `docs/pictures`, `pictures`":                              "",
		"`go test -run 'TestOne|Example_x' ./stage1_setnx_expire/...`":                                                  "",
		"`go test -v -run TestFailures/late-unlock ./stage1_setnx_expire`":                                              "",
		"`late-unlok`":             "docs/x.md:1: there is no failure late-unlok",
		"a\nb `TestThree`":         "docs/x.md:2: there is no TestThree in internal/cli, stage1_setnx_expire",
		"`TestFailures/late-lock`": "docs/x.md:1: there is no failure late-lock",
		"`TestTwo` is in [the tests](../stage1_setnx_expire/mutex.go)":  "docs/x.md:1: there is no TestTwo in stage1_setnx_expire",
		"| a | b |\n|---|---|\n| `internal/cli/x.go` | `TestOne` |\n":   "docs/x.md:3: there is no internal/cli/x.go\ndocs/x.md:3: there is no TestOne in internal/cli",
		"`stage1_setnx_expire/lock.go`":                                 "docs/x.md:1: there is no stage1_setnx_expire/lock.go",
		"`stage1_setnx_expire/mutex.go:10`":                             "docs/x.md:1: stage1_setnx_expire/mutex.go has 9 lines, not 10",
		"`go test -run 'TestOne|TestGone' ./stage1_setnx_expire`":       "docs/x.md:1: there is no TestGone in stage1_setnx_expire",
		"`go test -v -run TestFailures/gone ./stage1_setnx_expire/...`": "docs/x.md:1: there is no failure gone",
		"`go test -run Test.*Lock ./stage1_setnx_expire`":               "docs/x.md:1: -run Test.*Lock: name the tests, with | between them",
		"```sh\ngo test -run TestOne ./internal/cli\n```":               "docs/x.md:2: there is no TestOne in internal/cli",
	} {
		require.Equal(t, problem, strings.Join(c.nameProblems(parse("docs/x.md", text)), "\n"), text)
	}
	require.Equal(t, []string{"stage1_setnx_expire/README.md:1: there is no TestTwo in stage1_setnx_expire"},
		c.nameProblems(parse("stage1_setnx_expire/README.md", "`TestTwo` `mutex.go:3`")))
}
