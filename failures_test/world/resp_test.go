package world

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplyIsReadWholeAndNoFurther(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", "-ERR no\r\n", ":42\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n", "*-1\r\n", "*0\r\n",
		"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n", "*2\r\n*1\r\n:1\r\n$-1\r\n",
	} {
		raw, err := readReply(bufio.NewReader(bytes.NewReader([]byte(reply + "+next\r\n"))))
		require.NoError(t, err)
		require.Equal(t, reply, string(raw))
	}
	_, err := readReply(bufio.NewReader(bytes.NewReader([]byte("$4\r\nab"))))
	require.Error(t, err, "the connection breaks in the middle")
}

func TestCommandIsWrittenAsItIsParsed(t *testing.T) {
	args := []string{"SET", "k", "", "two\r\nlines"}
	parsed, rest, err := parseCommand(appendCommand(nil, args))
	require.NoError(t, err)
	require.Equal(t, args, parsed)
	require.Empty(t, rest)
}

func TestMessageIsToldFromAnAnswer(t *testing.T) {
	require.True(t, isMessage([]byte("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n")))
	require.False(t, isMessage([]byte("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n")))
}
