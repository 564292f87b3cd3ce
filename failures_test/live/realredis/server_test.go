package realredis

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestIsMessage(t *testing.T) {
	require.True(t, isMessage("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"))
	require.True(t, isMessage(">2\r\n$10\r\ninvalidate\r\n_\r\n"))
	require.False(t, isMessage("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"))
	require.False(t, isMessage(">3\r\n$11\r\nunsubscribe\r\n_\r\n:0\r\n"), "an answer too, with RESP3")
}
