package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	screen "lockkata/internal/term"
)

// A drawing is one that a person can make on a whiteboard.
const drawnLines, drawnColumns = 15, 90

var (
	picture = regexp.MustCompile(`!\[[^\]]+\]\([^)]+\.svg\)`)
	drawing = regexp.MustCompile("(?s)```text\n(.*?)```")
	listed  = regexp.MustCompile(`(?m)^\d+\. \[(.+)\]\(#([a-z-]+)\)$`)
	// needsAPerson are the commands that do not end by themselves.
	needsAPerson = regexp.MustCompile(`^go run \. (?:play|serve|interview|kata)\b`)
)

// Every question has its five parts, as interview.Parse wants them, and a proof that
// TestCommandsInDocumentsWork runs. The list at the top names the must-knows, each by its
// question, the easier ones first.
func TestQuestionsAreWhole(t *testing.T) {
	for _, l := range i18n.Languages {
		t.Run(string(l), func(t *testing.T) {
			d := documentNamed(t, interview.Document(l))
			themes, err := interview.Parse(d.name, d.text, l)
			require.NoError(t, err)
			must := map[string]interview.Question{}
			var problems []string
			for _, theme := range themes {
				for _, q := range theme.Questions {
					if q.Rank == interview.Must {
						must[q.ID] = q
					}
					for _, p := range questionProblems(q, l) {
						problems = append(problems, fmt.Sprintf("%s#%s: %s", d.name, q.ID, p))
					}
				}
			}
			requireNone(t, problems)
			requireListed(t, d, must)
		})
	}
}

func requireListed(t *testing.T, d *document, must map[string]interview.Question) {
	t.Helper()
	level := interview.Junior
	for _, item := range listed.FindAllStringSubmatch(d.text, -1) {
		q, ok := must[item[2]]
		require.True(t, ok, "%s is no must-know, or is listed twice", item[2])
		require.Equal(t, q.Title, item[1])
		require.GreaterOrEqual(t, q.Level, level, "%s stands behind a harder one", q.ID)
		level = q.Level
		delete(must, q.ID)
	}
	require.Empty(t, must, "not listed")
}

func questionProblems(q interview.Question, l i18n.Language) []string {
	problems := drawingProblems(interview.Drawing.Label(l), q.Parts[interview.Drawing])
	if !strings.HasPrefix(q.Parts[interview.FollowUps], "- ") {
		problems = append(problems, interview.FollowUps.Label(l)+" is no list")
	}
	isRun := ourLine.MatchString(q.Command) || testLine.MatchString(q.Command) && !elsewhere.MatchString(q.Command)
	if q.Command != "" && (!isRun || needsAPerson.MatchString(q.Command)) {
		problems = append(problems, q.Command+" is no proof: it does not run here, or does not end by itself")
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
		if n := screen.Columns(line); n > drawnColumns {
			problems = append(problems, fmt.Sprintf("%s is %d columns wide; %d fit", label, n, drawnColumns))
		}
	}
	return problems
}
