package interview

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(raw)
}

func themes(t *testing.T) []Theme {
	t.Helper()
	all, err := Parse("interview.md", fixture(t, "interview.md"), english.Labels)
	require.NoError(t, err)
	return all
}

func TestDocumentHasThemesAndQuestionsWithTheirParts(t *testing.T) {
	all := themes(t)
	require.Len(t, all, 2)
	require.Equal(t, "theme-lease", all[0].ID)
	require.Equal(t, "The lease", all[0].Title)
	require.Len(t, all[0].Questions, 2)
	q := all[0].Questions[0]
	require.Equal(t, "lease-why", q.ID)
	require.Equal(t, "The lease", q.Theme)
	require.Equal(t, "Why a lease?", q.Title)
	require.Equal(t, "go run . show crash-before-expire --stage 1", q.Command)
	require.Equal(t, "Because a holder can die, and the **key** stays;\nsee [the stage](../stage1_setnx_expire/README.md).", q.Parts[Spoken])
	require.Equal(t, "![A dies](pictures/crash-before-expire-1.svg)", q.Parts[Drawing])
	require.Contains(t, q.Parts[Depth], "### not a heading\n**Proof.** not a label")
	require.Equal(t, "- How long? Long enough.", q.Parts[FollowUps])
	require.Equal(t, "unlock-whose", all[1].Questions[0].ID)
}

func TestChineseDocumentHasTheSameShape(t *testing.T) {
	all, err := Parse("zh.md", fixture(t, "zh.md"), chinese.Labels)
	require.NoError(t, err)
	require.Equal(t, "go run . list", all[0].Questions[0].Command)
}

func TestWindowsLineEndsAreLineEnds(t *testing.T) {
	all, err := Parse("f", strings.ReplaceAll(fixture(t, "interview.md"), "\n", "\r\n"), english.Labels)
	require.NoError(t, err)
	require.Equal(t, themes(t), all)
}

// lineOf is where a text begins in the fixture.
func lineOf(t *testing.T, document, text string) int {
	t.Helper()
	before, _, found := strings.Cut(document, text)
	require.True(t, found)
	return 1 + strings.Count(before, "\n")
}

// cutPart is what stands before a part and its label, and what stands after it.
func cutPart(t *testing.T, text, label, part string) (before, after string) {
	t.Helper()
	for _, space := range []string{" ", "\n"} {
		if before, after, found := strings.Cut(text, "\n"+label+space+part); found {
			return before, after
		}
	}
	t.Fatalf("there is no %s %s", label, part)
	return "", ""
}

// Every part of every question, taken away, is missed by its name and line.
func TestMissingPartIsNamed(t *testing.T) {
	document := fixture(t, "interview.md")
	for _, theme := range themes(t) {
		for _, q := range theme.Questions {
			heading := "### " + q.Title
			at := strings.Index(document, heading)
			for i, label := range english.Labels {
				before, after := cutPart(t, document[at:], label, q.Parts[i])
				broken := document[:at] + before + after
				_, err := Parse("docs/interview.md", broken, english.Labels)
				require.ErrorContains(t, err, "the question "+q.ID+" has no "+label)
				require.Regexp(t, `^docs/interview\.md:\d+: `, err.Error())

				empty := document[:at] + before + "\n" + label + after
				_, err = Parse("docs/interview.md", empty, english.Labels)
				require.ErrorContains(t, err, fmt.Sprintf("docs/interview.md:%d: the question %s has nothing after %s",
					lineOf(t, document, heading), q.ID, label))
			}
		}
	}
}

func TestFaultsOfADocumentAreNamedWithTheirLine(t *testing.T) {
	document := fixture(t, "interview.md")
	for says, edit := range map[string][2]string{
		`f:15: the question "Why a lease?" has no anchor`:                                      {`<a id="lease-why"></a>`, ""},
		"f:15: the question why stands under theme-lease: its anchor has to begin with lease-": {"lease-why", "why"},
		"f:38: the anchor lease-why is that of line 15":                                        {`"lease-how"`, `"lease-why"`},
		"f:17: the question lease-why begins with text that is no part: **In 30 seconds.**":    {"**In 30 seconds.** Because", "Because"},
		"f:35: the question lease-why has a second **Drawing.**, or has it too late":           {"**Proof.** `go run . show crash", "**Drawing.** `go run . show crash"},
		"f:20: the question lease-why has no **Drawing.** before **In depth.**":                {"**Drawing.** ![A dies]", "**In depth.** ![A dies]"},
		"f:15: the question lease-why has no command in back quotes after **Proof.**":          {"`go run . show crash-before-expire --stage 1`", "see there"},
		"f:10: the anchor lease of the theme \"The lease\" does not begin with theme-":         {`"theme-lease"`, `"lease"`},
		"f:15: the anchor lease-why has no heading under it":                                   {"### Why a lease?", "Why a lease?"},
		"f:39: the question lease-how stands under no theme":                                   {"<a id=\"lease-how\"></a>", "## Others\n<a id=\"lease-how\"></a>"},
		"f:10: the theme theme-lease has no question":                                          {"<a id=\"lease-why\"></a>", "<a id=\"theme-empty\"></a>\n## Empty\n<a id=\"empty-why\"></a>"},
		"f:31: the question lease-why has no empty line before **Follow-ups.**":                {"\n\n**Follow-ups.**", "\n**Follow-ups.**"},
		`f:15: the question "Why a lease?" has no anchor: a line <a id`:                        {"lease-why", "lease_why"},
		"a block of code has no end":                                                           {"|--- lease ---|\n```", "|--- lease ---|"},
	} {
		_, err := Parse("f", strings.Replace(document, edit[0], edit[1], 1), english.Labels)
		require.ErrorContains(t, err, says)
	}
	_, err := Parse("f", "# Nothing\n", english.Labels)
	require.ErrorContains(t, err, "f:1: there is no theme")
}

func TestQuestionsAreSpreadOverTheThemes(t *testing.T) {
	var all []Theme
	for i := range 5 {
		theme := Theme{ID: fmt.Sprintf("theme-%d", i), Title: fmt.Sprint(i)}
		for n := range 3 {
			theme.Questions = append(theme.Questions, Question{ID: fmt.Sprintf("%d-%d", i, n), Theme: theme.Title})
		}
		all = append(all, theme)
	}
	orders := map[string]bool{}
	for seed := range uint64(20) {
		order := Order(all, seed)
		require.Equal(t, order, Order(all, seed), "the same seed, the same order")
		require.Len(t, order, 15)
		ids := map[string]bool{}
		text := ""
		for start := 0; start < 15; start += 5 {
			asked := map[string]bool{}
			for _, q := range order[start : start+5] {
				asked[q.Theme], ids[q.ID] = true, true
				text += q.ID + " "
			}
			require.Len(t, asked, 5, "one of each theme before the second of one")
		}
		require.Len(t, ids, 15, "none twice")
		orders[text] = true
	}
	require.Greater(t, len(orders), 15, "other seeds, other orders")
}

func TestThemeIsFoundByItsName(t *testing.T) {
	for _, name := range []string{"unlock", "theme-unlock"} {
		one, err := Restrict(themes(t), name)
		require.NoError(t, err)
		require.Len(t, one, 1)
		require.Equal(t, "theme-unlock", one[0].ID)
	}
	_, err := Restrict(themes(t), "unlok")
	require.EqualError(t, err, `there is no theme "unlok": there are lease, unlock`)
}

func TestProofRunsInProcessWhereItCan(t *testing.T) {
	for command, want := range map[string]string{
		"go run .":                                "[] ",
		"go run . show oom --stage 1":             "[show oom --stage 1] ",
		"go run . replay 'v1/stage2/a.b'":         "[replay v1/stage2/a.b] ",
		"printf '2222' | go run . play --stage 3": "[play --stage 3] 2222",
		"go test -run TestFailures ./stage1/...":  "",
		"go run . kata verify":                    "",
		"go run . show oom > /tmp/x":              "",
		"go run . show $(rm x)":                   "",
		"go run . interview":                      "",
		"cd failures_test/graders && go run .":    "",
	} {
		args, keys, ok := inProcess(command)
		require.Equal(t, want != "", ok, command)
		if ok {
			require.Equal(t, want, fmt.Sprint(args)+" "+keys)
		}
	}
}
