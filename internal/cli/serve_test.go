package cli

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
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
	require.True(t, bytes.Equal(raw, served), "docs/theatre.html is out of date: go generate ./internal/cli")
	end()
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		require.Fail(t, "serve does not end")
	}
}

func TestServeRefusesAnAddressInOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for _, one := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--addr", taken.Addr().String()}, exitFailed, taken.Addr().String() + " is in use: --addr takes another one"},
		{[]string{"--addr", "nonsense"}, exitBadUsage, `"nonsense" is no address to listen on`},
		{[]string{"--addr", "127.0.0.1:99999"}, exitBadUsage, `"127.0.0.1:99999" is no address to listen on`},
		{[]string{"--addr", ""}, exitBadUsage, `"" is no address to listen on`},
		{[]string{"--addr", "192.0.2.1:80"}, exitFailed, "cannot listen on 192.0.2.1:80"},
		{[]string{"8077"}, exitBadUsage, `serve takes no arguments, not "8077"`},
	} {
		status, out, errors := command(t, append([]string{"serve"}, one.args...)...)
		require.Equal(t, one.status, status, one.args)
		require.Empty(t, out)
		require.Contains(t, errors, one.says)
		require.Equal(t, 1, strings.Count(errors, "\n"), errors)
	}
}
