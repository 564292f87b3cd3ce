package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/columns"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

func TestShowSaysSinceWhenItWasTooLate(t *testing.T) {
	status, out, errors := command(t, "show", "check-then-delete", "--stage", "3")
	require.Equal(t, exitOK, status, errors)
	require.Regexp(t, `SET K B1 .*\n.*→ OK\n +⚑ too late: even if nothing goes wrong any more, the rule "wrong delete" will be broken\n`, out)
	require.Contains(t, out, "\nToo late from 31s on: Redis executes SET K B1 NX PX 30000 for B, and answers OK. Each continuation\n"+
		"from there breaks the rule, even if nothing goes wrong any more: 22 schedules, up to cost 2.\n")
	way := replayLine.FindStringSubmatch(out)
	status, out, errors = command(t, "replay", way[1])
	require.Equal(t, exitOK, status, errors)
	require.Contains(t, out, "SAFE in this run")
	require.NotContains(t, out, "oo late")

	_, out, _ = command(t, "show", "check-then-delete", "--stage", "3", "--lang", "zh")
	require.Contains(t, out, "⚑ 来不及了：就算之后一切顺利，“误删”这条规则也会被违反")
	require.Contains(t, out, "从 31s 起已经来不及：")

	_, out, _ = command(t, "show", "crash-before-expire", "--stage", "1")
	require.NotContains(t, out, "⚑")
	require.Contains(t, out, "\nThe rule could be kept until the very step that breaks it.\n")

	_, out, _ = command(t, "show", "check-then-delete", "--stage", "4")
	require.NotContains(t, out, "oo late")
	require.NotContains(t, out, "could be kept")
}

// But for the schedule, which is as long as it is.
func TestWhatIsSaidOfItFits80Columns(t *testing.T) {
	for _, lang := range []texts.Language{texts.English, texts.Chinese} {
		var out bytes.Buffer
		a := &app{t: t, out: &out, width: 80, lang: lang}
		f, err := findFailure("check-then-delete")
		require.NoError(t, err)
		shown := columns.Shown()
		require.NoError(t, a.show(f, shown[2:3], shown, format{}))
		require.Contains(t, out.String(), "⚑")
		for line := range strings.Lines(out.String()) {
			if !replayLine.MatchString(line) {
				require.LessOrEqual(t, term.Columns(strings.TrimSuffix(line, "\n")), 80, line)
			}
		}
	}
}

func TestReplaySaysSinceWhenItWasTooLate(t *testing.T) {
	_, out, _ := command(t, "replay", wrongDelete3)
	require.Contains(t, out, "\nToo late from 30s on: Redis executes SET K A1 NX PX 30000 for A, and answers OK.")
	require.Contains(t, out, "⚑ too late")
}
