package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// interviews are the documents with questions, and what their parts are called.
var interviews = map[string][]string{
	"docs/interview.md":       {"**In 30 seconds.**", "**Drawing.**", "**In depth.**", "**Follow-ups.**", "**Proof.**"},
	"docs/zh-CN/interview.md": {"**30 秒回答。**", "**画图。**", "**深入。**", "**追问。**", "**证明。**"},
}

// fewest is how many questions there are at least.
const fewest = 45

// A drawing is one that a person can make on a whiteboard.
const (
	drawnLines   = 15
	drawnColumns = 90
)

// Every question has its five parts, and a proof that TestCommandsInDocumentsWork runs.
func TestQuestionsAreWhole(t *testing.T) {
	for name, labels := range interviews {
		t.Run(name, func(t *testing.T) {
			questions, problems := questionsOf(documentNamed(t, name), labels)
			requireNone(t, problems)
			require.GreaterOrEqual(t, len(questions), fewest)
		})
	}
}

var (
	themeID    = regexp.MustCompile(`^theme-([a-z]+)$`)
	questionID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	picture    = regexp.MustCompile(`!\[[^\]]+\]\([^)]+\.svg\)`)
	drawing    = regexp.MustCompile("(?s)```text\n(.*?)```")
	item       = regexp.MustCompile(`(?m)^[-*] +\S`)
)

// questionsOf are the ids of the questions, in their order, and what is wrong with
// the document.
func questionsOf(d *document, labels []string) (ids, problems []string) {
	lines := strings.Split(d.text, "\n")
	seen := map[string]bool{}
	theme := ""
	for i, h := range d.headings {
		complain := func(format string, args ...any) {
			problems = append(problems, d.at(h.line)+fmt.Sprintf(format, args...))
		}
		id := d.idBefore(h.line)
		switch h.level {
		case 2:
			if name := themeID.FindStringSubmatch(id); name != nil {
				theme = name[1]
			} else if id != "" {
				complain(`<a id="%s"> before a theme: theme-something`, id)
			}
		case 3:
			end := len(lines)
			if i+1 < len(d.headings) {
				end = d.headings[i+1].line - 1
			}
			if !questionID.MatchString(id) || !strings.HasPrefix(id, theme+"-") || theme == "" {
				complain(`the question %q has no <a id="%s-something"> in the line before it, but %q`, h.text, theme, id)
			}
			if seen[id] {
				complain("there are two questions %s", id)
			}
			seen[id] = true
			ids = append(ids, id)
			for _, p := range partProblems(strings.Join(lines[h.line:end], "\n"), labels) {
				complain("%s: %s", id, p)
			}
		}
	}
	return ids, problems
}

// idBefore is the anchor in the line before another.
func (d *document) idBefore(line int) string {
	for _, a := range d.anchors {
		if a.line == line-1 {
			return a.text
		}
	}
	return ""
}

// partProblems looks at the text of a question.
func partProblems(text string, labels []string) (problems []string) {
	parts := make([]string, len(labels))
	rest := "\n\n" + strings.TrimSpace(text)
	for i, label := range labels {
		before, after, found := strings.Cut(rest, "\n\n"+label)
		if !found {
			return append(problems, fmt.Sprintf("there is no paragraph %s, or not in its place", label))
		}
		if i > 0 {
			parts[i-1] = before
		} else if strings.TrimSpace(before) != "" {
			problems = append(problems, fmt.Sprintf("there is text before %s", label))
		}
		rest = after
	}
	parts[len(parts)-1] = rest
	for i, part := range parts {
		if strings.TrimSpace(anchorLine.ReplaceAllString(part, "")) == "" {
			problems = append(problems, labels[i]+" is empty")
		}
	}
	problems = append(problems, drawingProblems(labels[1], parts[1])...)
	if !item.MatchString(parts[3]) {
		problems = append(problems, labels[3]+" is no list")
	}
	if proof := quoted.FindStringSubmatch(parts[4]); proof == nil {
		problems = append(problems, labels[4]+" names no command")
	} else if p := proofProblem(proof[1]); p != "" {
		problems = append(problems, p)
	}
	return problems
}

var anchorLine = regexp.MustCompile(`<a id="[^"]*"></a>`)

func drawingProblems(label, part string) (problems []string) {
	drawn := drawing.FindStringSubmatch(part)
	if drawn == nil {
		if !picture.MatchString(part) {
			problems = append(problems, label+" is neither a picture nor a ```text block")
		}
		return problems
	}
	lines := strings.Split(strings.TrimSuffix(drawn[1], "\n"), "\n")
	if len(lines) > drawnLines {
		problems = append(problems, fmt.Sprintf("%s has %d lines; %d fit", label, len(lines), drawnLines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > drawnColumns {
			problems = append(problems, fmt.Sprintf("%s is %d columns wide; %d fit", label, n, drawnColumns))
		}
	}
	return problems
}

// proofProblem says what keeps a command from being a proof: it has to run here, end
// by itself and need nobody's keys.
func proofProblem(line string) string {
	kind, err := plan(line)
	switch {
	case err != nil:
		return err.Error()
	case kind == elsewhere:
		return line + " is no proof: the tests of the documents do not run it"
	case kind == asProgram:
		parts := programLine.FindStringSubmatch(line)
		for _, word := range []string{"play", "serve", "interview", "kata"} {
			if strings.HasPrefix(parts[2], " "+word) && !strings.Contains(parts[1], "|") {
				return line + " is no proof: it does not end by itself"
			}
		}
	}
	return ""
}

const question = `<a id="theme-lease"></a>
## The lease

<a id="lease-why"></a>
### Why?

**In 30 seconds.** Because.

**Drawing.**

` + "```text\nA --> B\n```" + `

**In depth.** Deep.

Deeper.

**Follow-ups.**

- And then? Nothing.

**Proof.** ` + "`go run . show oom --stage 2`" + `: it shows.
`

func TestQuestionsThatAreNotWholeAreFound(t *testing.T) {
	labels := interviews["docs/interview.md"]
	ids, problems := questionsOf(parse("docs/interview.md", question), labels)
	require.Empty(t, problems)
	require.Equal(t, []string{"lease-why"}, ids)
	for _, one := range []struct{ old, new, problem string }{
		{"**In depth.** Deep.", "Deep.", "lease-why: there is no paragraph **In depth.**"},
		{" Because.", "", "lease-why: **In 30 seconds.** is empty"},
		{"A --> B\n", strings.Repeat("A\n", 16), "**Drawing.** has 16 lines; 15 fit"},
		{"A --> B\n", strings.Repeat("A", 91), "**Drawing.** is 91 columns wide; 90 fit"},
		{"```text\nA --> B\n```", "A", "**Drawing.** is neither a picture nor a ```text block"},
		{"- And then", "And then", "**Follow-ups.** is no list"},
		{"`go run . show oom --stage 2`", "Look", "**Proof.** names no command"},
		{"`go run . show oom --stage 2`", "`make proof`", `nobody tries "make proof"`},
		{"`go run . show oom --stage 2`", "`go run . play --stage 2`", "go run . play --stage 2 is no proof: it does not end by itself"},
		{"`go run . show oom --stage 2`", "`go test ./...`", "go test ./... is no proof"},
		{`id="lease-why"`, `id="owner-why"`, `has no <a id="lease-something">`},
		{`<a id="lease-why"></a>`, "", `has no <a id="lease-something">`},
		{`id="theme-lease"`, `id="lease"`, `<a id="lease"> before a theme`},
		{"### Why?\n", "### Why?\n\nText.\n", "there is text before **In 30 seconds.**"},
	} {
		require.Contains(t, question, one.old)
		_, problems := questionsOf(parse("docs/interview.md", strings.Replace(question, one.old, one.new, 1)), labels)
		require.Contains(t, strings.Join(problems, "\n"), one.problem)
	}
	twice := question + question[strings.Index(question, `<a id="lease-why"`):]
	_, problems = questionsOf(parse("docs/interview.md", twice), labels)
	require.Equal(t, []string{"docs/interview.md:25: there are two questions lease-why"}, problems)
}
