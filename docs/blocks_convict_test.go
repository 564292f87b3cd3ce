package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown is a document with a block.
func shown(mark, language, body string) string {
	return "# A\n\n<!-- " + mark + " -->\n```" + language + "\n" + body + "```\n<!-- end -->\n"
}

func TestBlocksAreRefreshed(t *testing.T) {
	content := func(b block) (string, error) { return "new " + strings.Join(b.words, "|") + "\n", nil }
	for old, fresh := range map[string]string{
		shown("show oom --stage 2", "text", "old\nold\n"):            shown("show oom --stage 2", "text", "new show|oom|--stage|2\n"),
		shown("diff 2", "diff", ""):                                  shown("diff 2", "diff", "new diff|2\n"),
		shown("list lines 1-2", "text", "old\n"):                     shown("list lines 1-2", "text", "new list\n"),
		shown("matrix", "text", "") + shown("matrix", "text", "x\n"): shown("matrix", "text", "new matrix\n") + shown("matrix", "text", "new matrix\n"),
		shown("session", "text", "recorded\n"):                       shown("session", "text", "recorded\n"),
		"```text\n<!-- nothing -->\n```\nno block\n":                 "```text\n<!-- nothing -->\n```\nno block\n",
	} {
		text, problems := refresh(parse("docs/x.md", old), content)
		require.Empty(t, problems)
		require.Equal(t, fresh, text)
		again, _ := refresh(parse("docs/x.md", text), content)
		require.Equal(t, text, again)
	}
}

func TestBadBlocksAreFound(t *testing.T) {
	content := func(b block) (string, error) {
		if b.kind == "list" {
			return "", fmt.Errorf("status 2")
		}
		return "a\n", nil
	}
	for text, problem := range map[string]string{
		shown("shwo oom", "text", ""):                  `docs/x.md:3: there is no block "shwo"; there are matrix, show,`,
		"<!-- matrix -->\n```text\n```\n":              "docs/x.md:1: the block <!-- matrix --> has no <!-- end --> after its ```",
		"<!-- matrix -->\n```text\nno fence":           "docs/x.md:1: the block <!-- matrix --> has no <!-- end --> after its ```",
		"<!-- matrix -->\ntext\n":                      "docs/x.md:1: the block <!-- matrix --> does not begin with ``` in the next line",
		"a\n<!-- end -->\n":                            "docs/x.md:2: <!-- end --> without a block",
		"a <!-- matrix -->\n":                          "docs/x.md:1: a mark is a line of its own",
		"<!-- a note\nof two lines -->\n":              "docs/x.md:1: a mark is a line of its own",
		shown("show oom lines 9-3", "text", ""):        "docs/x.md:3: lines 9-3: say lines 3-9",
		shown("show oom lines three", "text", ""):      "docs/x.md:3: lines three: say lines 3-9",
		shown("list", "text", ""):                      "docs/x.md:3: status 2",
		shown("diff 2", "text", ""):                    "docs/x.md:3: the block opens with ```text and not with ```diff",
		shown("code a.go New", "text", ""):             "docs/x.md:3: the block opens with ```text and not with ```go",
		shown("show oom --json --stage 1", "text", ""): "docs/x.md:3: the block opens with ```text and not with ```json",
	} {
		_, problems := refresh(parse("docs/x.md", text), content)
		require.Len(t, problems, 1, text)
		require.Contains(t, problems[0], problem)
	}
}

func TestExcerptIsTheLinesThatWereAskedFor(t *testing.T) {
	for mark, want := range map[string]string{
		"code stage2_set_nx_ex/mutex.go Mutex.TryLock lines 1-2": "// TryLock",
		"code stage6_reentrant_pubsub/release.lua lines 1-1":     "--",
	} {
		b, err := readMark(mark)
		require.NoError(t, err)
		text, err := b.content()
		require.NoError(t, err)
		require.Contains(t, text, want)
		require.Equal(t, b.last, strings.Count(text, "\n"))
	}
	b, err := readMark("code stage2_set_nx_ex/mutex.go Mutex.TryLock lines 1-900")
	require.NoError(t, err)
	_, err = b.content()
	require.ErrorContains(t, err, "lines 1-900: there are")
}

const source = `package a

// Mutex is
// a lock.
type Mutex struct {
	key string // the key
}

// Lock locks.
func (m *Mutex) Lock() {
	// at once
}

var a, b = 1, 2

func free() {}
`

func TestDeclarationComesWithItsComment(t *testing.T) {
	for name, want := range map[string]string{
		"Mutex":      "// Mutex is\n// a lock.\ntype Mutex struct {\n\tkey string // the key\n}\n",
		"Mutex.Lock": "// Lock locks.\nfunc (m *Mutex) Lock() {\n\t// at once\n}\n",
		"b":          "var a, b = 1, 2\n",
		"free":       "func free() {}\n",
	} {
		text, err := declaration("a.go", source, name)
		require.NoError(t, err)
		require.Equal(t, want, text)
	}
	_, err := declaration("a.go", source, "Lock")
	require.EqualError(t, err, "a.go declares no Lock")
	for problem, words := range map[string][]string{
		"which code?":              nil,
		"no such file":             {"stage1_setnx_expire/gone.go", "New"},
		"name one declaration":     {"stage1_setnx_expire/mutex.go"},
		"declares no Mutex.Forget": {"stage1_setnx_expire/mutex.go", "Mutex.Forget"},
	} {
		_, err := sourceOf(words)
		require.ErrorContains(t, err, problem)
	}
}
