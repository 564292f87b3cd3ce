package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// command is a command line that a document tells its reader to type.
type command struct {
	line   string
	status int // with which it ends: "# exit 1" behind it, or "(exit 1)"
	place  string
	number int // of its line in the document
}

var (
	// looksTyped is code in the text that is a command line.
	looksTyped = regexp.MustCompile(`^(?:go (?:run|test) |go (?:build|install|get|mod|generate|vet|doc|tool|version|env|list)\b|` +
		`\(?cd |printf |echo |yes |git |curl |wget |docker |redis-cli |redis-server |sudo |apt|brew |export |kata |\./|\.ci/|[\w/]+/run$)`)
	// suggested is a command in what a command prints, in a picture of text, or in a
	// comment of the code.
	suggested = regexp.MustCompile("(?:printf '[^'\n]*' \\| )?go (?:run \\.|test)(?: [^\\n#`(]*)?")
	comment   = regexp.MustCompile(`(?:^|\s+)#.*$`)
	exits     = regexp.MustCompile(`# exit (\d)\b`)
	exitsWith = regexp.MustCompile(`^ ?[(（](?:exit|退出码) ?(\d)[)）]`)
	typed     = regexp.MustCompile(`\bgo (run|test) `)
)

// shells are the languages of a fence whose lines are typed; others are the ones
// whose lines are not.
var (
	shells = []string{"sh", "bash", "shell", "console"}
	others = []string{"", "text", "go", "lua", "diff", "json", "html", "yaml", "sql", "java", "ini", "conf", "toml", "markdown"}
)

// commandsOf finds the command lines of a document, in their order.
func commandsOf(d *document) (found []command, problems []string) {
	add := func(line string, number, status int) {
		found = append(found, command{line, status, strings.TrimSuffix(d.at(number), ": "), number})
	}
	for _, f := range d.fences {
		switch {
		case slices.Contains(shells, f.language):
			for _, l := range logicalLines(f) {
				status := 0
				if told := exits.FindStringSubmatch(l.text); told != nil {
					status, _ = strconv.Atoi(told[1])
				}
				if line := strings.TrimSpace(comment.ReplaceAllString(l.text, "")); line != "" {
					add(strings.TrimPrefix(line, "$ "), l.line, status)
				}
			}
		case slices.Contains(others, f.language):
			for i, text := range strings.Split(f.text, "\n") {
				for _, line := range suggestions(text) {
					add(line, f.line+1+i, 0)
				}
			}
		default:
			problems = append(problems, d.at(f.line)+fmt.Sprintf("```%s: lines to type are ```sh, all else is one of %s", f.language, strings.Join(others, " ")))
		}
	}
	for _, s := range d.spans {
		if !looksTyped.MatchString(s.text) {
			continue
		}
		status := 0
		if told := exitsWith.FindStringSubmatch(s.after); told != nil {
			status, _ = strconv.Atoi(told[1])
		}
		line := s.text
		if strings.HasPrefix(line, "kata ") {
			line = "go run . " + line
		}
		add(line, s.line, status)
	}
	for _, p := range d.prose {
		if typed.MatchString(p.text) {
			problems = append(problems, d.at(p.line)+"a command to type stands in back-quotes: "+p.text)
		}
	}
	return found, problems
}

// logicalLines are the lines of a fence; one that ends in \ goes on in the next.
func logicalLines(f fence) (lines []part) {
	going := false
	for i, text := range strings.Split(f.text, "\n") {
		text, goesOn := strings.CutSuffix(text, "\\")
		if going {
			lines[len(lines)-1].text += strings.TrimSpace(text)
		} else {
			lines = append(lines, part{f.line + 1 + i, text})
		}
		going = goesOn
	}
	return lines
}

// suggestions are the commands in a line of what is no shell.
func suggestions(text string) (lines []string) {
	for _, line := range suggested.FindAllString(text, -1) {
		line, _, _ = strings.Cut(line, "  ")
		line = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line), ",;:"))
		if !strings.HasSuffix(line, "/...") && line != "go run ." {
			line = strings.TrimRight(line, ".")
		}
		lines = append(lines, line)
	}
	return lines
}
