package docs_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// how says how a command line is tried.
type how int

const (
	asProgram how = iota // it is the command of this repository
	asTest               // it is go test, on one package
	elsewhere            // it costs more than it would show here, and something else tries it
)

// notHere are the command lines that are not tried here, and why.
var notHere = map[string]string{
	`go run \. explore --stage all`:                    "go generate runs it, and CI looks whether that changes anything",
	`go run \. kata verify`:                            "a step of CI",
	`go run \. --live`:                                 "real time: internal/cli's TestLiveMatrixOnServersOfItsOwn",
	`go run \. .*--redis .*`:                           "asks a server of the reader's: internal/cli's tests of demo and of the matrix",
	`go test \./\.\.\.`:                                "it would run this test again; a step of CI",
	`go test -v \./stage6_reentrant_pubsub/\.\.\.`:     "half a minute; go test ./... runs it",
	`go test \./docs/\.\.\.`:                           "it would run this test again",
	`go test \./mylock`:                                "there is no mylock here: internal/kata's TestScriptedLearnerGetsTheRightScreenAtEveryStep asks the same",
	`go run \./failures_test/live/soak .*`:             "real time: the tests of failures_test/live/soak",
	`failures_test/redisson/run`:                       "needs Maven: the tests of failures_test/redisson do without",
	`\(cd failures_test/others && go run \./\w+\)`:     "minutes, and a module of its own: CI runs its tests",
	`go generate \./\.\.\.( && git diff --exit-code)?`: "it would write into what is tested here; a step of CI",
	`go build -o lockkata \.`:                          "this test builds it, elsewhere",
	`go mod (download|vendor)`:                         "the network is not asked",
	`git clone https://\S+( && cd \S+)?`:               "the network is not asked",
	`redis-cli .*`:                                     "asks a server of the reader's",
}

var (
	programLine = regexp.MustCompile(`^((?:[A-Z_]+=\S+ )*(?:(?:printf '[^']*'|echo [^|&;<>]*|yes[^|&;<>]*) \| )?(?:go run \.|\./lockkata))` +
		`((?: (?:'[^']*'|"[^"]*"|[^\s|&;<>$'"()]+))*)( > [\w./-]+)?( \| (?:head|tail|less|more|grep|jq|cat)\b[^|&;<>]*)?$`)
	testLine    = regexp.MustCompile(`^go test((?: -v| -count=\d+| -short| -run (?:'[^']*'|\S+))*) (\./\S+)$`)
	placeholder = regexp.MustCompile(`^(?:[FNT]|[A-Z]{2,}|…)$`)
)

// example is what stands for a word in capitals.
var example = map[string]string{
	"FAILURE": "check-then-delete", "F": "check-then-delete", "STAGE": "3", "N": "3", "THEME": "lease", "T": "lease",
	"FILE": "drawn.out", "DIR": "folder", "SCHEDULE": "v1/stage2/2c/1x/async/wrong-delete/b.B.t.b.a.b", "…": "--help",
}

// plan says how a command line is tried.
func plan(line string) (how, error) {
	for pattern := range notHere {
		if regexp.MustCompile("^" + pattern + "$").MatchString(line) {
			return elsewhere, nil
		}
	}
	switch {
	case programLine.MatchString(line):
		return asProgram, nil
	case testLine.MatchString(line):
		return asTest, nil
	}
	return 0, fmt.Errorf("nobody tries %q: it is no go run . and no go test of one package, nor does notHere in docs/try_test.go say who does", line)
}

// filled is the line with examples for its words in capitals. A client is called A.
func filled(line string) (string, error) {
	words := strings.Split(line, " ")
	for i, word := range words {
		if !placeholder.MatchString(word) {
			continue
		}
		words[i] = example[word]
		if words[i] == "" {
			return "", fmt.Errorf("what stands for %s in %q?", word, line)
		}
	}
	return strings.Join(words, " "), nil
}

// try runs a command line and says what is wrong with it.
func try(c command) error {
	line, err := filled(c.line)
	if err != nil {
		return err
	}
	kind, err := plan(line)
	switch {
	case err != nil:
		return err
	case kind == asTest:
		return tryTest(line)
	case programLine.MatchString(line):
		return tryProgram(line, c.status, kind == elsewhere)
	}
	return nil
}

// begun are the statuses of commands about an exercise that has just begun, and so
// is not passed.
var begun = map[string][]int{"check": {0, 1}, "explore": {0, 1}, "solution": {0, 2}}

// tryProgram runs the command, or only asks whether it and its flags exist.
func tryProgram(line string, status int, onlyAsk bool) error {
	parts := programLine.FindStringSubmatch(line)
	line = parts[1] + parts[2] + parts[3] // what only filters is left out
	words := append(strings.Fields(parts[2]), "", "")
	if onlyAsk || slices.Contains(words, "--help") {
		return tryHelp(line, words[0])
	}
	var o outcome
	switch words[0] {
	case "serve":
		o = runServer(line)
	case "interview":
		o = runLine(line+" --minutes 1", strings.Repeat("\n", 1000))
	case "kata":
		o = runKata(line, words[1])
		if slices.Contains(begun[words[1]], o.status) {
			return nil
		}
	default:
		o = runLine(line, leave)
	}
	if o.status != status {
		return fmt.Errorf("%s ends with status %d, not %d: %s", line, o.status, status, o.err)
	}
	return nil
}

// tryHelp asks whether a command and its flags exist.
func tryHelp(line, name string) error {
	o := runLine(strings.TrimSuffix(line, " --help")+" --help", "")
	if o.status != 0 {
		return fmt.Errorf("%s: %s", line, o.err)
	}
	if name != "" && !strings.HasPrefix(name, "-") && !strings.Contains(o.out, "lockkata "+name) {
		return fmt.Errorf("there is no command %q", name)
	}
	return nil
}

// learners counts those who have begun.
var learners atomic.Int32

var elsewhereFlag = regexp.MustCompile(` --dir[ =]\S+`)

// runKata runs a command on an exercise that has just begun, in a folder of its own.
func runKata(line, name string) outcome {
	dir := " --dir " + filepath.Join(scratch, fmt.Sprintf("mylock%d", learners.Add(1)))
	if name != "start" {
		if o := runLine("go run . kata start 2"+dir, ""); o.status != 0 {
			return o
		}
	}
	return runLine(elsewhereFlag.ReplaceAllString(line, "")+dir, leave)
}

// binaries are the test binaries of packages, by their pattern.
var binaries sync.Map

// tryTest runs tests of a package. "no tests to run" is not enough.
func tryTest(line string) error {
	parts := testLine.FindStringSubmatch(line)
	build, _ := binaries.LoadOrStore(parts[2], sync.OnceValues(func() (string, error) { return buildTests(parts[2]) }))
	binary, err := build.(func() (string, error))()
	if err != nil {
		return err
	}
	flags := regexp.MustCompile(` -(v|count|short|run)\b`).ReplaceAllString(parts[1], " -test.$1")
	cmd := exec.Command("bash", "-c", "exec "+binary+flags)
	cmd.Dir = filepath.Join(root, strings.TrimSuffix(parts[2], "/..."))
	o := wait(cmd)
	switch {
	case o.status != 0:
		return fmt.Errorf("%s ends with status %d: %s", line, o.status, o.out+o.err)
	case strings.Contains(o.err, "no tests to run"):
		return fmt.Errorf("%s runs no test", line)
	}
	return nil
}

// buildTests builds the tests of the one package that a pattern names.
func buildTests(pattern string) (string, error) {
	binary := filepath.Join(scratch, strings.Trim(strings.ReplaceAll(pattern, "/", "_"), "._")+".test")
	cmd := exec.Command("go", "test", "-c", "-o", binary, pattern)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test %s: %w: %s", pattern, err, out)
	}
	return binary, nil
}
