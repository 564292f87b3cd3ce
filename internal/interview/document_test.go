package interview

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

const must = "docs/interview/must.md"

// edited returns the fixture with n edits in one of its files.
func edited(t *testing.T, file, old, new string, n int) fs.FS {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata")))
	raw, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	require.Contains(t, string(raw), old)
	require.NoError(t, os.WriteFile(dir+"/"+file, []byte(strings.Replace(string(raw), old, new, n)), 0o644))
	return os.DirFS(dir)
}

func themes(t *testing.T) []Theme {
	t.Helper()
	all, err := Parse(os.DirFS("testdata"), i18n.English)
	require.NoError(t, err)
	return all
}

func TestPagesHaveThemesAndQuestionsWithTheirParts(t *testing.T) {
	all := themes(t)
	require.Len(t, all, 2)
	require.Equal(t, "lease The lease", all[0].ID+" "+all[0].Title)
	require.Len(t, all[0].Questions, 3, "one of the appendix, one of the page, one of the must-knows")
	require.Equal(t, "lease-etcd", all[0].Questions[0].ID)
	require.Empty(t, all[0].Questions[0].Command, "no command proves it, and the page says so")
	require.Equal(t, Often, all[0].Questions[1].Rank)
	require.Equal(t, Senior, all[0].Questions[1].Level)
	q := all[0].Questions[2]
	require.Equal(t, Question{
		ID: "lease-why", Place: "docs/interview/must.md#lease-why", Theme: "The lease", Title: "Why a lease?", Rank: Must, Level: Junior,
		Parts: q.Parts, Points: []string{"a holder can die", "its `key` stays, so\nnobody comes in", "Redis removes the key"},
		FollowUps: []FollowUp{{"How long?", "Longer than\na pause. Why? Ask."}, {"Who ends it?", "Redis."}},
		Command:   "go run . show crash-before-expire --stage 1",
	}, q)
	require.Equal(t, "Because a holder can die, and the **key** stays;\nsee [the stage](../../stage1_setnx_expire/README.md).", q.Parts[Spoken])
	require.Contains(t, q.Parts[TwoMinutes], "What would you do")
	require.Equal(t, "![A dies](../pictures/crash-before-expire-1.svg)", q.Parts[Drawing])
	require.Contains(t, q.Parts[Depth], "## not a heading\n**Proof.** not a label\n```\n\n**Not a part.** But")
	require.Equal(t, "unlock-whose", all[1].Questions[0].ID)
	require.Empty(t, all[1].Questions[0].Parts[Depth], "the depth is optional")
	left := Filter(all, func(q Question) bool { return q.Rank == Often })
	require.Len(t, left, 1)
	require.Equal(t, all[0].Questions[1:2], left[0].Questions)
}

func TestPagesMayBeChineseAndHaveWindowsLineEnds(t *testing.T) {
	all, err := Parse(edited(t, "docs/zh-CN/interview/lease.md", "\n", "\r\n", -1), i18n.Chinese)
	require.NoError(t, err)
	require.Equal(t, "租约", all[0].Title)
	require.Equal(t, "go run . list", all[0].Questions[0].Command)
	require.Equal(t, []FollowUp{{"多长？", "够长。"}}, all[0].Questions[0].FollowUps)
}

// If a part of the first question is missing, the error names it and the line.
func TestMissingPartIsNamed(t *testing.T) {
	q := themes(t)[0].Questions[2]
	for _, i := range []Part{Spoken, TwoMinutes, Points, FollowUps, Proof} {
		label := i.Label(i18n.English)
		for old, new := range map[string]string{"\n\n" + label: "\n\n", q.Parts[i]: ""} {
			_, err := Parse(edited(t, must, old, new, 1), i18n.English)
			require.ErrorContains(t, err, must+":4: the question lease-why has no "+label)
		}
	}
}

func TestFaultsOfThePagesAreNamedWithTheirLine(t *testing.T) {
	for says, edit := range map[string][2]string{
		must + `:4: the question "Why a lease?" has no anchor: a line <a id="…"></a> above it`:      {`<a id="lease-why"></a>`, ""},
		must + `:4: the question "Why a lease?" has no anchor`:                                      {`"lease-why"`, `"lease_why"`},
		must + ":4: the anchor why does not begin with the name of a theme's page":                  {`"lease-why"`, `"why"`},
		must + ":4: the anchor lease-how is that of docs/interview/lease.md:6":                      {`"lease-why"`, `"lease-how"`},
		must + ":4: the question lease-why has no **Proof.**":                                       {"**Proof.** `go run . show crash", "**Drawing.** `go run . show crash"},
		must + ":4: the question lease-why has no **Follow-ups.**":                                  {"\n\n**Follow-ups.**\n- How long", "\n**Follow-ups.**\n- How long"},
		must + ":4: the question lease-why has no command in back quotes after **Proof.**":          {"`go run . show crash-before-expire --stage 1`", "see there"},
		must + ":4: the question lease-why has no *rank · level* under its heading":                 {"*must know · junior*\n", ""},
		must + `:4: "*sometimes · junior*" of the question lease-why: the ranks are must know, oft`: {"*must know ·", "*sometimes ·"},
		must + ":4: the question lease-why has 2 items after **Key points.**, not 3 to 5":           {"- a holder can die\n", ""},
		must + ":4: the question lease-why has 0 items after **Key points.**":                       {"- a holder can die", "a holder can die"},
		must + ":4: the question lease-why has a follow-up without a question mark, or an answer":   {"ends it?", "ends it."},
		must + ":4: the question lease-why has no items after **Follow-ups.**":                      {"- How long?", "How long?"},
	} {
		_, err := Parse(edited(t, must, edit[0], edit[1], 1), i18n.English)
		require.ErrorContains(t, err, says)
	}
}

func TestEasyQuestionsOfTheFirstRankComeFirst(t *testing.T) {
	var all []Theme
	for i := range 5 {
		theme := Theme{Title: fmt.Sprint(i)}
		for n := range 18 {
			rank, level := Rank(n/2%3), Level(n/6)
			theme.Questions = append(theme.Questions, Question{ID: fmt.Sprintf("%d-%d", i, n), Theme: theme.Title, Rank: rank, Level: level})
		}
		all = append(all, theme)
	}
	order := Order(all, 1, "", 0)
	require.Equal(t, order, Order(all, 1, "", 0), "the same seed, the same order")
	require.NotEqual(t, order, Order(all, 2, "", 0), "other seeds, other orders")
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
	begun := Order(all, 1, "3-9", 10)
	require.Equal(t, "3-9", begun[0].ID)
	require.Len(t, begun, 90)
	require.Equal(t, Staff, begun[9].Level, "it is one of those that fit")
}

// Of two themes with a question of each rank and level it takes the must-knows first, and of them
// one of each level in turn.
func TestQuestionsThatFitAreOfAllLevels(t *testing.T) {
	var all []Theme
	for i := range 2 {
		theme := Theme{Title: fmt.Sprint(i)}
		for n := range 9 {
			theme.Questions = append(theme.Questions, Question{ID: fmt.Sprint(i, n), Theme: theme.Title, Rank: Rank(n / 3), Level: Level(n % 3)})
		}
		all = append(all, theme)
	}
	for n, want := range map[int]string{
		1: "00", 3: "00 01 02", 4: "00 00 01 02", 5: "00 00 01 01 02", 8: "00 00 01 01 02 02 10 11", 99: "00 00 01 01 02 02 10 10 11 11 12 12 20 20 21 21 22 22",
	} {
		questions := Order(all, 1, "", n)
		var got []string
		for _, q := range questions {
			got = append(got, fmt.Sprint(int(q.Rank), int(q.Level)))
		}
		planned := strings.ReplaceAll(strings.Join(got[:min(n, len(got))], ","), " ", "")
		require.Equal(t, want, strings.ReplaceAll(planned, ",", " "))
		require.True(t, slices.IsSorted(got[min(n, len(got)):]), "the others follow, the easier ones first")
		require.ElementsMatch(t, Order(all, 1, "", 0), questions)
	}
}

func TestThemeIsFoundByItsNameOrTitle(t *testing.T) {
	for _, name := range []string{"unlock", "The Release"} {
		found, err := FindTheme(name, themes(t))
		require.NoError(t, err)
		require.Equal(t, "unlock", found.ID)
	}
	_, err := FindTheme("unlok", themes(t))
	require.EqualError(t, err, `there is no theme "unlok": there are lease (The lease), unlock (The release)`)
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
