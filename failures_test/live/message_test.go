package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// With RESP3 the answer to UNSUBSCRIBE is a push, like a message.
func TestAcknowledgementIsAnAnswerAndNoMessage(t *testing.T) {
	for raw, want := range map[string]bool{
		">3\r\n$11\r\nunsubscribe\r\n_\r\n:0\r\n":                     false,
		">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n":               false,
		">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$9\r\nsubscribe\r\n":    true,
		">2\r\n$10\r\ninvalidate\r\n*1\r\n$15\r\nlock:order:1001\r\n": true,
		"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n":        true,
		"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n":               false,
		"$2\r\nOK\r\n": false,
	} {
		require.Equal(t, want, isMessage(raw), raw)
	}
}
