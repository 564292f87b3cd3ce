package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
)

// pages has the questions of the fixture, and the files of the repository.
type pages struct{ fs.FS }

func (p pages) Open(name string) (fs.File, error) {
	if file, err := os.DirFS("../interview/testdata").Open(name); err == nil && strings.HasPrefix(name, "docs") {
		return file, nil
	}
	return p.FS.Open(name)
}

// interviewed runs an interview with this input and configuration folder, on pages that do not
// change with the documents.
func interviewed(t *testing.T, config, typed string, args ...string) (status int, out, errors string) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var stdout, stderr bytes.Buffer
	a := &app{t: t, sources: pages{os.DirFS("../..")}, in: strings.NewReader(typed), out: &stdout, err: &stderr, width: usualWidth}
	a.configDir = func() (string, error) { return config, nil }
	status = a.run(append([]string{"interview"}, args...))
	return status, stdout.String(), stderr.String()
}

// twoRoundsAndAPrediction answers two questions and a prediction, and ends the input in the middle
// of the fourth round.
const twoRoundsAndAPrediction = "aloud\n1\nd\np\nf\ns\n\n\n0\n\n\n0\n1\n2\n3\n4\nthe end\n"

func TestInterviewRunsToItsSummary(t *testing.T) {
	status, out, errors := interviewed(t, t.TempDir(), twoRoundsAndAPrediction, "--minutes", "3", "--seed", "1")
	require.Equal(t, exitOK, status, errors)
	require.Empty(t, errors)
	for _, part := range []string{
		"A mock interview: 3 minutes, ", "> aloud\n", "Round 3: prediction (3 minutes left)\n", "> \nAnswer with a number from 0 to ", "Then try each answer: its run takes ten seconds to read.",
		"Round 4: ", "\nSummary\n", "4 rounds, in less than a minute.\n", "of 1 right\n", "  docs/interview/must.md#", "  go run . ",
		"The same interview again:\n  go run . interview --lang en --minutes 3 --seed 1\n\nWhat you missed or half knew is remembered: `go run . interview --missed` asks only that.\n",
	} {
		require.Contains(t, out, part)
	}
	_, again, _ := interviewed(t, t.TempDir(), twoRoundsAndAPrediction, "--minutes", "3", "--seed", "1")
	require.Equal(t, out, again)
}

func TestInterviewRunsAProofInProcess(t *testing.T) {
	_, out, _ := interviewed(t, t.TempDir(), "\na\nr\n", "--seed", "1")
	_, shown, _ := command(t, "show", "crash-before-expire", "--stage", "1")
	require.Contains(t, out, shown)
}

func TestInterviewOfATheme(t *testing.T) {
	status, _, errors := interviewed(t, t.TempDir(), "", "--theme", "luck")
	require.Equal(t, exitBadUsage, status)
	require.Contains(t, errors, `--theme: there is no theme "luck": there are lease (The lease), unlock (The release)`)
	for _, name := range []string{"lease", "租约"} {
		_, out, _ := interviewed(t, t.TempDir(), "\na\n\n", "--seed", "1", "--lang", "zh", "--theme", name)
		require.Contains(t, out, "第 1 轮：租约 ")
		require.True(t, strings.HasSuffix(out, "  go run . interview --lang zh --minutes 20 --seed 1 --theme lease\n"), out)
	}
}

func TestInterviewRemembersWhatWasMissed(t *testing.T) {
	config := t.TempDir()
	held := func(typed string, args ...string) string {
		_, out, errors := interviewed(t, config, typed, append(args, "--seed", "1")...)
		return out + errors
	}
	kept := func() string {
		raw, _ := os.ReadFile(filepath.Join(config, "lockkata", "missed.json"))
		return string(raw)
	}
	require.Equal(t, "Nothing was missed yet.\n", held("", "--missed"))
	held("q\n")
	require.Empty(t, kept())
	held("\n1\n\n\n0\n\nq\n")
	require.Equal(t, `["lease-why","unlock-whose"]`, kept())
	require.Regexp(t, "^2 questions that you missed or half knew are remembered: `go run . interview --missed` asks only those\\.\n\nA mock", held("q\n"))
	out := held("\na\n\n", "--missed", "--theme", "lease")
	require.Contains(t, out, "1 question in 1 theme\n")
	require.NotRegexp(t, "rediction|remembered|same interview", out)
	require.Equal(t, `["unlock-whose"]`, kept())
	require.Contains(t, held("", "--missed", "--theme", "lease"), "no question fits --theme lease --missed: leave one")
	held("\na\n\n", "--missed")
	require.Equal(t, "[]", kept())
}

func TestFileThatIsNotUnderstoodStaysAsItIs(t *testing.T) {
	config := t.TempDir()
	file := filepath.Join(config, "lockkata", "missed.json")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(`{"mine": 1}`), 0o644))
	_, out, _ := interviewed(t, config, "\n0\n\n")
	require.Equal(t, 1, strings.Count(out, "What you miss is not remembered: "+file+" is not a list of ids. Correct"))
	status, _, errors := interviewed(t, config, "", "--missed")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, "Correct or delete it: it stays as it is.")
	raw, _ := os.ReadFile(file)
	require.Equal(t, `{"mine": 1}`, string(raw))
	_, out, _ = interviewed(t, file, "\n0\n\n")
	require.Equal(t, 1, strings.Count(out, "What you miss is not remembered: "), "the folder cannot be used")
}

var roundLine = regexp.MustCompile(`(?m)^Round \d+: .* · (.+) · (.+) \(`)

// asked returns the levels of an interview's must-knows, in the order of the rounds.
func asked(t *testing.T, out string) (levels []string) {
	t.Helper()
	for _, m := range roundLine.FindAllStringSubmatch(out, -1) {
		require.Equal(t, "must know", m[1])
		levels = append(levels, m[2])
	}
	return levels
}

// eachRound answers a question, or a prediction until the right answer.
const eachRound = "\n1\n2\n3\n4\n5\n6\n\n"

func TestMustKnowsOfAllLevelsFitTwentyMinutes(t *testing.T) {
	for _, seed := range []string{"1", "2", "3"} {
		_, out, _ := commandWithKeys(t, strings.Repeat(eachRound, 10), "interview", "--must", "--minutes", "20", "--seed", seed)
		require.Contains(t, out, "At two minutes a round, 10 rounds fit.")
		require.Equal(t, "junior junior junior senior senior staff staff", strings.Join(asked(t, out)[:7], " "), seed)
	}
}

func TestInterviewAsksOnlyWhatItsFlagsAllow(t *testing.T) {
	_, out, _ := commandWithKeys(t, strings.Repeat(eachRound, 100), "interview", "--must", "--seed", "3", "--minutes", "60")
	require.Regexp(t, `^(junior ){5,}(senior ){5,}(staff ?){2}$`, strings.Join(asked(t, out), " "), "the easiest first")
	require.Contains(t, out, "prediction")

	_, out, _ = commandWithKeys(t, strings.Repeat(eachRound, 100), "interview", "--level", "junior", "--theme", "lease")
	for _, m := range roundLine.FindAllStringSubmatch(out, -1) {
		require.Equal(t, "junior", m[2])
	}
	_, out, _ = commandWithKeys(t, "\na\n\n", "interview", "--project", "--must", "--level", "junior")
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
	_, first, _ := interviewed(t, t.TempDir(), "")
	_, second, _ := interviewed(t, t.TempDir(), "")
	require.NotEqual(t, first, second)
	require.Regexp(t, `--seed \d+\n$`, first)
	_, again, _ := interviewed(t, t.TempDir(), "", "--seed", first[strings.LastIndex(first, " ")+1:len(first)-1])
	require.Equal(t, first, again)
}

// The pages of both languages have the same questions, and as many key points and follow-ups.
func TestInterviewHasTheQuestionsOfTheDocuments(t *testing.T) {
	asked := map[i18n.Language]string{}
	for _, l := range i18n.Languages {
		themes, err := interview.Parse(os.DirFS("../.."), l)
		require.NoError(t, err)
		for _, q := range interview.Order(themes, 1, "", 0) {
			asked[l] += fmt.Sprintln(q.ID, q.Rank, q.Level, len(q.Points), len(q.FollowUps), q.Command)
			require.Equal(t, q.Rank == interview.Must, strings.Contains(q.Place, "/must.md#"), q.Place)
		}
	}
	require.Equal(t, asked[i18n.English], asked[i18n.Chinese])
}
