package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShowSaysSinceWhenItWasTooLate(t *testing.T) {
	status, out, errors := command(t, "show", "check-then-delete", "--stage", "3")
	require.Equal(t, exitOK, status, errors)
	require.Regexp(t, `SET K B1 .*\n.*→ OK\n +⚑ too late: whatever comes, the rule will be broken\n`, out)
	require.Contains(t, out, "\nToo late from 31s on: Redis executes SET K B1 NX PX 30000 for B, and answers OK. Each continuation\n"+
		"from there breaks the rule, even if nothing goes wrong any more: 22 schedules, up to cost 2.\n")
	way := replayLine.FindStringSubmatch(out)
	status, out, errors = command(t, "replay", way[1])
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "SAFE in this run")
	require.NotContains(t, out, "oo late")

	_, out, _ = command(t, "show", "check-then-delete", "--stage", "3", "--lang", "zh")
	require.Contains(t, out, "⚑ 来不及了：怎么走都会违反规则")
	require.Contains(t, out, "从 31s 起已经来不及：")

	_, out, _ = command(t, "show", "crash-before-expire", "--stage", "1")
	require.NotContains(t, out, "⚑")
	require.Contains(t, out, "\nUntil that very step the rule could be kept.\n")

	_, out, _ = command(t, "show", "check-then-delete", "--stage", "4")
	require.NotContains(t, out, "oo late")
	require.NotContains(t, out, "could be kept")
}

func TestReplaySaysSinceWhenItWasTooLate(t *testing.T) {
	_, out, _ := command(t, "replay", wrongDelete3)
	require.Contains(t, out, "\nToo late from 30s on: Redis executes SET K A1 NX PX 30000 for A, and answers OK.")
	require.Contains(t, out, "⚑ too late")
}
