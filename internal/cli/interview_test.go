package cli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/interview"
	"lockkata/internal/stages"
)

// interviewed runs an interview with this input.
func interviewed(t *testing.T, typed string, args ...string) (status int, out, errors string) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	return commandWithKeys(t, typed, append([]string{"interview"}, args...)...)
}

// twoRoundsAndAPrediction answers two questions and a prediction, and ends the input in the middle
// of the fourth round.
const twoRoundsAndAPrediction = "aloud\n1\nd\np\nf\ns\n\n\n0\n\n0\n1\nthe end\n"

func TestInterviewRunsToItsSummary(t *testing.T) {
	status, out, errors := interviewed(t, twoRoundsAndAPrediction, "--minutes", "3", "--seed", "1")
	require.Equal(t, exitOK, status, errors)
	require.Empty(t, errors)
	for _, part := range []string{
		"A mock interview: 3 minutes, ", "> aloud\n", "Round 3: prediction (3 minutes left)\n", `"0" is not one of the answers.`,
		"Round 4: ", "\nSummary\n", "4 rounds, in less than a minute.\n", "of 1 right\n", "  docs/interview.md#", "  go run . ",
		"The same interview again:\n  go run . interview --lang en --minutes 3 --seed 1\n",
	} {
		require.Contains(t, out, part)
	}
	_, again, _ := interviewed(t, twoRoundsAndAPrediction, "--minutes", "3", "--seed", "1")
	require.Equal(t, out, again)
}

func TestInterviewRunsAProofInProcess(t *testing.T) {
	all := parsed(t, i18n.English)
	for seed := range uint64(100) {
		words, isShow := strings.CutPrefix(interview.Order(all, seed)[0].Command, "go run . show ")
		if !isShow {
			continue
		}
		_, out, _ := interviewed(t, "\na\nr\n\n", "--seed", strconv.FormatUint(seed, 10))
		_, shown, _ := command(t, append([]string{"show"}, strings.Fields(words)...)...)
		require.Contains(t, out, shown)
		return
	}
	t.Fatal("no interview begins with a question whose proof is a picture")
}

func TestInterviewOfATheme(t *testing.T) {
	status, _, errors := interviewed(t, "", "--theme", "luck")
	require.Equal(t, exitBadUsage, status)
	require.Contains(t, errors, `--theme: there is no theme "luck": there are lease (租约), `)
	for _, l := range i18n.Languages {
		all := parsed(t, l)
		last := all[len(all)-1]
		for _, name := range []string{last.ID, last.Short(), last.Title, parsed(t, i18n.English)[len(all)-1].Title} {
			_, out, _ := interviewed(t, "\na\n\n", "--seed", "1", "--lang", string(l), "--theme", name)
			require.Contains(t, out, last.Title)
			require.True(t, strings.HasSuffix(out, "  go run . interview --lang "+string(l)+" --minutes 20 --seed 1 --theme "+last.Short()+"\n"), out)
		}
	}
}

var roundLine = regexp.MustCompile(`(?m)^Round \d+: .* · (.+) · (.+) \(`)

func TestInterviewAsksOnlyWhatItsFlagsAllow(t *testing.T) {
	_, out, _ := interviewed(t, strings.Repeat("\na\n\n", 100), "--must", "--seed", "3")
	levels := ""
	for _, m := range roundLine.FindAllStringSubmatch(out, -1) {
		require.Equal(t, "must know", m[1])
		levels += m[2][:1]
	}
	require.Regexp(t, `^j{5,}s+$`, levels, "the easiest first")
	require.NotContains(t, out, "prediction")

	_, out, _ = interviewed(t, strings.Repeat("\na\n\n", 100), "--level", "junior", "--theme", "lease")
	for _, m := range roundLine.FindAllStringSubmatch(out, -1) {
		require.Equal(t, "junior", m[2])
	}
	_, out, _ = interviewed(t, "\na\n\n", "--project", "--must", "--level", "junior")
	require.Contains(t, out, "\nTell me about a lock in your project")
	require.Contains(t, out, " --level junior --must --project\n")
}

// Each spelling of a language, and each environment variable, selects it.
func TestLanguageIsThatOfTheFlagOrOfTheEnvironment(t *testing.T) {
	for _, one := range []struct {
		flag, all, messages, lang string
		want                      i18n.Language
	}{
		{want: "en"}, {flag: "zh", want: "zh"}, {flag: "zh_CN", want: "zh"}, {flag: "zh-CN", want: "zh"}, {flag: "zh-cn", want: "zh"},
		{flag: "中文", want: "zh"}, {flag: "zh_CN.UTF-8", want: "zh"}, {flag: "EN", want: "en"}, {flag: "en_US.UTF-8", want: "en"},
		{lang: "zh_CN.UTF-8", want: "zh"}, {messages: "zh_CN", lang: "en_US", want: "zh"}, {all: "C", messages: "zh_CN", want: "en"},
		{all: "zh_CN.GB18030", lang: "C", want: "zh"}, {lang: "de_DE.UTF-8", want: "en"}, {flag: "en", lang: "zh_CN.UTF-8", want: "en"},
	} {
		a := &app{getenv: func(name string) string {
			return map[string]string{"LC_ALL": one.all, "LC_MESSAGES": one.messages, "LANG": one.lang}[name]
		}}
		l, err := a.language([]string{"--lang", one.flag})
		require.NoError(t, err)
		require.Equal(t, one.want, l, "%+v", one)
	}
}

func TestInterviewTakesAnotherSeedEachTimeAndSaysWhich(t *testing.T) {
	_, first, _ := interviewed(t, "")
	_, second, _ := interviewed(t, "")
	require.NotEqual(t, first, second)
	require.Regexp(t, `--seed \d+\n$`, first)
	_, again, _ := interviewed(t, "", "--seed", first[strings.LastIndex(first, " ")+1:len(first)-1])
	require.Equal(t, first, again)
}

func parsed(t *testing.T, l i18n.Language) []interview.Theme {
	t.Helper()
	text, err := os.ReadFile("../../" + interview.Document(l))
	require.NoError(t, err)
	themes, err := interview.Parse(interview.Document(l), string(text), l)
	require.NoError(t, err)
	return themes
}

func TestKnownSchedulesAreThoseOfTheDocuments(t *testing.T) {
	known := (&app{sources: os.DirFS("../..")}).knownSchedules()
	require.Contains(t, known, wrongDelete3, "the README shows it")
	for _, c := range stages.Public() {
		require.Contains(t, known, c.Challenge)
	}
	for _, text := range known {
		_, _, err := game.Read(text, stages.Table)
		require.NoError(t, err)
	}
}
