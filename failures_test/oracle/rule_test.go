package oracle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryMonitorSaysItsRule(t *testing.T) {
	require.Len(t, sentences, len(Monitors()), "a sentence of no monitor")
	for _, m := range Monitors() {
		require.True(t, strings.HasSuffix(m.Rule(), "."), "%s says %q", m, m.Rule())
	}
}
