package cli

import (
	"bytes"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lockkata/internal/stages"
)

// told is a line of a worker.
type told struct {
	at         time.Time
	name, text string
}

// lines are those of one worker.
func lines(t *testing.T, out, name string) []told {
	t.Helper()
	var found []told
	for line := range strings.Lines(out) {
		if len(line) < len(timestamp) {
			continue
		}
		at, err := time.Parse(timestamp, line[:len(timestamp)])
		if err != nil {
			continue
		}
		who, text, _ := strings.Cut(strings.TrimSpace(line[len(timestamp):]), "  ")
		if who == name {
			found = append(found, told{at, who, text})
		}
	}
	return found
}

// requireStory asks that the worker took the lock, worked and unlocked, and returns
// when its work began and ended.
func requireStory(t *testing.T, out, name string) (began, ended time.Time) {
	t.Helper()
	story := lines(t, out, name)
	require.Len(t, story, 4, out)
	for i, says := range []string{"asks for the lock", "got it after", "ends after", "unlocked"} {
		require.Contains(t, story[i].text, says)
	}
	return story[1].at, story[2].at
}

func TestDemoOnEveryStageLetsTheSecondBeginWhenTheFirstEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, s := range stages.All {
		t.Run(s.Dir, func(t *testing.T) {
			status, out, errors := command(t, "demo", "--stage", strconv.Itoa(s.Number), "--hold", "150ms")
			require.Equal(t, exitOK, status, errors)
			_, ended := requireStory(t, out, "work1")
			began, _ := requireStory(t, out, "work2")
			require.False(t, began.Before(ended), out)
			require.Regexp(t, `\nwork2 began \d+ ms after work1 ended: who waits on stage \d (asks every 100 ms|is woken by a message)\.\n$`, out)
		})
	}
}

func TestDemoNamesTheSecondWorkerAfterTheOtherMachine(t *testing.T) {
	status, out, _ := command(t, "demo", "--name", "work2", "--hold", "0s")
	require.Equal(t, exitOK, status)
	require.Contains(t, out, "work1 began")
	_, out, _ = command(t, "demo", "--name", "a longer name", "--hold", "0s")
	requireStory(t, out, "a longer name")
	requireStory(t, out, "work2")
}

func TestDemoShowsWorkThatOutlivesItsLease(t *testing.T) {
	for _, c := range []struct{ stage, unlock string }{
		{"2", "unlocked"}, // and it is the other one's lock that is gone
		{"4", "cannot unlock: stage4: lock is not held"},
	} {
		status, out, errors := command(t, "demo", "--stage", c.stage, "--hold", "1s", "--lease", "100ms")
		require.Equal(t, exitOK, status, errors)
		require.Contains(t, out, "The work (1s) outlives the lease (100ms), and stage "+c.stage+" renews nothing")
		require.Regexp(t, `work2 began \d+ ms before work1 ended: both were at work\.`, out)
		first := lines(t, out, "work1")
		require.Equal(t, c.unlock, first[len(first)-1].text)
	}
}

func TestDemoKnowsWhichStagesRenewTheLease(t *testing.T) {
	for _, s := range stages.All {
		long := demoPlan{stage: s, hold: 2 * time.Second, lease: time.Second}
		require.Equal(t, s.Number <= 4, long.outlives(), s.Dir)
		require.False(t, demoPlan{stage: s, hold: time.Second, lease: 2 * time.Second}.outlives(), s.Dir)
	}
}

func TestDemoGivesUpWhenTheWaitIsOver(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, stage := range []string{"3", "6"} {
		status, out, errors := command(t, "demo", "--stage", stage, "--hold", "1s", "--wait", "100ms")
		require.Equal(t, exitFailed, status)
		second := lines(t, out, "work2")
		require.Equal(t, "gives up: has waited 100ms", second[len(second)-1].text)
		requireStory(t, out, "work1")
		require.Equal(t, "work2 waited 100ms, and somebody else has the lock: use a longer --wait, or a shorter --hold\n", errors)
	}
}

// whenever calls f with each piece that a command prints.
type whenever func(text string)

func (f whenever) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

func TestDemoStopsWhenTheLockTellsOfItsLoss(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := miniredis.RunT(t)
	var out, errors bytes.Buffer
	lose := whenever(func(text string) {
		out.WriteString(text)
		if strings.Contains(text, "got it") {
			server.FlushAll()
		}
	})
	a := &app{t: t, out: lose, err: &errors}
	status := a.run([]string{"demo", "--stage", "6", "--lease", "150ms", "--hold", "1m", "--redis", server.Addr()})
	require.Equal(t, exitFailed, status)
	require.Contains(t, out.String(), "has lost the lock")
	require.Equal(t, "work1 lost the lock while it worked: look whether Redis still runs\n", errors.String())
	server.Close()
}

func TestDemoSaysThatItCannotUnlock(t *testing.T) {
	server := miniredis.RunT(t)
	var out, errors bytes.Buffer
	stop := whenever(func(text string) {
		out.WriteString(text)
		if strings.Contains(text, "got it") {
			server.Close()
		}
	})
	a := &app{t: t, out: stop, err: &errors}
	require.Equal(t, exitFailed, a.run([]string{"demo", "--stage", "4", "--hold", "0s", "--redis", server.Addr()}))
	require.Contains(t, out.String(), "cannot unlock: stage4: unlock lock:userId")
	require.Equal(t, "work1 cannot unlock: what is left of the lock ends with its lease of 30s\n", errors.String())
}

func TestDemoRefusesBadInputInOneLine(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := free.Addr().String()
	require.NoError(t, free.Close())
	locked := miniredis.RunT(t)
	locked.RequireAuth("secret")
	_, port, _ := net.SplitHostPort(nobody)
	for says, args := range map[string][]string{
		"lockkata: no Redis answers at " + nobody + ": start one with redis-server --port " + port + ", or leave --redis out\n": {"--redis", nobody},
		"the Redis at " + locked.Addr() + " refuses to work (NOAUTH":                                                            {"--redis", locked.Addr()},
		`--redis "" is no address: give host:port, such as 127.0.0.1:6379`:                                                      {"--redis", ""},
		`--redis "localhost" is no address: give host:port`:                                                                     {"--redis", "localhost"},
		`--redis "localhost:x" is no address: give host:port`:                                                                   {"--redis", "localhost:x"},
		`--redis "localhost:0" is no address: give host:port`:                                                                   {"--redis", "localhost:0"},
		`--redis "localhost:70000" is no address: give host:port`:                                                               {"--redis", "localhost:70000"},
		`there is no stage 9; there are 1 to 6`:                                                                                 {"--stage", "9"},
		`there is no stage 0; there are 1 to 6`:                                                                                 {"--stage", "0"},
		`--hold -5s is negative: give the time that the work takes`:                                                             {"--hold", "-5s"},
		`--wait 0s is no time: give how long to wait for the lock`:                                                              {"--wait", "0s"},
		`--wait -1s is no time: give how long to wait for the lock`:                                                             {"--wait", "-1s"},
		`--name is empty: name the worker, such as work1`:                                                                       {"--name", " "},
		`--name "a\nb" does not fit a line: use letters, such as work1`:                                                         {"--name", "a\nb"},
		`--lease 0s: stage1: ttl 0s is too short`:                                                                               {"--lease", "0s", "--stage", "1"},
		`--lease 10ms: stage5: ttl 10ms is too short to be renewed`:                                                             {"--lease", "10ms", "--stage", "5"},
		`--lease 10ms: stage6: watchdog timeout 10ms is too short`:                                                              {"--lease", "10ms", "--stage", "6"},
		`invalid argument "5" for "--hold" flag: time: missing unit`:                                                            {"--hold", "5"},
		`demo takes no arguments, not "work1"`:                                                                                  {"work1"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			status, out, errors := command(t, append([]string{"demo"}, args...)...)
			require.Equal(t, exitBadUsage, status)
			require.Contains(t, errors, says)
			require.Equal(t, 1, strings.Count(errors, "\n"), errors)
			require.Empty(t, out)
		})
	}
}

func TestDemoIsInTheHelp(t *testing.T) {
	_, out, _ := command(t, "--help")
	require.Regexp(t, `(?m)^  demo +Two workers and one lock, in real time$`, out)
}
