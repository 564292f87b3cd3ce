package oracle

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryRuleHasASentence(t *testing.T) {
	for _, m := range Rules() {
		require.True(t, strings.HasSuffix(string(m.Sentence()), "."), "%s says %q", m, m.Sentence())
	}
}
