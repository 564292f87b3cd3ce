//go:build live

package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run of an edited lock is drawn with the edited line and its command, and is judged by the rules.
func TestEditedLockIsShown(t *testing.T) {
	for line, says := range map[string][]string{
		"check-then-delete --stage 4 --edit unlock-by-delex": {
			"\n+ m.rdb.Do(ctx, \"DELEX\", m.key, \"IFEQ\", m.value)\n", "On stage 4, unlock by DELEX:", "DELEX K IFEQ A1 → 0", "SAFE from wrong delete",
		},
		"work-outlives-ttl --stage 5 --edit renewal-adds-to-the-lease --lang zh": {
			"续期是在租约上累加", "✗ 租约错误：", "1m10s",
		},
	} {
		status, out, errors := command(t, append([]string{"show"}, strings.Fields(line)...)...)
		require.Equal(t, exitOK, status, errors)
		for _, text := range says {
			require.Contains(t, out, text)
		}
	}
}
