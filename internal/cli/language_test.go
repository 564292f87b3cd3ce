package cli

import (
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
)

var (
	// inEnglish matches what stays English: commands to type, code, names with hyphens or in quotes,
	// and errors of the lock, of Redis and of the system.
	inEnglish = regexp.MustCompile(`go (?:run|test) .*|lockkata explore|(?:apt|brew) install|lockkata kata \w+|错误：.*|\(error\).*|` +
		`(?:LOADING|OOM|READONLY|NOAUTH|NOSCRIPT) .*|No matching script.*|.*read only.*|.*to the same.*|CROSSSLOT.*|Redis is loading.*|stage\d: .*|(?:open|stat|listen|dial|address|missing port) .*|[a-z]+(?:-[a-z]+)+|"[a-z -]*"|\b[A-Z]\? `) // a value that is not in Redis yet: A?
	sentence  = regexp.MustCompile(`[a-z]+ [a-z]+ [a-z]+|^[A-Z][a-z ]*:$`) // or a heading
	halfWidth = regexp.MustCompile(`\p{Han}[,:;!?]|[,:;!?] ?\p{Han}`)      // such as "oom: 内存已满"
)

// englishIn returns the lines with three English words in a row, or with an English heading.
func englishIn(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if sentence.MatchString(inEnglish.ReplaceAllString(line, "")) {
			lines = append(lines, line)
		}
	}
	return lines
}

// englishIn finds an English sentence, also after Chinese, but not a name or a command.
func TestEnglishIsFound(t *testing.T) {
	require.Len(t, englishIn("锁：the lock is free\n锁空出来了\nwhen it ends, both work on\nFlags:\n"), 3)
	require.Empty(t, englishIn("有：slow-grant oom wake-lost clock-jump；试试 go run . show oom of the lock\n"))
}

// requireChinese requires Chinese output, with Chinese punctuation.
func requireChinese(t *testing.T, words ...string) {
	t.Helper()
	out := inChinese(t, words...)
	require.Empty(t, englishIn(out), "%v", words)
	require.NotRegexp(t, halfWidth, inEnglish.ReplaceAllString(out, ""), "%v", words)
}

// With --lang zh these commands print only Chinese.
func TestChineseOutputHasNoEnglishSentence(t *testing.T) {
	const schedule = "v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b"
	for _, words := range [][]string{
		{}, {"--all"}, {"--steps"}, {"--family", "租约"}, {"list"}, {"list", "--long"}, {"replay", schedule}, {"explore", "--stage", "1", "--property", "leak", "--env", "crash"},
		{"demo", "--hold", "0s"}, {"demo", "--hold", "0s", "--stage", "1"},
	} {
		requireChinese(t, words...)
	}
	requireChinese(t, "show", "renew-blip", "--stage", "1")
	for _, f := range catalogue.All {
		requireChinese(t, "show", f.ID, "--steps")
		if !f.FirstScreen {
			continue
		}
		require.Empty(t, englishIn(html.UnescapeString(markup.ReplaceAllString(inChinese(t, "show", f.ID, "--svg"), ""))), f.ID)
	}
	_, out, _ := played(t, "hh9u2222h22312", "--stage", "3", "--lang", "zh_CN")
	require.Contains(t, out, "达到目标")
	require.Empty(t, englishIn(out))
}

// The help of each command is translated, and fits a terminal of 80 columns.
func TestHelpFitsATerminalInEachLanguage(t *testing.T) {
	document, err := os.ReadFile("../../docs/commands.md")
	require.NoError(t, err)
	page := strings.ReplaceAll(string(document), "<!-- matrix --help", "<!-- --help")
	var helped func(cmd *cobra.Command, words ...string)
	helped = func(cmd *cobra.Command, words ...string) {
		for _, lang := range i18n.Languages {
			a, out, errors := onTerminal(t, 80)
			require.Equal(t, exitOK, a.run(append(words, "--help", "--lang", string(lang))), errors)
			requireColumns(t, 80, out.String())
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				require.Equal(t, !f.Hidden, strings.Contains(out.String(), " --"+f.Name+" "), "%v --%s", words, f.Name)
			})
		}
		require.Empty(t, englishIn(inChinese(t, append(words, "--help")...)), "%v", words)
		if len(words) == 2 && words[1] != "check" && words[1] != "explore" {
			return // the help of kata lists it
		}
		require.Contains(t, page, "<!-- "+strings.Join(append(words, "--help"), " ")+" -->", "docs/commands.md does not have it")
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			helped(sub, append(slices.Clip(words), sub.Name())...)
		}
	}
	helped(new(app).root())
}

// Sentences and tables fit a terminal of 80 columns. Commands to copy and code are not wrapped.
func TestScreensFitATerminalInEachLanguage(t *testing.T) {
	fewFailures(t, "pubsub-cut", "second-goroutine-reenters")
	whole := regexp.MustCompile(`(?m)^.*go (?:run|test) .*\n|^[-+ ].*//.*\n|^[-+]\t.*\n`)
	for _, words := range [][]string{{}, {"--steps"}, {"--documents"}, {"--all"}, {"list"}, {"list", "--long"}, {"diff", "3"}, {"demo", "--hold", "0s"}} {
		for _, lang := range i18n.Languages {
			a, out, errors := onTerminal(t, 80)
			require.Equal(t, exitOK, a.run(append(words, "--lang", string(lang))), errors)
			requireColumns(t, 80, whole.ReplaceAllString(out.String(), ""))
		}
	}
}

// inChinese returns a command's output on a terminal so wide that no line is wrapped, without the texts
// whose translation is pending.
func inChinese(t *testing.T, words ...string) string {
	t.Helper()
	var out, errors strings.Builder
	a := &app{t: t, sources: os.DirFS("../.."), out: &out, err: &errors, width: 300}
	require.Equal(t, exitOK, a.run(append(words, "--lang", "zh")), errors.String())
	shown := out.String()
	for text, chinese := range i18n.Translations() {
		if chinese == i18n.Pending {
			shown = strings.ReplaceAll(shown, string(text), "")
		}
	}
	return shown
}

// markup is the part of a picture that is not shown.
var markup = regexp.MustCompile(`(?s)<style>.*?</style>|<[^>]*>`)

// The --lang flag may be anywhere. An error is in the environment's language.
func TestLanguageIsFoundAmongTheArguments(t *testing.T) {
	for words, want := range map[string]i18n.Language{
		"show x --lang zh": i18n.Chinese, "--lang=zh": i18n.Chinese, "--lang zh list --lang en": i18n.English, "show x -- --lang zh": i18n.English, "list --lang": i18n.English,
	} {
		l, err := new(app).language(strings.Fields(words))
		require.NoError(t, err)
		require.Equal(t, want, l, words)
	}
	var said strings.Builder
	a := &app{t: t, err: &said, getenv: func(string) string { return "zh_CN.UTF-8" }}
	require.Equal(t, exitBadUsage, a.run([]string{"list", "--lang", "fr"}))
	require.Equal(t, "lockkata: --lang fr：只有 en 和 zh\n", said.String())
}
