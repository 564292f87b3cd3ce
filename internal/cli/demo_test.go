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

	"lockkata/internal/columns"
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

// The work takes no time: what takes time is played with the tag live.
func TestDemoLetsTheSecondBeginWhenTheFirstEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for n := range columns.Shown() {
		status, out, errors := command(t, "demo", "--stage", fmt.Sprint(n+1), "--hold", "0s", "--name", "work2")
		require.Equal(t, exitOK, status, errors)
		_, ended := requireStory(t, out, "work2")
		began, _ := requireStory(t, out, "work1") // named after the other machine
		require.False(t, began.Before(ended), out)
		require.Regexp(t, `\nwork1 began \d+ ms after work2 ended: a waiter on stage \d (asks every 100 ms|is woken by a message)\.\n$`, out)
	}
}

func TestDemoLinesUpWideNames(t *testing.T) {
	_, out, _ := command(t, "demo", "--hold", "0s", "--name", "工人")
	require.Contains(t, out, "  工人   asks for the lock")
	require.Contains(t, out, "  work2  asks for the lock")
}

func TestDemoKnowsWhichStagesRenewTheLease(t *testing.T) {
	for _, s := range columns.Shown() {
		long := demoPlan{stage: s, hold: 2 * time.Second, lease: time.Second}
		require.Equal(t, s.ID <= "4", long.outlives(), s.Dir)
		require.False(t, demoPlan{stage: s, hold: time.Second, lease: 2 * time.Second}.outlives(), s.Dir)
	}
}

// watched is an output; something happens when a worker says there that it has the lock.
type watched struct {
	bytes.Buffer
	happens func()
}

func (w *watched) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("got it")) || bytes.Contains(p, []byte("拿到锁")) {
		w.happens()
	}
	return w.Buffer.Write(p)
}

// demoUntil runs a worker on a server, which something happens to once it has the lock.
func demoUntil(t *testing.T, server *miniredis.Miniredis, happens func(), args ...string) (status int, out, errors string) {
	t.Helper()
	printed, said := watched{happens: happens}, bytes.Buffer{}
	status = Run(t, nil, nil, &printed, &said, append([]string{"demo", "--redis", server.Addr()}, args...)...)
	return status, printed.String(), said.String()
}

func TestDemoSaysThatItCannotUnlock(t *testing.T) {
	server := miniredis.RunT(t)
	status, out, errors := demoUntil(t, server, server.Close, "--stage", "4", "--hold", "0s")
	require.Equal(t, exitFailed, status)
	require.Contains(t, out, "cannot unlock: stage4: unlock lock:userId")
	require.Equal(t, "work1 cannot unlock: what is left of the lock ends with its lease of 30s\n", errors)

	server = miniredis.RunT(t)
	status, out, errors = demoUntil(t, server, server.Close, "--stage", "4", "--hold", "0s", "--lang", "zh")
	require.Equal(t, exitFailed, status)
	require.Empty(t, englishIn(out))
	require.Equal(t, "work1 解锁失败：残留的锁要等 30s 的租约到期才会消失\n", errors)
}
