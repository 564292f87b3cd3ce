package interview

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(raw)
}

func themes(t *testing.T) []Theme {
	t.Helper()
	all, err := Parse("interview.md", fixture(t, "interview.md"), i18n.English)
	require.NoError(t, err)
	return all
}

func TestDocumentHasThemesAndQuestionsWithTheirParts(t *testing.T) {
	all := themes(t)
	require.Len(t, all, 3)
	require.Equal(t, "theme-lease The lease", all[0].ID+" "+all[0].Title)
	require.Len(t, all[0].Questions, 2)
	q := all[0].Questions[0]
	require.Equal(t, Question{
		ID: "lease-why", Theme: "The lease", Title: "Why a lease?", Rank: Must, Level: Junior, Parts: q.Parts,
		Command: "go run . show crash-before-expire --stage 1",
	}, q)
	require.Equal(t, "Because a holder can die, and the **key** stays;\nsee [the stage](../stage1_setnx_expire/README.md).", q.Parts[Spoken])
	require.Equal(t, "![A dies](pictures/crash-before-expire-1.svg)", q.Parts[Drawing])
	require.Contains(t, q.Parts[Depth], "### not a heading\n**Proof.** not a label")
	require.Equal(t, "- How long? Long enough.", q.Parts[FollowUps])
	require.Equal(t, Often, all[0].Questions[1].Rank)
	require.Equal(t, Senior, all[0].Questions[1].Level)
	require.Equal(t, "unlock-whose", all[1].Questions[0].ID)
	left := Filter(all, func(q Question) bool { return q.Rank == Often })
	require.Len(t, left, 1)
	require.Equal(t, all[0].Questions[1:], left[0].Questions)
	rare := all[2].Questions[0]
	require.Equal(t, "lease-etcd", rare.ID, "the appendix has questions of any theme")
	require.Empty(t, rare.Command, "no command proves it, and the document says so")
}

func TestDocumentMayBeChineseAndHaveWindowsLineEnds(t *testing.T) {
	all, err := Parse("zh.md", strings.ReplaceAll(fixture(t, "zh.md"), "\n", "\r\n"), i18n.Chinese)
	require.NoError(t, err)
	require.Equal(t, "go run . list", all[0].Questions[0].Command)
}

// If a part of the first question is missing, the error names it and the line.
func TestMissingPartIsNamed(t *testing.T) {
	document := fixture(t, "interview.md")
	q := themes(t)[0].Questions[0]
	for i := range parts {
		label := i.Label(i18n.English)
		_, err := Parse("f", strings.Replace(document, "\n\n"+label, "\n\n", 1), i18n.English)
		require.ErrorContains(t, err, "f:15: the question lease-why has no "+label)
		before, after, found := strings.Cut(document, q.Parts[i])
		require.True(t, found)
		_, err = Parse("f", before+after, i18n.English)
		require.ErrorContains(t, err, "f:15: the question lease-why has nothing after "+label)
	}
}

func TestFaultsOfADocumentAreNamedWithTheirLine(t *testing.T) {
	document := fixture(t, "interview.md")
	for says, edit := range map[string][2]string{
		`f:15: the question "Why a lease?" has no anchor: a line <a id="…"></a> above it`:        {`<a id="lease-why"></a>`, ""},
		`f:15: the question "Why a lease?" has no anchor`:                                        {"lease-why", "lease_why"},
		"f:15: the question why stands under another theme":                                      {"lease-why", "why"},
		"f:81: the question waiting-etcd stands under another theme":                             {"lease-etcd", "waiting-etcd"},
		"f:40: the anchor lease-why is that of line 15":                                          {`"lease-how"`, `"lease-why"`},
		"f:15: the question lease-why has no **Proof.** after an empty line, or has it too late": {"**Proof.** `go run . show crash", "**Drawing.** `go run . show crash"},
		"f:15: the question lease-why has no **Follow-ups.** after an empty line":                {"\n\n**Follow-ups.**", "\n**Follow-ups.**"},
		"f:15: the question lease-why has no command in back quotes after **Proof.**":            {"`go run . show crash-before-expire --stage 1`", "see there"},
		"f:10: the anchor lease of the theme \"The lease\" does not begin with theme-":           {`"theme-lease"`, `"lease"`},
		"the theme theme-x has no question":                                                      {"<a id=\"theme-unlock\">", "<a id=\"theme-x\"></a>\n## X\n<a id=\"theme-unlock\">"},
		"f:15: the question lease-why has no *rank · level* under its heading":                   {"*must know · junior*\n", ""},
		`f:15: "*sometimes · junior*" of the question lease-why: the ranks are must know, oft`:   {"*must know ·", "*sometimes ·"},
	} {
		_, err := Parse("f", strings.Replace(document, edit[0], edit[1], 1), i18n.English)
		require.ErrorContains(t, err, says)
	}
	_, err := Parse("f", "# Nothing\n", i18n.English)
	require.ErrorContains(t, err, "f: there is no theme")
}

func TestEasyQuestionsOfTheFirstRankComeFirst(t *testing.T) {
	var all []Theme
	for i := range 5 {
		theme := Theme{ID: fmt.Sprintf("theme-%d", i), Title: fmt.Sprint(i)}
		for n := range 18 {
			rank, level := Rank(n/2%3), Level(n/6)
			theme.Questions = append(theme.Questions, Question{ID: fmt.Sprintf("%d-%d", i, n), Theme: theme.Title, Rank: rank, Level: level})
		}
		all = append(all, theme)
	}
	order := Order(all, 1)
	require.Equal(t, order, Order(all, 1), "the same seed, the same order")
	require.NotEqual(t, order, Order(all, 2), "other seeds, other orders")
	require.Len(t, order, 90)
	ids, asked := map[string]bool{}, map[string]bool{}
	for i, q := range order {
		if i%5 == 0 {
			clear(asked)
		}
		asked[q.Theme], ids[q.ID] = true, true
		require.Len(t, asked, i%5+1, "one of each theme before the second of one")
		require.Equal(t, Rank(i/30), q.Rank, "a rank after the other")
		require.Equal(t, Level(i/10%3), q.Level, "the easier ones first")
	}
	require.Len(t, ids, 90, "none twice")
	require.Equal(t, "3-7", beginWith(order, "3-7")[0].ID)
	require.Len(t, beginWith(order, "3-7"), 90)
}

func TestThemeIsFoundByItsNameInAnyLanguage(t *testing.T) {
	english, chinese := themes(t), []Theme{{Title: "租约"}, {Title: "释放"}, {Title: "附录"}}
	for name, index := range map[string]int{"unlock": 1, "theme-unlock": 1, "The Release": 1, "租约": 0, "lease": 0} {
		i, err := FindTheme(name, english, chinese)
		require.NoError(t, err)
		require.Equal(t, index, i, name)
	}
	_, err := FindTheme("unlok", english, chinese)
	require.EqualError(t, err, `there is no theme "unlok": there are lease (租约), unlock (释放), appendix (附录)`)
}

func TestProofRunsInProcessWhereItCan(t *testing.T) {
	for command, want := range map[string]string{
		"go run .":                                "[] ",
		"go run . show oom --stage 1":             "[show oom --stage 1] ",
		"go run . replay 'v1/stage2/a.b'":         "[replay v1/stage2/a.b] ",
		"printf '2222' | go run . play --stage 3": "[play --stage 3] 2222",
		"go test -run TestFailures ./stage1/...":  "",
		"go run . kata check":                     "",
		"go run . show oom > /tmp/x":              "",
		"go run . show $(rm x)":                   "",
		"go run . interview":                      "",
		"cd failures_test/others && go test -v .": "",
	} {
		args, keys, ok := inProcess(command)
		require.Equal(t, want != "", ok, command)
		if ok {
			require.Equal(t, want, fmt.Sprint(args)+" "+keys)
		}
	}
}
