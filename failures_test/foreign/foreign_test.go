package foreign

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

// verdict returns a run that ended safe, or broke a rule.
func verdict(rule oracle.Rule) failures.Verdict {
	v := failures.Verdict{Outcome: failures.Safe, Failure: catalogue.Failure{Breaks: []oracle.Rule{rule}}}
	if rule != "" {
		v.Outcome, v.Findings = failures.Broken, []oracle.Finding{{Rule: rule}}
	}
	return v
}

func TestBrokenIsWhatTwoRunsBreakByOneRule(t *testing.T) {
	for runs, want := range map[string]failures.Outcome{
		"":                         failures.Safe,
		"leak leak":                failures.Broken,
		"leak  leak":               failures.Broken,
		"leak  ":                   failures.Safe,
		"leak deadlock leak":       failures.Broken,
		"leak deadlock deadlock":   failures.Broken,
		"leak deadlock ":           0, // they differ
		"leak deadlock wrong-wait": 0,
		"leak":                     0, // a second run is to come
		"leak deadlock":            0,
		"leak ":                    0,
	} {
		var all []failures.Verdict
		for _, rule := range strings.Split(runs, " ") {
			all = append(all, verdict(oracle.Rule(rule)))
		}
		v, decided := agreed(all)
		require.Equal(t, want != 0, decided, runs)
		require.True(t, !decided || v.Outcome == want, runs)
	}
}

// events returns a trace of these events of one process.
func events(all ...trace.Event) *trace.Trace {
	for i := range all {
		all[i].Process = "A"
	}
	return &trace.Trace{Events: all}
}

func TestCommandThatTheClientGaveUpDecidesNothing(t *testing.T) {
	frozen, thawed := trace.Event{Kind: trace.Frozen, Request: 7}, trace.Event{Kind: trace.Thawed}
	require.True(t, isGivenUp(events(frozen, thawed)))
	require.False(t, isGivenUp(events(frozen)), "the process stays paused")
	require.False(t, isGivenUp(events(frozen, thawed, trace.Event{Kind: trace.Delivered, Request: 7})))
	require.True(t, isGivenUp(events(frozen, thawed, trace.Event{Kind: trace.Delivered, Request: 8})))
}

func returned(op string, r trace.Result) trace.Event {
	return trace.Event{Kind: trace.Returned, Op: op, Result: &r}
}

func TestLockThatFailsInNormalUseIsNotJudged(t *testing.T) {
	sent := trace.Event{Kind: trace.Sent}
	held := returned(trace.OpLock, trace.Result{Held: true})
	refused := returned(trace.OpTryLock, trace.Result{})
	require.NoError(t, uselessIn(events(sent, held, refused)))
	require.NoError(t, uselessIn(events(returned(trace.OpLock, trace.Result{Err: notCarried{noCancel.Args()}}), sent, returned(trace.OpTryLock, trace.Result{Held: true}))), "it has no Lock")
	require.EqualError(t, uselessIn(events(sent, returned(trace.OpLock, trace.Result{Err: unclear("NullPointerException")}), held)), "NullPointerException")
	require.ErrorContains(t, uselessIn(events(sent, refused, held)), "the first caller does not get it")
	require.ErrorContains(t, uselessIn(events(trace.Event{Kind: trace.Sent, Background: true}, held)), "does it connect to another?")
	require.ErrorContains(t, uselessIn(events(held, returned(trace.OpUnlock, trace.Result{Err: errEnded{hasEnded.Args()}}))), "the worker has ended")
}

// A client that gives up its command at a timeout cannot end the call before.
func TestCallWithoutNetworkMayEndWithTheTimeoutOfTheClient(t *testing.T) {
	cut := trace.Event{Kind: trace.Cut}
	givesUp, answers := returned(trace.OpLock, trace.Result{Err: unclear("timed out")}), returned(trace.OpLock, trace.Result{Err: context.DeadlineExceeded})
	for _, c := range []struct {
		rule oracle.Rule
		tr   *trace.Trace
		want bool
	}{
		{oracle.Context, events(cut, givesUp, givesUp), true},
		{oracle.Context, events(cut, givesUp, answers), false},
		{oracle.Context, events(givesUp), false},
		{oracle.Leak, events(cut, givesUp), false},
	} {
		v := verdict(c.rule)
		v.Trace = c.tr
		require.Equal(t, c.want, waitsForTimeout(v), c)
	}
}

func TestExcerptHasTheFirstLineAndTheLastOnes(t *testing.T) {
	for text, want := range map[string]string{
		"sorry\n":          "sorry",
		"1\n2\r\n3\n\n4\n": "1 / 2 / 3 / 4",
		"1\n2\n3\n4\n5\n":  "1 / … / 3 / 4 / 5",
		"error\n" + strings.Repeat("x\n", 3*mostOutput) + "1\n2\n3": "error / … / 1 / 2 / 3",
	} {
		var e excerpt
		for _, part := range strings.SplitAfter(text, "\n") {
			_, err := e.Write([]byte(part))
			require.NoError(t, err)
		}
		require.Equal(t, want, e.String())
	}
}

func TestWhoseCommandItWasIsInDoubtIfTwoCallsAreUnderWay(t *testing.T) {
	called, sent := trace.Event{Kind: trace.Called, Op: trace.OpLock}, trace.Event{Kind: trace.Sent, Request: 7}
	changes := trace.Event{Kind: trace.Executed, Request: 7, Effects: trace.Effects{{Kind: trace.Installed}}}
	require.True(t, isShared(events(called, called, sent, changes)))
	require.False(t, isShared(events(called, sent, changes)))
	require.False(t, isShared(events(called, called, sent, trace.Event{Kind: trace.Executed, Request: 7})), "it changes nothing")
	require.False(t, isShared(events(called, called, trace.Event{Kind: trace.Returned}, sent, changes)))
	sent.Background = true
	require.False(t, isShared(events(called, called, sent, changes)))
}

// In normal use it learns which kinds of commands are only sent between calls.
func TestRenewalIsOfNoCall(t *testing.T) {
	b := &Bench{kinds: map[string]bool{}}
	renew := []string{"EVAL", "return 1", "0"}
	require.True(t, b.isOfCall(kindOf([]string{"set", "k", "v"}), true))
	require.True(t, b.isOfCall(kindOf(renew), false))
	b.learned = true
	require.True(t, b.isOfCall(kindOf([]string{"SET", "k", "w"}), true))
	require.True(t, b.isOfCall(kindOf([]string{"DEL", "k"}), true), "it was not seen")
	require.False(t, b.isOfCall(kindOf(renew), true))
	require.False(t, b.isOfCall(kindOf([]string{"evalsha", "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", "0"}), true), "the same script")
}

func TestLinesThatAreNoAnswersAreOutput(t *testing.T) {
	w := &worker{ready: make(chan struct{}), output: &beginning{}, asked: map[string]chan answer{}, lost: map[string]func(string){}}
	var lost []string
	w.lost["p1"] = func(caller string) { lost = append(lost, caller) }
	w.asked["1"], w.asked["2"] = make(chan answer, 1), make(chan answer, 1)
	first := w.asked["1"]
	for _, part := range []string{"\nrea", "dy 1 shared watchdog\r\nhello\n1 perhaps\n3 yes\n1 refused not ", "held\n1 yes\nlost p1/A\nlost p2/A\n", strings.Repeat("x", 2*longest)} {
		_, err := w.Write([]byte(part))
		require.NoError(t, err)
	}
	require.NoError(t, w.understand(true))
	require.Equal(t, []string{"watchdog"}, w.says)
	require.Equal(t, answer{refused, "not held"}, <-first)
	require.Equal(t, []string{"A"}, lost)
	require.Len(t, w.asked, 1)
	require.True(t, strings.HasPrefix(w.output.String(), "hello\n1 perhaps\n3 yes\n1 yes\nlost p2/A\nxxx"), w.output)
	require.Len(t, w.output.String(), mostOutput)
}
