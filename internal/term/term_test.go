package term

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNoLineBeginsWithChinesePunctuation(t *testing.T) {
	text := "租约到期，" + Color(true).Paint(Bold, "键就没了") + "。「锁」不在（已过期）！"
	for width := 6; width < 20; width++ {
		for _, line := range Wrap(text, width) {
			require.NotRegexp(t, "^[，。」）！]", line)
			require.NotRegexp(t, "[「（]$", line)
			require.LessOrEqual(t, Columns(line), width)
		}
	}
}

// A cell of a table keeps to its width.
func TestWordThatIsTooLongIsCutInACellOnly(t *testing.T) {
	require.Equal(t, []string{"a", "lock:order", "b"}, Wrap("a lock:order b", 4))
	require.Equal(t, []string{"show", "delete-foreign", "--before-after"}, Wrap("show delete-foreign --before-after", 16), "no break at a hyphen")
	require.Equal(t, []string{"a", "lock", ":ord", "er b"}, Fold("a lock:order b", 4))
	require.Equal(t, []string{"锁", "锁a", "锁"}, Fold("锁锁a锁", 3))
	require.Equal(t, []string{"→ A1", "b"}, Fold("→"+NoBreak+"A1 b", 4))
	require.Empty(t, Wrap(" ", 4))
}

func TestChineseCharactersTakeTwoColumns(t *testing.T) {
	require.Equal(t, 5, Columns(Color(true).Paint(Red, "a锁。")))
	require.Equal(t, "锁  ", Pad("锁", 4))
	require.Equal(t, "锁…", Clip("锁锁锁", 4))
	require.Equal(t, "锁锁", Clip("锁锁", 4))
	require.Equal(t, Color(true).Paint(Red, "锁…"), Clip(Color(true).Paint(Red, "锁锁锁"), 4))
}

func TestClockHasNoZeroUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1ms": time.Millisecond + 400*time.Microsecond, "1.25s": 1250 * time.Millisecond, "1m": time.Minute,
		"1m30.5s": 90*time.Second + 500*time.Millisecond, "1h": time.Hour, "2h0m3s": 2*time.Hour + 3*time.Second,
	} {
		require.Equal(t, want, Clock(d))
	}
}
