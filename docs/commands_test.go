package docs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/cli"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// command is a command line that a document tells its reader to type.
type command struct {
	line   string
	number int // of its line in the document
}

var (
	// looksTyped is code in the text that is a command line.
	looksTyped = regexp.MustCompile(`^(?:go (?:run|test) |go (?:build|install|get|mod|generate|vet|doc|tool|version|env|list)\b|` +
		`\(?cd |printf |echo |git |curl |wget |docker |redis-cli |redis-server |sudo |apt|brew |export |kata |\./|\.ci/|[\w/]+/run$)`)
	// suggested is a command in what a command prints, in a picture of text, or in a
	// comment of the code.
	suggested = regexp.MustCompile("(?:printf '[^'\n]*' \\| )?go (?:run \\.|test)(?: [^\\n#`(]*)?")
	comment   = regexp.MustCompile(`(?:^|\s+)#.*$`)
	hidden    = regexp.MustCompile(`\bgo (?:run|test) `)
	ourFolder = regexp.MustCompile(`(?:stage\d_\w+|failures_test|internal)(?:/[a-z]\w*)*`)
)

// shells are the languages of a fence whose lines are typed.
var shells = []string{"sh", "bash", "zsh", "shell", "console"}

// commandsOf finds the command lines of a document, in their order.
func commandsOf(d *document) (found []command, problems []string) {
	for _, f := range d.fences {
		for i, text := range strings.Split(f.text, "\n") {
			lines := suggestions(text)
			if slices.Contains(shells, f.language) {
				lines = []string{comment.ReplaceAllString(text, "")}
			}
			for _, line := range lines {
				if line = strings.TrimSpace(line); line != "" {
					found = append(found, command{line, f.line + 1 + i})
				}
			}
		}
	}
	for _, s := range d.spans {
		line := s.text
		if strings.HasPrefix(line, "kata ") {
			line = "go run . " + line
		}
		if looksTyped.MatchString(line) {
			found = append(found, command{line, s.line})
		}
	}
	for _, m := range hidden.FindAllStringIndex(d.prose, -1) {
		problems = append(problems, d.at(lineAt(d.prose, m[0]))+"a command to type stands in back-quotes")
	}
	return found, problems
}

// suggestions are the commands in a line of what is no shell.
func suggestions(text string) (lines []string) {
	for _, line := range suggested.FindAllString(text, -1) {
		line, _, _ = strings.Cut(line, "  ")
		line = strings.TrimRight(line, " ,;:")
		if !strings.HasSuffix(line, "/...") && line != "go run ." {
			line = strings.TrimRight(line, ".")
		}
		lines = append(lines, line)
	}
	return lines
}

var (
	ourLine  = regexp.MustCompile(`^(?:printf '([^']*)' \| )?(?:go run \.|\./lockkata)((?: (?:'[^']*'|"[^"]*"|[^\s|&;<>$'"()]+))*)$`)
	testLine = regexp.MustCompile(`^go test(?: -v| -count=\d+| -tags live| -run ('[^']*'|\S+))* \./(\S+)(?: -(?:for|lock) \S+)*$`)
	// elsewhere are the lines that are not tried here: they take minutes or a network,
	// or are somebody else's. What they name of the repository has to be there.
	elsewhere = regexp.MustCompile(`^(?:go test (?:-tags live )?\./(?:\.\.\.|mylock(?: -run TestMyLock/[a-z-]+)?)|go mod (?:download|vendor)|` +
		`go generate \./\S+|go doc \./\S+|go build -o lockkata \.|\(cd \S+ && go test(?: \S+)*\)|\S+/run|` +
		`git clone https://\S+|redis-cli .*)$`)
	// onlyAsked are the commands that need a server, a person or a compiler. The tests of
	// internal/cli run them: here they have to exist, with their flags.
	onlyAsked = regexp.MustCompile(`^(?:serve|grade|kata(?:$| check| explore| next| solution))|--live|--redis|--help`)
	// ownRows are the tables of failures of their own, which have no other families.
	ownRows     = regexp.MustCompile(`^--(?:redlock|guards)\b`)
	placeholder = regexp.MustCompile(`^(?:[FN]|[A-Z]{2,}|…)$`)
)

var (
	// example is what stands for a word in capitals.
	example = map[string]string{
		"FAILURE": "check-then-delete", "F": "check-then-delete", "STAGE": "3", "N": "3", "THEME": "lease", "DIR": "stage3_owner_value",
		"SCHEDULE": "v1/stage2/2c/1x/async/wrong-delete/b.B.t.b.a.b", "…": "--help",
	}
	// brief are flags with which a command takes no time: of the matrix, which has no name, one
	// family is played, and the search of the whole suite is not one that a sentence may start.
	brief = map[string]string{"": "--family lease", "explore": "--bound 0", "interview": "--minutes 1", "demo": "--hold 0s"}
)

// outcome is what became of a command.
type outcome struct {
	status   int
	out, err string
}

// outcomes are those of the commands that have run: each runs once.
var outcomes = map[string]outcome{}

// run runs a command of this repository inside the test, with keys on its input; without
// them it gets the one that leaves a game or an interview.
func run(t *testing.T, keys string, args ...string) outcome {
	if keys == "" {
		keys = "q"
	}
	id := fmt.Sprintf("%q", append(args, keys))
	o, ran := outcomes[id]
	if !ran {
		var out, said bytes.Buffer
		o.status = cli.Run(t, root, strings.NewReader(keys), &out, &said, args...)
		o.out, o.err = out.String(), strings.TrimSpace(said.String())
		outcomes[id] = o
	}
	return o
}

// try says what is wrong with a command line; "" if nothing is.
func try(t *testing.T, line string) string {
	words := strings.Split(line, " ")
	for i, word := range words {
		if placeholder.MatchString(word) {
			if words[i] = example[word]; words[i] == "" {
				return fmt.Sprintf("what stands for %s in %q?", word, line)
			}
		}
	}
	line = strings.Join(words, " ")
	switch {
	case ourLine.MatchString(line):
		parts := ourLine.FindStringSubmatch(line)
		return tryOurs(t, strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(parts[2])), parts[1])
	case elsewhere.MatchString(line):
		for _, name := range ourFolder.FindAllString(line, -1) {
			if !has(name) {
				return "there is no " + name
			}
		}
		return ""
	case testLine.MatchString(line):
		return tryTests(line)
	}
	return fmt.Sprintf("nobody tries %q: it is no go run . and no go test of one package, nor is it elsewhere in commands_test.go", line)
}

// tryOurs runs a command of this repository, or asks whether it and its flags exist.
func tryOurs(t *testing.T, args []string, keys string) string {
	line, name, command := strings.Join(args, " "), "lockkata", ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		command = args[0]
		name += " " + command
	}
	if !ownRows.MatchString(line) {
		args = append(args, strings.Fields(brief[command])...)
	}
	asked := onlyAsked.MatchString(line)
	if asked {
		args = append(args, "--help")
	} else if strings.HasPrefix(line, "kata") {
		dir := filepath.Join(t.TempDir(), "mylock") // of a learner who has begun
		run(t, "", "kata", "start", "1", "--dir", dir)
		args = append(args, "--dir", dir)
	}
	o := run(t, keys, args...)
	switch {
	case o.status != 0:
		return fmt.Sprintf("go run . %s ends with status %d: %s", line, o.status, o.err)
	case asked && !strings.Contains(o.out, name):
		return fmt.Sprintf("there is no command %q", command)
	}
	return ""
}

// tryTests looks for the tests that a go test line runs.
func tryTests(line string) string {
	parts := testLine.FindStringSubmatch(line)
	folder := strings.TrimSuffix(parts[2], "/...")
	files, _ := fs.Glob(root, folder+"/*_test.go")
	source := ""
	for _, file := range files {
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return err.Error()
		}
		source += string(raw)
	}
	for _, name := range strings.Split(strings.Trim(parts[1], "'"), "|") {
		test, failure, _ := strings.Cut(strings.Trim(name, "^$"), "/")
		_, known := failures.Find(failure)
		switch {
		case !strings.Contains(source, "\nfunc "+test):
			return fmt.Sprintf("there is no test %s in %s", test, folder)
		case failure != "" && !known:
			return "there is no failure " + failure
		}
	}
	return ""
}

// Every command that a document tells its reader to type works, and so does every one
// in the comments of the stages.
func TestCommandsInDocumentsWork(t *testing.T) {
	tried := map[string]bool{}
	for _, d := range append(documents(), sources()...) {
		found, problems := commandsOf(d)
		for _, cmd := range found {
			if tried[cmd.line] {
				continue
			}
			tried[cmd.line] = true
			if problem := try(t, cmd.line); problem != "" {
				problems = append(problems, d.at(cmd.number)+problem)
			}
		}
		requireNone(t, problems)
	}
}

// sources are the stages' files; of their text only the commands count.
func sources() []*document {
	files := read("stage*/*.go")
	for i, f := range files {
		files[i] = &document{name: f.name, fences: []fence{{part: part{0, f.text}}}}
	}
	return files
}
