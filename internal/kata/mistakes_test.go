package kata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first line of an answer says which rule or promise this lock breaks, and where. The right locks
// among them pass.
func TestMistakeIsExplainedByWhatItBreaks(t *testing.T) {
	if everything {
		t.Skip("the learner who climbs makes all mistakes")
	}
	for _, m := range mistakes() {
		if !inSample(m.exercise, m.name) {
			continue
		}
		t.Run(m.exercise+": "+m.name, func(t *testing.T) {
			if !m.compiles() {
				_, err := Build(t.Context(), repositoryRoot(t), m.files())
				require.ErrorContains(t, err, m.says)
				return
			}
			r := checked(t, exercise(t, m.exercise), m.files())
			first := strings.Split(r.Screen(View{Width: 200}), "\n")[2]
			t.Log(first)
			require.Equal(t, m.says == "", r.Passed, first)
			require.True(t, strings.HasPrefix(first, m.says), first)
		})
	}
}
