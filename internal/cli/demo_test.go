package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/stages"
)

// linesOf is what a worker said, and when.
func linesOf(t *testing.T, out, name string) (said []string, at []time.Time) {
	t.Helper()
	for _, line := range regexp.MustCompile(`(?m)^(\d\S+ \S+)  `+name+` +(.*)$`).FindAllStringSubmatch(out, -1) {
		when, err := time.Parse(timestamp, line[1])
		require.NoError(t, err)
		said, at = append(said, line[2]), append(at, when)
	}
	return said, at
}

// requireStory asks that the worker took the lock, worked and unlocked, and returns
// when its work began and ended.
func requireStory(t *testing.T, out, name string) (began, ended time.Time) {
	t.Helper()
	said, at := linesOf(t, out, name)
	require.Len(t, said, 4, out)
	for i, says := range []string{"asks for the lock", "got it after", "ends after", "unlocked"} {
		require.Contains(t, said[i], says)
	}
	return at[1], at[2]
}

func TestDemoLetsTheSecondBeginWhenTheFirstEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for n := range stages.Public() {
		status, out, errors := command(t, "demo", "--stage", fmt.Sprint(n+1), "--hold", "0s", "--name", "work2")
		require.Equal(t, exitOK, status, errors)
		_, ended := requireStory(t, out, "work2")
		began, _ := requireStory(t, out, "work1") // named after the other machine
		require.False(t, began.Before(ended), out)
		require.Regexp(t, `\nwork1 began \d+ ms after work2 ended: a waiter on stage \d (asks every 100 ms|is woken by a message)\.\n$`, out)
	}
}

// watched is an output that calls happens when a worker prints that it has the lock.
type watched struct {
	bytes.Buffer
	happens func()
}

func (w *watched) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("got it")) {
		w.happens()
	}
	return w.Buffer.Write(p)
}

func TestDemoSaysThatItCannotUnlock(t *testing.T) {
	server := miniredis.RunT(t)
	out, errors := watched{happens: server.Close}, bytes.Buffer{}
	status := Run(t, nil, nil, &out, &errors, "demo", "--redis", server.Addr(), "--stage", "4", "--hold", "0s")
	require.Equal(t, exitFailed, status, errors.String())
	require.NotContains(t, out.String(), "unlocked")
	require.Contains(t, errors.String(), "work1: stage4: unlock lock:userId: ")
}
