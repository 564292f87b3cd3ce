package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServeShowsTheTheatreUntilItIsEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	out, printed := io.Pipe()
	a := &app{t: t, sources: os.DirFS("../.."), out: printed, err: io.Discard}
	ended := make(chan error, 1)
	go func() { ended <- a.serve(ctx, "127.0.0.1:0") }()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/ shows the theatre; Ctrl-C ends it\n$`, line)

	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Fields(line)[0], nil)
	require.NoError(t, err)
	answer, err := client.Do(request)
	require.NoError(t, err)
	served, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	raw, err := os.ReadFile(theatrePage)
	require.NoError(t, err)
	require.True(t, string(raw) == string(served), "docs/theatre.html is out of date: go generate ./internal/cli")
	end()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		require.Fail(t, "serve does not end")
	}
}
