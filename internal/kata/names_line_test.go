package kata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireNamesLine wants a text to name a line of mutex.go that contains piece.
func requireNamesLine(t *testing.T, text, source, piece string) {
	t.Helper()
	var places []string
	n := 0
	for line := range strings.Lines(source) {
		if n++; strings.Contains(line, piece) {
			places = append(places, fmt.Sprintf("mutex.go:%d", n))
		}
	}
	require.NotEmpty(t, places, piece)
	for _, place := range places {
		if strings.Contains(text, place) {
			return
		}
	}
	require.Fail(t, "the line is not named", "%q is at %v, and the text is: %s", piece, places, text)
}
