package interview

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/term"
)

func TestMarkdownIsSetForATerminal(t *testing.T) {
	p := page{width: 30}
	require.Equal(t, `A **b** `+"`**c** [d](e)`"+` and a text,
which is wrapped.

- an item that is longer than
  a line
1. one

    **code** stays as it is, however long the line may be

| a | table |
`, "A **b** "+p.set("`**c** [d](e)` and a [text](x.md#y),\nwhich is wrapped.\n\n- an item that is longer than a line\n1. one\n\n```go\n**code** stays as it is, however long the line may be\n```\n\n| a | table |"))
}

func TestAddressOfAnotherSiteIsShown(t *testing.T) {
	require.Equal(t, "a b and c (https://example.com/d)\n", page{width: 80}.set("a [b](../b.md#x) and [c](https://example.com/d)"))
}

func TestBoldIsBoldOnlyInColour(t *testing.T) {
	require.Equal(t, "a bold word\n", page{width: 80}.set("a **bold word**"))
	require.Equal(t, "a \x1b[1mbold\nword\x1b[0m\n", page{width: 7, color: true}.set("a **bold word**"), "letters that are not seen take no room")
}

func TestPictureNamesTheCommandThatDrawsIt(t *testing.T) {
	p := page{width: 200}
	require.Equal(t, "A dies: `go run . show crash-before-expire --stage 1` draws it\n", p.set("![A dies](../pictures/crash-before-expire-1.svg)"))
	require.Equal(t, "A is told no:\n`go run . show oom --stage 5`\ndraws it\n", page{width: 28}.set("![A is told no.](pictures/oom-5.svg)"),
		"a command is not broken")
	require.Equal(t, "other: docs/pictures/other.svg draws it\n", p.set("![other](pictures/other.svg)"))
}

func TestChineseIsWrappedBetweenCharacters(t *testing.T) {
	p := page{width: 12}
	out := p.set("持有者可能崩溃，键\n会留下（永远）。用 `SET NX` 命令")
	require.Equal(t, "持有者可能崩\n溃，键会留下\n（永远）。用\n`SET NX` 命\n令\n", out)
	for line := range strings.Lines(out) {
		require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), 12)
	}
	require.Equal(t, "回答：在\n", page{width: 80}.set("**回答：**\n在"))
	require.Equal(t, "证明：`x`\n", page{width: 80}.set("**证明：**\n`x`"))
	require.Equal(t, "锁。一把\n", page{width: 80}.set("**锁。** 一把"))
}
