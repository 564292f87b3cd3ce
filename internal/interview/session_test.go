package interview

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/stages"
	"lockkata/internal/term/keyboard"
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
		T: t, Sources: os.DirFS("../.."), Themes: themes(t), Seed: 1, Length: 20 * time.Minute, Again: "go run . interview --seed 1",
		Now: func() time.Time { now = now.Add(tick); return now }, Width: 120, Out: &h.out,
		InProcess: func(args []string, keys string, out io.Writer) int {
			h.ran = append(h.ran, strings.Join(args, " "))
			fmt.Fprintf(out, "<%s>\n", strings.Join(args, " "))
			if strings.Contains(keys+strings.Join(args, " "), "99") {
				return 2
			}
			return 0
		},
	}
	h.Lines = keyboard.ReadLines(strings.NewReader(input), &h.out)
	t.Cleanup(h.Lines.Close)
	return h
}

// hold runs the session and returns its output.
func (h *held) hold(t *testing.T) string {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	require.NoError(t, h.Hold(t.Context()))
	return h.out.String()
}

// wholeInterview has answers, ticks, keys, follow-ups and nonsense for all questions.
const wholeInterview = "a typed answer\n9\n\nd\n1, 3\nT\nP\nr\nf\ntyped\nwhat?\ny\n\nN\nx\n\n" +
	"h\n\na\np\nr\nf\ns\n\n" +
	"\n7\nx\n0\n1\n2\n3\n4\n" +
	"\n0\nd\nf\n\n\nr\n\n\n1 2\nr\n\n"

func TestKeysOfAnInterviewShowTheirParts(t *testing.T) {
	h := prepare(t, wholeInterview, time.Second)
	out := h.hold(t)
	for _, part := range []string{
		"A mock interview: 20 minutes, 4 questions in 2 themes\n",
		"Round 1: ", "Why a lease?", "> a typed answer\n",
		"In 30 seconds: Because a holder can die, and the key stays; see the stage.\n",
		"Key points:\n1. a holder can die\n2. its `key` stays, so nobody comes in\n3. Redis removes the key\n\nWhich of these did you say? Type",
		"> 9\n\"9\" means nothing here.\n\nWhich of these did you say?", "> \n\nWhich of these did you say?",
		"Drawing: A dies: `go run . show crash-before-expire --stage 1` draws it\n", "> 1, 3\n2 of 3 key points: half.\n\n",
		"\nEnter next round · f follow-ups, one by one · q end the interview\nMore: t in two minutes · d drawing · p in depth · r proof\n> T\n",
		"In two minutes: At second 0 A", "lease, so B waits forever.\n\nWhat would you do about the key?\n",
		"- the key, which has to come together with its lease, so that there is no moment between the two at\n  which a client can die\n",
		"    ## not a heading\n", "\nProof: `go run . show crash-before-expire --stage 1`: A dies.\n\n<show crash-before-expire --stage 1>\n",
		"\nFollow-up 1 of 2: How long?\nAnswer aloud, or type it, and press Enter. s ends the follow-ups.\n> typed\n\nLonger than a pause. Why? Ask.\n\nDid you have it? y yes",
		"\nDid you have it? y yes · n no · Enter or s ends the follow-ups\n> what?\nDid you have it?", "\nFollow-up 2 of 2: Who ends it?\n",
		"> N\n\nEnter next round", "> x\n\"x\" means nothing here.\n", "> a\n3 of 3 key points: known.\n", "> p\n\"p\" means nothing here.\n",
		"\nMore: t in two minutes · d drawing · r proof\n", "> s\n\nEnter next round",
		"On the work.\n\nDid you have it? y yes · n no · Enter or s ends the follow-ups\n> \n\nEnter next round",
		"Run this in a shell of your own, at the root of the repository:\n`go test -run TestFailures ./stage1_setnx_expire/...`\n",
		"    |--- lease ---|\n", "0 of 3 key points: missed.\n",
		"`go run . show oom --stage 99` ends with status 2.\n",
		`"h" is not an answer. Say it aloud`, "Round 4: The lease · often · senior (",
		"Round 3: prediction (20 minutes left)\n", "> \nAnswer with a number from 0 to ", "> 7\nAnswer with a number from 0 to ", "> x\nAnswer with",
		"> r\n\nProof: No run here: it takes an etcd.\n\nEnter next round",
		"All questions were asked.\n", "Summary\n", "5 rounds, in less than a minute.\n", "Follow-ups: 1 of 2 answered\n",
		"\n- Why a lease?\n  - not said: its `key` stays, so nobody comes in\n  docs/interview/must.md#lease-why\n  go run . show crash",
		"\nWhat you typed, and the model answer:\n", "\nYou: a typed answer\n\nModel: ",
		"theme        known  half  missed\nThe lease        0     2       1\n", "The same interview again:\n  go run . interview --seed 1\n",
	} {
		require.Contains(t, out, part)
	}
	require.Regexp(t, `Predictions: [01] of 1 right`, out)
	require.Equal(t, map[string]bool{"lease-why": false, "unlock-whose": true, "lease-how": false, "lease-etcd": false}, h.Fully())
	require.NotContains(t, out, "\x1b")
}

func TestSummaryNamesWhatToReadAgain(t *testing.T) {
	h := prepare(t, "\na\n\n\n1\n\n1\n2\n3\n4\n\n0\n\n\n0\n\n", time.Second)
	out := h.hold(t)
	_, summary, found := strings.Cut(out, "\nRead again:\n")
	require.True(t, found)
	require.NotContains(t, summary, "What you typed")
	for i, q := range Order(h.Themes, 1, "", 0) {
		entry := "  " + q.Place + "\n"
		if q.Command != "" {
			entry += "  " + q.Command + "\n"
		}
		require.Equal(t, i > 0, strings.Contains(summary, entry), "%s\n%s", entry, summary)
	}
	all := prepare(t, "\na\n\n", time.Second)
	all.Themes = all.Themes[1:2]
	require.Contains(t, all.hold(t), "Nothing to read again: you knew it all.\n")
}

func TestPredictionIsMarkedByTheRun(t *testing.T) {
	f := predictions(1)[1]
	p, err := lesson.Chapters[f.chapter].Parts[f.part].Play(t, os.DirFS("../.."))
	require.NoError(t, err)
	for i, right := range p.Right {
		out := prepare(t, fmt.Sprintf("\na\n\n\na\n\n%s\n", cmp.Or(p.Answers[i].Order, strconv.Itoa(i+1))), time.Second).hold(t)
		n := map[bool]int{true: 1}[right]
		require.Contains(t, out, fmt.Sprintf("Predictions: %d of 1 right", n))
		require.Equal(t, !right, strings.Contains(out, "  "+f.command()+"\n"))
	}
}

func TestNoQuestionOfTheLessonIsAskedTwice(t *testing.T) {
	require.Len(t, slices.Compact(slices.SortedFunc(slices.Values(predictions(2)), func(a, b foreseen) int {
		return cmp.Or(a.chapter-b.chapter, a.part-b.part)
	})), len(predictions(2)))
}

// The input may end anywhere, and q and Q end the interview at every prompt. The marks so far
// count.
func TestInterviewMayEndAnywhere(t *testing.T) {
	lines := strings.SplitAfter(wholeInterview, "\n")
	for n := range lines {
		typed := strings.Join(lines[:n], "")
		for _, end := range []string{[]string{"", "q\na\n", "Q\na\n"}[n%3]} {
			out := prepare(t, typed+end, time.Second).hold(t)
			require.Contains(t, out, "\nSummary\n", "after %d lines", n)
			require.Equal(t, n > 0, strings.Contains(out, "You: a typed answer"), "after %d lines", n)
			require.True(t, strings.HasSuffix(out, "The same interview again:\n  go run . interview --seed 1\n"))
		}
	}
	out := prepare(t, "", time.Second).hold(t)
	require.Contains(t, out, "Nothing was marked.\n")
	require.Contains(t, out, "(not marked)\n")
	require.Contains(t, prepare(t, "\na\n\n\na\n\n", time.Second).hold(t), "\n- Prediction: ", "unanswered")
	require.Contains(t, prepare(t, "\na\n\n ", time.Second).hold(t), "Round 2", "the last line needs no end")
}

func TestPastedLinesAreOneAnswerInATerminal(t *testing.T) {
	h := prepare(t, "one\ntwo\n", time.Second)
	h.Lines.Echo, h.Color = false, true
	out := h.hold(t)
	require.Contains(t, out, "You:\x1b[0m one two\n")
	require.NotContains(t, out, "> one", "a terminal shows itself what is typed")
	require.Contains(t, out, "\x1b[1mRound 1: ")
}

func TestNoRoundBeginsAfterTheTime(t *testing.T) {
	h := prepare(t, strings.Repeat("\na\n\n", 20), 3*time.Minute)
	out := h.hold(t)
	require.Contains(t, out, "That took about 3 minutes. An interviewer wants the first answer in 30 seconds.\n")
	require.Contains(t, out, "Round 2: ")
	require.NotContains(t, out, "Round 3: ")
	require.Contains(t, out, "The time is up.\n")
	require.Regexp(t, `2 rounds, in about \d+ minutes\.`, out)
}

func TestInterviewBeginsWithTheQuestionAskedForAndMayAskOnly(t *testing.T) {
	h := prepare(t, strings.Repeat("\na\n\n", 9), time.Second)
	h.First, h.AskOnly = "lease-etcd", true
	out := h.hold(t)
	require.Contains(t, out, "Round 1: The lease · deep · staff (")
	require.Contains(t, out, "4 rounds, ")
	require.NotContains(t, strings.ToLower(out), "prediction")
}

func TestInterruptGoesToTheSummary(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	typing, typed := io.Pipe()
	defer typed.Close()
	go func() { _, _ = io.WriteString(typed, "\na\n\n") }()
	ctx, interrupt := context.WithCancel(t.Context())
	h := prepare(t, "", time.Second)
	now := h.Now
	h.Lines, h.Now = keyboard.ReadLines(typing, &h.out), func() time.Time {
		if h.rounds == 2 {
			interrupt()
		}
		return now()
	}
	require.ErrorIs(t, h.Hold(ctx), context.Canceled)
	require.Regexp(t, `Round 2: (?s:.*)\nSummary\n(?s:.*)\(not marked\)\n`, h.out.String())
}

func TestChineseInterviewHasChineseWords(t *testing.T) {
	h := prepare(t, "\nd\nr\nx\na\nf\n\ny\n\n\na\n\n1\n2\n3\n4\n\na\n\n", time.Second)
	all, err := Parse(os.DirFS("testdata"), i18n.Chinese)
	require.NoError(t, err)
	all[0].Questions = slices.Repeat(all[0].Questions, 3)
	h.Language, h.Themes = i18n.Chinese, all
	out := h.hold(t)
	for _, part := range []string{
		"模拟面试：20 分钟，3 道题，1 个主题\n", "第 1 轮：租约 · 必考 · 初级（还剩 20 分钟）\n", "30 秒回答：持有者可能崩溃，键会留下。\n",
		"画图：A 崩溃：用 `go run . show crash-before-expire --stage 1` 画出\n", `这里不能输入 "x"。`, "追问 1/1：多长？\n", "够长。\n", "<list>\n", "所有问题都问过了。\n", "\n总结\n", "第 3 轮：预测（",
	} {
		require.Contains(t, out, part)
	}
	require.NotRegexp(t, "Round|minutes|Proof|Summary", out)
	for _, c := range stages.Public() {
		require.NotContains(t, out, c.Title)
	}
}

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}
