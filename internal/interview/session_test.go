package interview

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// held is a session on the fixture, with a clock that advances at each reading.
type held struct {
	*Session
	out bytes.Buffer
	ran []string // commands that were run in process
}

func prepare(t *testing.T, input string, tick time.Duration) *held {
	t.Helper()
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	h := &held{}
	h.Session = &Session{
		T: t, Themes: themes(t), Seed: 1, Length: 20 * time.Minute, Again: "go run . interview --seed 1",
		Now: func() time.Time { now = now.Add(tick); return now }, Width: 120, Echo: true,
		In: strings.NewReader(input), Out: &h.out,
		InProcess: func(args []string, keys string, out io.Writer) int {
			h.ran = append(h.ran, strings.Join(args, " "))
			fmt.Fprintf(out, "<%s>\n", strings.Join(args, " "))
			if strings.Contains(keys+strings.Join(args, " "), "99") {
				return 2
			}
			return 0
		},
	}
	return h
}

// hold runs the session and returns its output.
func (h *held) hold(t *testing.T) string {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	require.NoError(t, h.Hold(t.Context()))
	return h.out.String()
}

// wholeInterview has answers, keys, wrong marks and nonsense for all questions.
const wholeInterview = `a typed answer
d
P
f
r
what?

y
h

d
r
h
7
x
1

D
p
f
r
n

r
y
`

func TestKeysOfAnInterviewShowTheirParts(t *testing.T) {
	h := prepare(t, wholeInterview, time.Second)
	out := h.hold(t)
	for _, part := range []string{
		"A mock interview: 20 minutes, 4 questions in 3 themes\n",
		"Round 1: ", "Why a lease?", "> a typed answer\n",
		"In 30 seconds: Because a holder can die, and the key stays; see the stage.\n",
		"Drawing: A dies: `go run . show crash-before-expire --stage 1` draws it\n",
		"- the key, which has to come together with its lease, so that there is no moment between the two at\n  which a client can die\n",
		"    ### not a heading\n", "- On what? On the work.\n",
		"<show crash-before-expire --stage 1>\n",
		"Run this in a shell of your own, at the root of the repository:\n`go test -run TestFailures ./stage1_setnx_expire/...`\n",
		"    |--- lease ---|\n",
		"`go run . show oom --stage 99` ends with status 2.\n",
		`Unknown key "what?". Press one of d, p, f, r, q, y, h, n.` + "\n",
		`"h" is not an answer. Say it aloud`, "Round 4: The lease · often · senior (",
		"Round 3: prediction (20 minutes left)\n", `"7" is not one of the answers. Type a number from 1 to `, `"x" is not one of the answers.`,
		"> r\n\nProof: No run here: it takes an etcd.\n\nd drawing",
		"All questions were asked.\n", "Summary\n", "5 rounds, in less than a minute.\n",
		"\nWhat you typed, and the model answer:\n", "\nYou: a typed answer\n\nModel: ",
		"theme        knew  half  not\n", "The same interview again:\n  go run . interview --seed 1\n",
	} {
		require.Contains(t, out, part)
	}
	require.Regexp(t, `Predictions: [01] of 1 right`, out)
	require.Contains(t, h.ran[len(h.ran)-2]+h.ran[len(h.ran)-1], "replay v1/stage", "the prediction was run on")
	require.NotContains(t, out, `Unknown key ""`)
	require.NotContains(t, out, "\x1b")
}

func TestSummaryNamesWhatToReadAgain(t *testing.T) {
	h := prepare(t, "\ny\n\nh\n1\n\nn\n\nn\n", time.Second)
	out := h.hold(t)
	_, summary, found := strings.Cut(out, "\nRead again:\n")
	require.True(t, found)
	require.NotContains(t, summary, "What you typed")
	for i, q := range Order(h.Themes, 1) {
		entry := fmt.Sprintf("- %s\n  docs/interview.md#%s\n", q.Title, q.ID)
		if q.Command != "" {
			entry += "  " + q.Command + "\n"
		}
		require.Equal(t, i > 0, strings.Contains(summary, entry), "%s\n%s", entry, summary)
	}
	all := prepare(t, "\ny\n", time.Second)
	all.Themes = all.Themes[1:2]
	require.Contains(t, all.hold(t), "Nothing to read again: you knew it all.\n")
}

func TestPredictionIsMarkedByTheRun(t *testing.T) {
	p, err := (&Finder{T: t, Seed: 1}).Find(1)
	require.NoError(t, err)
	truth := p.Choices[p.Answer].Error()
	for i := range p.Choices {
		h := prepare(t, fmt.Sprintf("\ny\n\ny\n%d\n", i+1), time.Second)
		out := h.hold(t)
		require.Contains(t, out, "<replay "+p.Text()+">")
		verdict, n := "No", 0
		if i == p.Answer {
			verdict, n = "Right", 1
		}
		require.Contains(t, out, verdict+". The lock ran on, and the answer is: "+truth+".")
		require.Contains(t, out, fmt.Sprintf("Predictions: %d of 1 right", n))
		require.Equal(t, i != p.Answer, strings.Contains(out, "- Prediction on stage "+p.Stage.ID+": "))
		require.Equal(t, i != p.Answer, strings.Contains(out, "  go run . replay '"+p.Text()+"'\n"))
	}
}

func TestNoScheduleIsAskedAboutTwice(t *testing.T) {
	p, err := (&Finder{T: t, Seed: 1}).Find(1)
	require.NoError(t, err)
	h := prepare(t, strings.Repeat("\ny\n\ny\n1\n", 3), time.Second)
	h.Known = []string{p.Text()}
	h.Themes[0].Questions = append(h.Themes[0].Questions, slices.Repeat(h.Themes[0].Questions[:1], 4)...)
	h.hold(t)
	require.Len(t, h.ran, 3)
	require.NotContains(t, h.ran, "replay "+p.Text())
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(h.ran))), 3)
}

// The input may end anywhere, and q and Q end the interview at every prompt. The marks so far
// count.
func TestInterviewMayEndAnywhere(t *testing.T) {
	lines := strings.SplitAfter(wholeInterview, "\n")
	for n := range lines {
		typed := strings.Join(lines[:n], "")
		for _, end := range []string{"", []string{"q\n", "Q\n"}[n%2] + "\ny\n"} {
			out := prepare(t, typed+end, time.Second).hold(t)
			require.Contains(t, out, "\nSummary\n", "after %d lines", n)
			require.Equal(t, n > 0, strings.Contains(out, "You: a typed answer"), "after %d lines", n)
			require.True(t, strings.HasSuffix(out, "The same interview again:\n  go run . interview --seed 1\n"))
		}
	}
	out := prepare(t, "", time.Second).hold(t)
	require.Contains(t, out, "Nothing was marked.\n")
	require.Contains(t, out, "(not marked)\n")
	unanswered := prepare(t, "\ny\n\ny\n", time.Second)
	unanswered.Echo, unanswered.Color = false, true
	out = unanswered.hold(t)
	require.Contains(t, out, "\n- Prediction on stage ")
	require.NotContains(t, out, "> y", "a terminal shows itself what is typed")
	require.Contains(t, out, "\x1b[1mRound 1: ")
	require.Contains(t, prepare(t, "\ny", time.Second).hold(t), "Round 2", "the last line needs no end")
}

func TestNoRoundBeginsAfterTheTime(t *testing.T) {
	h := prepare(t, strings.Repeat("\ny\n", 20), 3*time.Minute)
	out := h.hold(t)
	require.Contains(t, out, "That took about 3 minutes. An interviewer wants the first answer in 30 seconds.\n")
	require.Contains(t, out, "Round 2: ")
	require.NotContains(t, out, "Round 3: ")
	require.Contains(t, out, "The time is up.\n")
	require.Regexp(t, `2 rounds, in about \d+ minutes\.`, out)
}

func TestInterviewBeginsWithTheQuestionAskedForAndMayAskOnly(t *testing.T) {
	h := prepare(t, strings.Repeat("\ny\n", 9), time.Second)
	h.First, h.AskOnly = "lease-etcd", true
	out := h.hold(t)
	require.Contains(t, out, "Round 1: Appendix · deep · staff (")
	require.Contains(t, out, "4 rounds, ")
	require.NotContains(t, strings.ToLower(out), "prediction")
}

func TestInterruptGoesToTheSummary(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	typing, typed := io.Pipe()
	defer typed.Close()
	go func() { _, _ = io.WriteString(typed, "\ny\n") }()
	ctx, interrupt := context.WithCancel(t.Context())
	h := prepare(t, "", time.Second)
	now := h.Now
	h.In, h.Now = typing, func() time.Time {
		if h.rounds == 2 {
			interrupt()
		}
		return now()
	}
	require.ErrorIs(t, h.Hold(ctx), context.Canceled)
	require.Regexp(t, `Round 2: (?s:.*)\nSummary\n(?s:.*)\(not marked\)\n`, h.out.String())
}

func TestChineseInterviewHasChineseWords(t *testing.T) {
	h := prepare(t, "\nd\nr\nx\ny\n\ny\n1\n\ny\n", time.Second)
	all, err := Parse("zh.md", fixture(t, "zh.md"), i18n.Chinese)
	require.NoError(t, err)
	all[0].Questions = slices.Repeat(all[0].Questions, 3)
	h.Language, h.Themes = i18n.Chinese, all
	out := h.hold(t)
	for _, part := range []string{
		"模拟面试：20 分钟，3 道题，1 个主题\n", "第 1 轮：租约 · 必考 · 初级（还剩 20 分钟）\n", "30 秒回答：持有者可能崩溃，键会留下。\n",
		"画图：A 崩溃：用 `go run . show crash-before-expire --stage 1` 画出\n", `这里没有按键 "x"。`, "<list>\n", "所有问题都问过了。\n", "\n总结\n", "第 3 轮：预测（",
	} {
		require.Contains(t, out, part)
	}
	require.NotRegexp(t, "Round|minutes|Proof|Summary", out)
	for _, c := range stages.Public() {
		require.NotContains(t, out, c.Title)
	}
}
