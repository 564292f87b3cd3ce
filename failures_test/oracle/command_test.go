package oracle_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
)

// at gives the last event a line of the lock.
func (s *story) at(line int) *story {
	s.trace.Events[len(s.trace.Events)-1].Source = &trace.Source{File: "lock/mutex.go", Line: line}
	return s
}

// line returns the line of the first finding by a rule; 0 if it names none.
func (s *story) line(t *testing.T, rule oracle.Rule) int {
	t.Helper()
	found := oracle.Ask(&s.trace, rule)
	require.NotEmpty(t, found)
	if source := found[0].CommandIn(&s.trace).Source; source != nil {
		return source.Line
	}
	return 0
}

func TestFindingNamesTheCommandThatItIsAbout(t *testing.T) {
	foreign := func(s *story) trace.Effect { return trace.Effect{Kind: trace.Removed, Key: "k", Owner: s.installed()} }
	given := func(s *story) trace.Effect { return trace.Effect{Kind: trace.Leased, Key: "k", Owner: s.installed()} }
	wrong := newStory().holds("A", "A1").call("B", trace.OpUnlock)
	require.Equal(t, 7, wrong.does("B", foreign(wrong)).at(7).line(t, oracle.WrongDelete), "the command that broke the rule")

	failed := func() *story { return newStory().call("A", trace.OpLock).installs("A", "A1").at(3) }
	require.Equal(t, 3, failed().returns("A", unknown).pass(time.Minute).happens(trace.Slept, "").line(t, oracle.Leak), "the one that set the key")
	longer := failed()
	longer.does("A", given(longer)).at(4)
	require.Equal(t, 4, longer.returns("A", unknown).pass(time.Minute).happens(trace.Slept, "").line(t, oracle.Leak), "the one that gave it its lease")
	unlocked := failed().returns("A", held).call("A", trace.OpUnlock).does("A").at(9)
	require.Equal(t, 9, unlocked.returns("A", done).pass(time.Minute).happens(trace.Slept, "").line(t, oracle.Leak), "the one that has not removed it")

	require.Equal(t, 5, newStory().holds("A", "A1").call("B", trace.OpLock).does("B").at(5).returns("B", held).line(t, oracle.Truth), "the one whose answer the result belies")
	require.Equal(t, 5, newStory().holds("A", "A1").call("B", trace.OpLock).does("B").at(5).returns("B", held).line(t, oracle.Exclusion))
	late := newStory().holds("A", "A1")
	require.Zero(t, late.lapse(late.installed()).call("B", trace.OpLock).installs("B", "B1").at(5).returns("B", held).line(t, oracle.Exclusion), "a lease that ends is the fault of no command")

	asleep := newStory().holds("A", "A1").call("B", trace.OpLock).sends(trace.Sent, "B", "SUBSCRIBE").at(6).sends(trace.Delivered, "B", "SUBSCRIBE")
	asleep.frees("A", "A1").pass(time.Minute).sends(trace.Sent, "B", "SET").at(8)
	require.Equal(t, 6, asleep.line(t, oracle.LostWakeUp), "what the waiter sent before it slept, not what it sent when it woke up")
}

func TestFindingAboutAnotherClientNamesNoLine(t *testing.T) {
	s := newStory().holds("A", "A1").call("B", trace.OpTryLock).pass(time.Minute)
	s.call("C", trace.OpLock).does("C").at(8)
	require.Zero(t, s.line(t, oracle.Waiting))
}
