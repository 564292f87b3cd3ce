package docs_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
)

// shown is a document with a block.
func shown(mark, language, body string) string {
	return "<!-- " + mark + " -->\n```" + language + "\n" + body + "```\n<!-- end -->\n"
}

const thereText = "# What is it?\n\n<a id=\"own\"></a>\n## 看门狗：续期 1/3\n\n## 看门狗：续期 1/3\n"

const mutexText = "package a\n\ntype Mutex struct{}\n\n// Lock\n// locks.\nfunc (m *Mutex) Lock() {\n}\n\nvar a, b = 1, 2\n"

// fake is a small repository.
func fake() *code {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"docs/x.md": "", "docs/there.md": thereText, "docs/dog.svg": "", "stage1_a/mutex.go": mutexText,
		"stage1_a/mutex_test.go": "package a\n\nfunc TestOne() {}\n\nfunc TestFailures() {}\n\nfunc ExampleMutex() {\n}\n",
		"internal/a/a_test.go":   "//go:build live\n\npackage a\n\nfunc TestTwo(t *testing.T) {}\n",
		"mylock/x_test.go":       "package func TestThree(",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return readCode(files)
}

// problemsOf is all that is wrong with a document.
func problemsOf(t *testing.T, c *code, d *document) string {
	_, problems := refresh(d, func(b block) (string, error) { return b.content(t, c) })
	found, more := commandsOf(d)
	for _, cmd := range found {
		if problem := c.try(t, cmd.line); problem != "" {
			more = append(more, d.at(cmd.number)+problem)
		}
	}
	_, unequal := planProblems(d)
	for _, p := range [][]string{more, unequal, c.nameProblems(d), c.linkProblems(d, []*document{d, parse("docs/there.md", thereText)})} {
		problems = append(problems, p...)
	}
	return strings.Join(problems, "\n")
}

func TestFaultsInDocumentsAreFound(t *testing.T) {
	c := fake()
	plan := "-minute plan\n\n| minutes | what |\n|---:|---|\n| 30 | a |\n| 60 | b |\n"
	for text, want := range map[string]string{
		shown("code stage1_a/mutex.go Mutex.Lock from /x/ to /x/", "go", "x\n") + shown("session", "text", ""): "",
		shown("shwo oom", "text", ""):                      `:1: go run . shwo oom: status 2: lockkata: there is no command "shwo"`,
		shown("show oom from /(/ to /x/", "text", ""):      ":1: error parsing regexp: missing closing ): `(`",
		shown("diff 2", "text", ""):                        ":1: the block opens with ```text and not with ```diff",
		shown("diff --help", "diff", ""):                   ":1: the block opens with ```diff and not with ```text",
		shown("diff 99", "diff", ""):                       `:1: go run . diff 99: status 2: lockkata: there is no stage "99"; there are: 1, 2, 3, 4, 5, 6`,
		shown("show oom from /OOOM/ to /z/", "text", ""):   ":1: no line matches /OOOM/",
		shown("show oom from /OOM/ to /OOOM/", "text", ""): ":1: behind /OOM/ no line matches /OOOM/",
		shown("code stage1_a/mutex.go Lock", "go", ""):     ":1: stage1_a/mutex.go declares no Lock",
		shown("code stage1_a/mutex.go", "go", ""):          ":1: stage1_a/mutex.go: name one declaration of a Go file",
		"<!-- matrix -->\n```text\n```\n":                  ":1: <!-- matrix --> has no <!-- end --> after its ```",
		"<!-- matrix -->\ntext\n":                          ":1: a mark is a line of its own",
		"a\n<!-- end -->\n":                                ":2: <!-- end --> without a block",

		"```sh\n# a remark\ngo run . diff 2   # it\n```\n`kata hint` `printf 'q' | go run . play`": "",
		"```sh\ngo test -v -run 'TestOne|TestFailures/oom' ./stage1_a/...\n```\n`go run . show …`": "",
		"`go test -tags live -run TestTwo ./internal/a`, `(cd stage1_a && go test -v .)`":          "",
		"```text\nThat is it: go run . diff 99.\n```\n":                                            ":2: go run . diff 99 ends with status 2",
		"Type go run . list.":                               ":1: a command to type stands in back-quotes",
		"`go run . shwo oom`":                               `:1: go run . shwo oom ends with status 2: lockkata: there is no command "shwo"`,
		"`go run . show FAILUR`":                            `:1: what stands for FAILUR in "go run . show FAILUR"?`,
		"`go run . shwo …`":                                 `:1: there is no command "shwo"`,
		"`go run . explore --stage 9`":                      `:1: go run . explore --stage 9 ends with status 2: lockkata: there is no stage "9"; there are: 1, 2, 3, 4, 5, 6`,
		"`go run . demo --redis a:1 --nmae A`":              ":1: go run . demo --redis a:1 --nmae A ends with status 2",
		"`go run . kata start 99`":                          ":1: go run . kata start 99 ends with status 2: lockkata: there is no exercise 99",
		"`go run . list && rm -r docs`":                     `:1: nobody tries "go run . list && rm -r docs"`,
		"`go test -race ./stage1_a`":                        `:1: nobody tries "go test -race ./stage1_a"`,
		"`go test -tags live ./failures_test/gone -for 1s`": ":1: there are no tests in failures_test/gone",
		"`go test ./stage0_a`":                              ":1: there are no tests in stage0_a",
		"`go test -run TestTwo ./internal/a`":               ":1: there are no tests in internal/a",
		"`go test -run 'TestOne|TestGone' ./stage1_a`":      ":1: there is no TestGone in stage1_a",
		"`go test -run TestFailures/gone ./stage1_a`":       ":1: there is no failure gone",
		"`go test -run Test.* ./stage1_a`":                  ":1: -run Test.*: name the tests",
		"`late-unlock` `wrong-delete`":                      "",
		"`late-unlok`":                                      ":1: there is no failure late-unlok",
		"a\nb `TestThree`":                                  ":2: there is no TestThree in internal/a, stage1_a",
		"`TestTwo` is in [it](../stage1_a/mutex.go)":        ":1: there is no TestTwo in stage1_a",
		"- `TestTwo` in `internal/a`\n- it is `TestOne`":    "",
		"- `TestTwo` in `internal/a`\n- `internal/a/x`":     ":2: there is no internal/a/x",
		"`stage1_a/mutex.go` `there.md` `docs/dog.svg`":     "",
		"`ExampleMutex`":                                    ":1: there is no ExampleMutex in internal/a, stage1_a",
		"[a](there.md#own) [b][r]\n\n[r]: https://redis.io": "",
		"[a](there.md#what-is-it) [b](there.md#看门狗续期-13-1)": "",
		"# Here\n\n[a](#here) ![dog](dog.svg)":              "",
		"[a](gone.md)":                                      ":1: there is no docs/gone.md",
		"[b][r]":                                            ":1: there is no docs/[r]",
		"a\n\n[a](there.md#看门狗续期-13-2)":                     ":3: docs/there.md has no anchor #看门狗续期-13-2",
		"![](dog.svg)":                                      ":1: the picture dog.svg has no text for who cannot see it",
		"![dog](https://a.com/dog.svg)":                     ":1: the picture https://a.com/dog.svg is not in the repository",
		"[a](../../outside)":                                ":1: ../../outside leaves the repository",
		"[a](http://redis.io)":                              ":1: http://redis.io: an address outside the repository is https://host/…",
		"<img alt=\"x\" src=\"gone.svg\">":                  ":1: there is no docs/gone.svg",

		"## 90" + plan + "| 90 | together |\n": "",
		"## 半天：180 分钟\n### 一" + plan[12:]:      `:1: the minutes of "半天：180 分钟" add up to 90, not 180`,
		"## 80" + plan:                         `:1: the minutes of "80-minute plan" add up to 90, not 80`,
		"## 90" + plan + "| 80 | together |\n": ":7: the rows add up to 90, not 80",
		"## 90" + plan + "| some | c |\n":      `:7: "some" is no number of minutes`,
	} {
		got := problemsOf(t, c, parse("docs/x.md", text))
		if want != "" {
			want = "docs/x.md" + want
		}
		require.True(t, strings.HasPrefix(got, want) && (got == "") == (want == ""), "%s\nwant %s\ngot  %s", text, want, got)
		require.NotContains(t, got, "\n", text)
	}
}

// edited says what is wrong after each edit of a text.
func edited(t *testing.T, text string, problems func(text string) []string, edits [][3]string) {
	t.Helper()
	require.Empty(t, problems(text))
	for _, one := range edits {
		require.Contains(t, text, one[0])
		require.Equal(t, one[2], strings.Join(problems(strings.Replace(text, one[0], one[1], 1)), "\n"))
	}
}

func TestDocumentsOutOfStepAreFound(t *testing.T) {
	text := "# A\n\n<a id=\"b\"></a>\n## B\n\n`go run . list`, `go run . diff 2`.\n\n![x](pictures/x.svg)\n\n"
	english := parse("docs/x.md", text+shown("show oom", "text", ""))
	chinese := "# 一\n\n<a id=\"b\"></a>\n## 二\n\n`go run . diff --lang zh 2`，`go run . list`。\n\n![图](../pictures/x.svg)\n\n"
	edited(t, chinese+shown("show oom", "text", ""),
		func(text string) []string {
			d := parse("docs/zh-CN/x.md", text)
			return append(outOfStep(english, d), unmarkedEnglish(d)...)
		},
		[][3]string{
			{"## 二", "### 二", "docs/x.md:4: heading ##, but docs/zh-CN/x.md:4: heading ###"},
			{"## 二", "二", "docs/x.md:4: heading ##, but docs/zh-CN/x.md:8: picture docs/pictures/x.svg"},
			{"\"b\"", "\"c\"", "docs/x.md:3: anchor b, but docs/zh-CN/x.md:3: anchor c"},
			{"../pictures", "pictures", "docs/x.md:8: picture docs/pictures/x.svg, but docs/zh-CN/x.md:8: picture docs/zh-CN/pictures/x.svg"},
			{"show oom", "show late-unlock", "docs/x.md:10: block show oom, but docs/zh-CN/x.md:10: block show late-unlock"},
			{"zh 2", "zh 3", "docs/x.md:6: command go run . diff 2, but docs/zh-CN/x.md:6: command go run . diff 3"},
			{"，`go run . list`", "", "docs/x.md:6: command go run . list: docs/zh-CN/x.md has none here"},
			{"。", "[甲](../kata.md)（英文）[乙](walkthrough.md)[English](../x.md)", ""},
			{"。", "[甲](../kata.md#b)。", "docs/zh-CN/x.md:6: ../kata.md#b is an English page: write （英文） behind the link"},
		})
}

func TestQuestionsThatAreNotWholeAreFound(t *testing.T) {
	edited(t, "```text\nA --> B\n```\n\n- And then?\n\ngo run . show oom", func(text string) []string {
		parts := strings.Split(text, "\n\n")
		q := interview.Question{Command: parts[2]}
		q.Parts[interview.Drawing], q.Parts[interview.FollowUps] = parts[0], parts[1]
		return questionProblems(q, i18n.English)
	}, [][3]string{
		{"A --> B\n", strings.Repeat("A\n", 16), "**Drawing.** has 16 lines; 15 fit"},
		{"A --> B", strings.Repeat("A", 91), "**Drawing.** is 91 columns wide; 90 fit"},
		{"```text\nA --> B\n```", "A", "**Drawing.** is neither a picture nor a ```text block"},
		{"- And", "And", "**Follow-ups.** is no list"},
		{"go run . show oom", "printf 'q' | go run . play", ""},
		{"go run . show oom", "go run . play", "go run . play is no proof: it does not run here, or does not end by itself"},
		{"go run . show oom", "go test ./...", "go test ./... is no proof: it does not run here, or does not end by itself"},
	})
}
