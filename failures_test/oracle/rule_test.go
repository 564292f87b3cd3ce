package oracle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryMonitorSaysItsRule(t *testing.T) {
	for _, m := range Monitors() {
		require.True(t, strings.HasSuffix(m.Rule(), "."), "%s says %q", m, m.Rule())
	}
}
