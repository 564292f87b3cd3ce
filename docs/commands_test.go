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

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
	"lockkata/internal/cli"
	"lockkata/internal/edits"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// command is a command line that a document tells the reader to type.
type command struct {
	line   string
	number int // of its line in the document
}

var (
	// looksTyped is code in the text that is a command line.
	looksTyped = regexp.MustCompile(`^(?:go (?:run|test) |go (?:build|install|get|mod|generate|vet|doc|tool|version|env|list)\b|` +
		`\(?cd |printf |echo |git |curl |wget |docker |redis-cli |redis-server |sudo |apt|brew |export |kata |\./|\.ci/|[\w/]+/run$)`)
	// suggested is a command in the output of a command, in a text picture or in a comment of
	// the code.
	suggested = regexp.MustCompile("(?:printf '[^'\n]*' \\| )?go (?:run \\.|test)(?: [^\\n#`(]*)?")
	comment   = regexp.MustCompile(`(?:^|\s+)#.*$`)
	hidden    = regexp.MustCompile(`\bgo (?:run|test) `)
	ourFolder = regexp.MustCompile(`(?:stage\d_\w+|failures_test|internal)(?:/[a-z]\w*)*`)
)

// shells are the languages of a fence whose lines are typed.
var shells = []string{"sh", "bash", "zsh", "shell", "console"}

// commandsOf returns the command lines of a document, in order.
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

// suggestions returns the commands in a line that is not a shell line.
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
	testLine = regexp.MustCompile(`^go test(?: -v| -count=\d+| -tags (?:live|servers)| -run ('[^']*'|\S+))* \./(\S+)(?: -(?:for|lock) \S+)*$`)
	// elsewhere are command lines that are not run here: they take minutes, need a network or
	// belong to other projects. The files and tests that they name must exist.
	elsewhere = regexp.MustCompile(`^(?:go test (?:-tags live )?\./(?:\.\.\.|mylock(?: -run TestMyLock/[a-z-]+)?)|go mod (?:download|vendor)|` +
		`go generate \./\S+|go doc \./\S+|go build (?:-v|-o lockkata) \.|\(cd \S+ && go test(?: \S+)*\)|\S+/run|` +
		`git clone https://\S+|redis-cli .*)$`)
	// onlyAsked are commands that need a server, a person, a compiler or a long search. The tests of
	// internal/cli run them; here only the command and its flags must exist.
	onlyAsked = regexp.MustCompile(`^(?:serve|play --stage 6 --goal damage-fenced$|explore --stage all$|grade|kata(?:$| check| explore| next| solution))|--live|--redis|--help|--edit`)
	edited    = regexp.MustCompile(`--stage (\S+) --edit (\S+)`)
	// ownRows are flags that print other failures, which have no families.
	ownRows     = regexp.MustCompile(`^--(?:servers|guards)\b`)
	placeholder = regexp.MustCompile(`^(?:[FN]|[A-Z]{2,}|…)$`)
)

var (
	// example has a value for each placeholder in capitals.
	example = map[string]string{
		"FAILURE": "check-then-delete", "F": "check-then-delete", "STAGE": "3", "N": "3", "THEME": "lease", "DIR": "stage3_owner_value",
		"SCHEDULE": "v1/stage2/2c/1x/async/wrong-delete/b.B.t.b.a.b", "…": "--help",
	}
	// brief are flags that keep a command short: the matrix, which has no name, plays one family, and
	// explore does not start the search of the whole suite.
	brief = map[string]string{"": "--family lease", "explore": "--bound 0", "interview": "--minutes 1", "demo": "--hold 0s"}
)

// outcome is what a command printed and its status.
type outcome struct {
	status   int
	out, err string
}

// outcomes caches the outcomes, so that each command runs once.
var outcomes = map[string]outcome{}

// run runs a command of this repository inside the test, with keys on its input. Without keys it
// gets q, which ends a game or an interview.
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

// try returns the problem of a command line; "" if it works.
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

// tryOurs runs a command of this repository, or checks that the command and its flags exist.
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
	if m := edited.FindStringSubmatch(line); m != nil {
		isThere := func(e edits.Edit) bool { return e.Stage.ID == m[1] && e.ID() == m[2] }
		if !slices.ContainsFunc(edits.All, isThere) {
			return fmt.Sprintf("stage %s has no edit %s", m[1], m[2])
		}
	}
	if asked {
		if worker := slices.Index(args, "--"); worker >= 0 {
			args = args[:worker]
		}
		args = append(args, "--help")
	} else if strings.HasPrefix(line, "kata") {
		dir := filepath.Join(t.TempDir(), "mylock") // of a learner with an exercise under way
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

// tryTests checks that the tests of a go test line exist.
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
		_, known := catalogue.Find(failure)
		switch {
		case !strings.Contains(source, "\nfunc "+test):
			return fmt.Sprintf("there is no test %s in %s", test, folder)
		case failure != "" && !known:
			return "there is no failure " + failure
		}
	}
	return ""
}

// Commands in the documents work, and so do those in the comments of the stages.
func TestCommandsInDocumentsWork(t *testing.T) {
	tried := map[string]bool{}
	for _, d := range append(documents(), sources()...) {
		found, problems := commandsOf(d)
		for _, cmd := range found {
			if tried[cmd.line] || slices.Contains(ofAnotherModule, d.name) {
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

// ofAnotherModule are documents whose commands run in a module of its own.
var ofAnotherModule = []string{"docs/others.md", inChinese + "others.md"}

// sources returns the stages' files. Only the commands in them count.
func sources() []*document {
	files := read("stage*/*.go")
	for i, f := range files {
		files[i] = &document{name: f.name, fences: []fence{{part: part{0, f.text}}}}
	}
	return files
}
