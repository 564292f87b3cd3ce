package docs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = "# One `two` three\n" +
	"\n" +
	"<a id=\"deep\"></a>\n" +
	"## 看门狗：续期\n" +
	"\n" +
	"Say `go run .\nlist` (exit 1), ![a dog](dog.svg) and [there](there.md#x).\n" +
	"\n" +
	"```sh\n" +
	"go test ./...\n" +
	"```\n" +
	"\n" +
	"| minutes | what |\n" +
	"|---|---|\n" +
	"| 5 | `a\\|b` |\n"

func TestMarkdownIsTakenApart(t *testing.T) {
	d := parse("docs/sample.md", sample)
	require.Equal(t, []heading{{part{1, "One two three"}, 1}, {part{4, "看门狗：续期"}, 2}}, d.headings)
	require.Equal(t, []part{{3, "deep"}}, d.anchors)
	require.Equal(t, []link{{part{7, "dog.svg"}, "a dog", true}, {part{7, "there.md#x"}, "there", false}}, d.links)
	require.Len(t, d.spans, 3)
	require.Equal(t, part{6, "go run . list"}, d.spans[1].part)
	require.Equal(t, " (exit 1), ![a dog](dog.svg) and [there](there.md#x).", d.spans[1].after)
	require.Contains(t, d.spans[1].block, "Say `go run .\nlist`")
	require.Equal(t, `a|b`, d.spans[2].text)
	require.Equal(t, "| 5 | `a\\|b` |", d.spans[2].block)
	require.Equal(t, []fence{{part{9, "go test ./...\n"}, "sh"}}, d.fences)
	require.Equal(t, []table{{13, []string{"minutes", "what"}, []row{{15, []string{"5", "a|b"}}}}}, d.tables)
	require.Equal(t, "docs/there.md", d.fromRoot("there.md"))
	require.Equal(t, 2, d.section(6))
}
