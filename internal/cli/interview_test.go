package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/interview"
)

// interviewed holds an interview with this typed.
func interviewed(t *testing.T, typed string, args ...string) (status int, out, errors string) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	return commandWithKeys(t, typed, append([]string{"interview"}, args...)...)
}

// twoRoundsAndAPrediction answers two questions, a prediction wrongly or not, and
// leaves in the middle of the fourth round.
const twoRoundsAndAPrediction = "aloud\nd\np\nf\nh\n\nn\n0\n1\nthe end\n"

func TestInterviewRunsToItsSummary(t *testing.T) {
	status, out, errors := interviewed(t, twoRoundsAndAPrediction, "--minutes", "3", "--seed", "1")
	require.Equal(t, exitOK, status, errors)
	require.Empty(t, errors)
	for _, part := range []string{
		"A mock interview: 3 minutes, ", "> aloud\n", "Round 3: prediction (3 minutes left)\n", `"0" is no answer here.`,
		"steps, of which ", "Round 4: ", "\nSummary\n", "4 rounds, in less than a minute.\n", "of 1 right\n", "  docs/interview.md#", "  go run . ",
		"The same interview again:\n  go run . interview --minutes 3 --seed 1\n",
	} {
		require.Contains(t, out, part)
	}
	_, again, _ := interviewed(t, twoRoundsAndAPrediction, "--minutes", "3", "--seed", "1")
	require.Equal(t, out, again)
}

func TestInterviewRunsAProofInProcess(t *testing.T) {
	all := parsed(t, interview.Languages[0])
	for seed := range uint64(100) {
		words, isShow := strings.CutPrefix(interview.Order(all, seed)[0].Command, "go run . show ")
		if !isShow {
			continue
		}
		_, out, _ := interviewed(t, "\nr\ny\n", "--seed", strconv.FormatUint(seed, 10))
		_, shown, _ := command(t, append([]string{"show"}, strings.Fields(words)...)...)
		require.Contains(t, out, shown)
		return
	}
	t.Fatal("no interview begins with a question whose proof is a picture")
}

func TestInterviewOfATheme(t *testing.T) {
	for _, l := range interview.Languages {
		all := parsed(t, l)
		last := all[len(all)-1]
		_, out, _ := interviewed(t, "\ny\n", "--seed", "1", "--language", l.Name, "--theme", last.ID)
		require.Contains(t, out, last.Title)
		require.Contains(t, out, " --theme "+last.Short())
		require.Equal(t, l.Name != "en", strings.HasSuffix(out, " --language "+l.Name+"\n"))
	}
}

func TestInterviewTakesAnotherSeedEachTimeAndSaysWhich(t *testing.T) {
	seed := regexp.MustCompile(`--seed (\d+)\n$`)
	seeds := map[string]bool{}
	for range 4 {
		_, out, _ := interviewed(t, "")
		m := seed.FindStringSubmatch(out)
		require.NotNil(t, m)
		seeds[m[1]] = true
		_, again, _ := interviewed(t, "", "--seed", m[1])
		require.Equal(t, out, again)
	}
	require.Greater(t, len(seeds), 1)
}

func TestInterviewRefusesNonsense(t *testing.T) {
	for says, args := range map[string][]string{
		"--minutes 0: give a whole number of minutes, from 1 to 240": {"--minutes", "0"},
		"--minutes 241: give a whole number of minutes":              {"--minutes", "241"},
		"--minutes -5: give a whole number of minutes":               {"--minutes=-5"},
		"--minutes 1h: give a whole number of minutes":               {"--minutes", "1h"},
		"--minutes 99999999999999999999: give a whole number":        {"--minutes", "99999999999999999999"},
		`--theme: there is no theme "luck": there are lease, `:       {"--theme", "luck"},
		`--language: there is no language "fr": there are en, zh-CN`: {"--language", "fr"},
		`interview takes no arguments, not "lease"`:                  {"lease"},
		`invalid argument "x" for "--seed"`:                          {"--seed", "x"},
	} {
		status, out, errors := interviewed(t, "", args...)
		require.Equal(t, exitBadUsage, status)
		require.Contains(t, errors, says)
		require.Equal(t, 1, strings.Count(errors, "\n"))
		require.Empty(t, out)
	}
}

func parsed(t *testing.T, l *interview.Language) []interview.Theme {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + l.Document)
	require.NoError(t, err)
	themes, err := interview.Parse("docs/"+l.Document, string(text), l.Labels)
	require.NoError(t, err)
	return themes
}

// The same seed has to ask the same questions in each language.
func TestInterviewAsksTheSameInEachLanguage(t *testing.T) {
	type id struct{ theme, question, command string }
	var first []id
	for i, l := range interview.Languages {
		var ids []id
		for _, theme := range parsed(t, l) {
			for _, q := range theme.Questions {
				ids = append(ids, id{theme.ID, q.ID, q.Command})
			}
		}
		if i == 0 {
			first = ids
		}
		require.Equal(t, first, ids, l.Document)
	}
}

func TestKnownSchedulesAreThoseOfTheDocuments(t *testing.T) {
	known := (&app{sources: os.DirFS("../..")}).knownSchedules()
	require.Contains(t, known, wrongDelete3, "the README shows it")
	for _, c := range challenges {
		require.Contains(t, known, c.way)
	}
	for _, text := range known {
		_, _, err := parseSchedule(text)
		require.NoError(t, err)
	}
}

// Nobody waits for a search when the interview begins, nor long when a prediction comes.
func TestInterviewBeginsAtOnce(t *testing.T) {
	begun := time.Now()
	interviewed(t, "", "--seed", "1")
	require.Less(t, time.Since(begun), 3*time.Second)
}
