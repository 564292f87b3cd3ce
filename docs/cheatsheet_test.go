package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/aymanbagabas/go-udiff"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
	"lockkata/internal/interview"
)

// The scripts of the cheat sheet work together: those for a string, and those for a hash. On the
// other kind of key they are errors.
func TestScriptsOfTheCheatSheetWorkTogether(t *testing.T) {
	for _, folder := range []string{"docs/", inChinese} {
		var scripts []string
		for _, f := range documentNamed(t, folder+"cheatsheet.md").fences {
			if f.language == "lua" {
				scripts = append(scripts, f.text)
			}
		}
		require.Len(t, scripts, 6, folder)
		server := miniredis.RunT(t)
		rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
		defer rdb.Close()
		run := func(script string, args ...any) (any, error) {
			return rdb.Eval(t.Context(), script, []string{"K"}, args...).Result()
		}
		returns := func(want any, script string, args ...any) {
			t.Helper()
			got, err := run(script, args...)
			require.NoError(t, err, script)
			require.Equal(t, want, got, script)
		}

		unlock, renew := scripts[0], scripts[1]
		took := rdb.SetNX(t.Context(), "K", "me", 30*time.Second).Val()
		require.True(t, took)
		returns(int64(0), renew, "other", 60_000)
		returns(int64(1), renew, "me", 60_000)
		require.Equal(t, time.Minute, server.TTL("K"))
		returns(int64(0), unlock, "other")
		_, err := run(scripts[2], "me", 30_000)
		require.ErrorContains(t, err, "WRONGTYPE")
		returns(int64(1), unlock, "me")
		require.False(t, server.Exists("K"))

		take, count, lastUnlock, renewHash := scripts[2], scripts[3], scripts[4], scripts[5]
		_, err = run(take, "me", "30s")
		require.Error(t, err)
		require.False(t, server.Exists("K"), "a key without a lease")
		for range 2 { // it may be sent twice
			_, err = run(take, "me", 30_000)
			require.ErrorIs(t, err, redis.Nil)
		}
		returns(int64(30_000), take, "other", 30_000)
		returns(int64(0), count, "other", 30_000, 2)
		returns(int64(1), count, "me", 30_000, 2)
		require.Equal(t, "2", server.HGet("K", "me"))
		returns(int64(1), count, "me", 30_000, 1) // the inner unlock
		returns(int64(0), renewHash, "other", 60_000)
		returns(int64(1), renewHash, "me", 60_000)
		require.Equal(t, time.Minute, server.TTL("K"))
		for _, wrong := range []string{unlock, renew} {
			_, err = run(wrong, "me", 30_000)
			require.ErrorContains(t, err, "WRONGTYPE")
		}
		returns(int64(0), lastUnlock, "other")
		returns(int64(1), lastUnlock, "me")
		returns(int64(0), count, "me", 30_000, 1) // a copy of the inner unlock comes late
		require.False(t, server.Exists("K"))
	}
}

// themeHeading is a heading of the index: ### [The lease](interview/lease.md)
var themeHeading = regexp.MustCompile(`^### \[.*\]\((interview/([a-z]+)\.md)\)$`)

// indexOf returns the index of the questions with all questions below its themes' headings. The
// must-knows come first in their theme.
func indexOf(t *testing.T, d *document, l i18n.Language) string {
	t.Helper()
	themes, err := interview.Parse(root, l)
	require.NoError(t, err)
	var all []interview.Question
	for _, theme := range themes {
		all = append(all, theme.Questions...)
	}
	position := func(q interview.Question) int {
		page, anchor, _ := strings.Cut(q.Place, "#")
		return strings.Index(documentNamed(t, page).text, fmt.Sprintf("<a id=%q>", anchor))
	}
	slices.SortStableFunc(all, func(a, b interview.Question) int { return position(a) - position(b) })
	folder, lines, inThemes := filepath.Dir(d.name)+"/", []string{}, false
	for _, line := range d.lines {
		m := themeHeading.FindStringSubmatch(line)
		if inThemes = inThemes || m != nil; !inThemes {
			lines = append(lines, line)
		}
		if m == nil {
			continue
		}
		lines = append(lines, line, "")
		for _, page := range []string{"interview/must.md", m[1]} {
			for _, q := range all {
				place := strings.TrimPrefix(q.Place, folder)
				if strings.HasPrefix(place, page+"#") && (page == m[1] || strings.HasPrefix(q.ID, m[2]+"-")) {
					lines = append(lines, fmt.Sprintf("- [%s](%s)", q.Title, place))
				}
			}
		}
		lines = append(lines, "")
	}
	return strings.Join(lines, "\n")
}

// With -update the test writes the lists.
func TestIndexListsTheQuestions(t *testing.T) {
	for name, l := range map[string]i18n.Language{"docs/interview.md": i18n.English, "docs/zh-CN/interview.md": i18n.Chinese} {
		d := documentNamed(t, name)
		text := indexOf(t, d, l)
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join("..", filepath.FromSlash(name)), []byte(text), 0o644))
			continue
		}
		require.Empty(t, udiff.Unified(name, "the questions", d.text, text), "out of date: go generate ./docs")
	}
}

var (
	chapterMinutes = regexp.MustCompile(`\]\(#([a-z0-9-]+)\)\s(\d+)`)
	hanOrWord      = regexp.MustCompile(`(\p{Han})|[A-Za-z0-9][\w.'’-]*`)
	halfMinute     = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|\*\*(?:What happens next\?|接下来会怎样？)\*\*`)
)

// The walkthrough names a pace, and the minutes of the whole, of each chapter and of the commands.
func TestWalkthroughTakesItsMinutes(t *testing.T) {
	for folder, promise := range map[string]string{
		"docs/":   "takes [%d minutes](#minutes), and %d more with the commands",
		inChinese: "要 [%d 分钟](#minutes)，跑命令另加 %d 分钟",
	} {
		d := documentNamed(t, folder+"walkthrough.md")
		total := 0
		for _, m := range chapterMinutes.FindAllStringSubmatch(d.prose, -1) {
			claimed, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			total += claimed
			from, to := chapter(d, m[1])
			require.InDelta(t, readingTime(d, from, to).Minutes(), claimed, 0.75, d.name+"#"+m[1])
		}
		require.LessOrEqual(t, readingTime(d, 1, len(d.lines)+1).Minutes(), float64(total), d.name)

		typed, _ := commandsOf(d)
		different := map[string]bool{}
		for _, c := range typed {
			different[c.line] = true
		}
		require.Contains(t, strings.Join(strings.Fields(d.prose), " "), fmt.Sprintf(promise, total, len(different)/2), d.name)
	}
}

// The second answer of a must-know lasts as long as its name says, if it is said aloud at 120 words or
// 300 Chinese characters a minute.
func TestSpokenAnswersLastWhatTheyPromise(t *testing.T) {
	for l, spoken := range map[i18n.Language]struct {
		label   string
		minutes float64
	}{
		i18n.English: {"**In two minutes.**", 2},
		i18n.Chinese: {"**一分钟回答。**", 1},
	} {
		require.Equal(t, spoken.label, interview.TwoMinutes.Label(l))
		themes, err := interview.Parse(root, l)
		require.NoError(t, err)
		for _, theme := range themes {
			for _, q := range theme.Questions {
				if q.Rank != interview.Must {
					continue
				}
				took := 0.0
				for _, m := range hanOrWord.FindAllStringSubmatch(q.Parts[interview.TwoMinutes], -1) {
					if m[1] != "" {
						took += 1.0 / 300
					} else {
						took += 1.0 / 120
					}
				}
				require.InDelta(t, spoken.minutes, took, 0.5, q.ID)
			}
		}
	}
}

// chapter returns the lines from the anchor to the next chapter.
func chapter(d *document, anchor string) (from, to int) {
	for _, a := range d.anchors {
		if a.text == anchor {
			from = a.line
		}
	}
	for _, h := range d.headings {
		if h.level == 2 && h.line > from+1 {
			return from, h.line
		}
	}
	return from, len(d.lines) + 1
}

// readingTime returns how long the lines take at the walkthrough's pace.
func readingTime(d *document, from, to int) (took time.Duration) {
	text := strings.Join(strings.Split(d.prose, "\n")[from-1:to-1], "\n")
	took = time.Duration(len(halfMinute.FindAllString(text, -1))) * 30 * time.Second
	for _, f := range d.fences {
		if from <= f.line && f.line < to {
			took += time.Duration(strings.Count(f.text, "\n")) * 4 * time.Second
		}
	}
	text = linked.ReplaceAllString(halfMinute.ReplaceAllString(attribute.ReplaceAllString(text, ""), ""), "$2")
	for _, m := range hanOrWord.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			took += time.Minute / 300
		} else {
			took += time.Minute / 200
		}
	}
	return took
}
