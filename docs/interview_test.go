package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"lockkata/internal/interview"
)

// fewest is how many questions there are at least.
const fewest = 45

// A drawing is one that a person can make on a whiteboard.
const (
	drawnLines   = 15
	drawnColumns = 90
)

// Every question has its five parts, as interview.Parse wants them, and a proof that
// TestCommandsInDocumentsWork runs.
func TestQuestionsAreWhole(t *testing.T) {
	for _, l := range interview.Languages {
		t.Run(l.Document, func(t *testing.T) {
			d := documentNamed(t, "docs/"+l.Document)
			questions, problems := questionsOf(d, l)
			requireNone(t, problems)
			require.GreaterOrEqual(t, questions, fewest)
		})
	}
}

// questionsOf counts the questions, and says what is wrong with them.
func questionsOf(d *document, l *interview.Language) (n int, problems []string) {
	themes, err := interview.Parse(d.name, d.text, l)
	if err != nil {
		return 0, []string{err.Error()}
	}
	for _, theme := range themes {
		for _, q := range theme.Questions {
			n++
			for _, p := range questionProblems(q, l) {
				problems = append(problems, fmt.Sprintf("%s#%s: %s", d.name, q.ID, p))
			}
		}
	}
	return n, problems
}

// The list at the top names the must-knows, each by its question, the easier ones first.
func TestMustKnowsAreListedAtTheTop(t *testing.T) {
	for _, l := range interview.Languages {
		d := documentNamed(t, "docs/"+l.Document)
		themes, err := interview.Parse(d.name, d.text, l)
		require.NoError(t, err)
		must := map[string]interview.Question{}
		for _, theme := range interview.Filter(themes, func(q interview.Question) bool { return q.Rank == interview.Must }) {
			for _, q := range theme.Questions {
				must[q.ID] = q
			}
		}
		level := interview.Junior
		for _, item := range listed.FindAllStringSubmatch(d.text, -1) {
			q, ok := must[item[2]]
			require.True(t, ok, "%s: %s is no must-know, or is listed twice", d.name, item[2])
			require.Equal(t, q.Title, item[1])
			require.GreaterOrEqual(t, q.Level, level, "%s: %s stands behind a harder one", d.name, q.ID)
			level = q.Level
			delete(must, q.ID)
		}
		require.Empty(t, must, "%s: not listed", d.name)
	}
}

// listed is a numbered item that is a question.
var listed = regexp.MustCompile(`(?m)^\d+\. \[(.+)\]\(#([a-z-]+)\)$`)

var (
	picture = regexp.MustCompile(`!\[[^\]]+\]\([^)]+\.svg\)`)
	drawing = regexp.MustCompile("(?s)```text\n(.*?)```")
	item    = regexp.MustCompile(`(?m)^[-*] +\S`)
)

func questionProblems(q interview.Question, l *interview.Language) []string {
	problems := drawingProblems(l.Labels[interview.Drawing], q.Parts[interview.Drawing])
	if !item.MatchString(q.Parts[interview.FollowUps]) {
		problems = append(problems, l.Labels[interview.FollowUps]+" is no list")
	}
	if q.Command != "" {
		if p := proofProblem(q.Command); p != "" {
			problems = append(problems, p)
		}
	}
	return problems
}

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

*often · junior*

**In 30 seconds.** Because.

**Drawing.**

` + "```text\nA --> B\n```" + `

**In depth.** Deep.

**Follow-ups.**

- And then? Nothing.

**Proof.** ` + "`go run . show oom --stage 2`" + `: it shows.
`

func TestQuestionsThatAreNotWholeAreFound(t *testing.T) {
	english := interview.Languages[0]
	n, problems := questionsOf(parse("docs/interview.md", question), english)
	require.Empty(t, problems)
	require.Equal(t, 1, n)
	for _, one := range []struct{ old, new, problem string }{
		{"**In depth.** Deep.", "Deep.", "docs/interview.md:19: the question lease-why has no **In depth.** before"},
		{"A --> B\n", strings.Repeat("A\n", 16), "#lease-why: **Drawing.** has 16 lines; 15 fit"},
		{"A --> B", strings.Repeat("A", 91), "#lease-why: **Drawing.** is 91 columns wide; 90 fit"},
		{"```text\nA --> B\n```", "A", "#lease-why: **Drawing.** is neither a picture nor a ```text block"},
		{"- And then", "And then", "#lease-why: **Follow-ups.** is no list"},
		{"`go run . show oom --stage 2`", "`make proof`", `#lease-why: nobody tries "make proof"`},
		{"`go run . show oom --stage 2`", "`go run . play --stage 2`", "go run . play --stage 2 is no proof: it does not end by itself"},
		{"`go run . show oom --stage 2`", "`go test ./...`", "go test ./... is no proof"},
	} {
		require.Contains(t, question, one.old)
		_, problems := questionsOf(parse("docs/interview.md", strings.Replace(question, one.old, one.new, 1)), english)
		require.Contains(t, strings.Join(problems, "\n"), one.problem)
	}
}
