package oracle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryMonitorHasARuleSentence(t *testing.T) {
	for _, m := range Rules() {
		require.True(t, strings.HasSuffix(string(m.Rule()), "."), "%s says %q", m, m.Rule())
	}
}
