package world

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/stretchr/testify/require"
)

// Faults for writes strike at EXEC if the transaction contains a write.
func TestWriteInATransactionIsItsExec(t *testing.T) {
	redis, err := newEmbedded()
	require.NoError(t, err)
	defer redis.Close()
	for sent, writes := range map[string]string{
		"GET SET":                           "SET",
		"MULTI SET EXEC SET":                "EXEC SET",
		"MULTI SET GET EXEC GET":            "EXEC",
		"MULTI GET EXEC":                    "",
		"MULTI SET DISCARD GET":             "",
		"MULTI SET DISCARD MULTI GET EXEC":  "",
		"MULTI SET EXEC MULTI GET EXEC SET": "EXEC SET",
		"WATCH GET MULTI PEXPIRE DEL EXEC":  "EXEC",
	} {
		on, found := &wire{node: &Node{server: redis}}, []string{}
		for name := range strings.FieldsSeq(sent) {
			if on.changes(name) {
				found = append(found, name)
			}
		}
		require.Equal(t, writes, strings.Join(found, " "), sent)
	}
}

func TestParseCommand(t *testing.T) {
	args := []string{"SET", "k", "", "two\r\nlines"}
	whole := []byte(proto.Strings(args...))
	for size := range whole {
		parsed, rest, err := parseCommand(whole[:size])
		require.NoError(t, err)
		require.Nil(t, parsed)
		require.Equal(t, whole[:size], rest)
	}
	parsed, rest, err := parseCommand(append(whole, '*'))
	require.NoError(t, err)
	require.Equal(t, args, parsed)
	require.Equal(t, "*", string(rest))
}

func TestParseCommandRejectsInvalidBytes(t *testing.T) {
	for _, bytes := range []string{"GET k\r\n", "*x\r\n", "*1\r\n+GET\r\n"} {
		_, _, err := parseCommand([]byte(bytes))
		require.Error(t, err, "%q", bytes)
	}
}

func TestScriptName(t *testing.T) {
	for source, name := range map[string]string{
		"-- unlock\nreturn 1": "unlock",
		`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end`:          "GET+DEL",
		`redis.call("get", KEYS[1]) redis.call("get", KEYS[2])`:                                        "GET",
		`if redis.call( 'get', KEYS[1]) == ARGV[1] then return redis.pcall('pexpire', KEYS[1], 5) end`: "GET+PEXPIRE",
		"return 1": "script",
		"--[[ free\n  KEYS[1]: the lock\n]]\nreturn 1":            "free",
		"\n--[[\n\t解锁\n]]\nreturn 1":                              "解锁",
		"--[[free]] return 1":                                     "free",
		"--[[\n]] return redis.call('DEL', KEYS[1])":              "DEL",
		"--\nreturn redis.call('DEL', KEYS[1])":                   "DEL",
		"-- KEYS[1]: the lock\nreturn redis.call('DEL', KEYS[1])": "DEL",
		"----- free -----\nreturn redis.call('DEL', KEYS[1])":     "free -----",
	} {
		require.Equal(t, name, scriptName(source))
	}
}

func TestShortFunctionDropsClosuresAndLoops(t *testing.T) {
	for full, short := range map[string]string{
		"lockkata/stage1_setnx_expire.(*Mutex).TryLock": "TryLock", "mine.(*Mutex).start.func1": "start",
		"mine.(*Mutex).start-range1": "start", "example.com/mine.New": "New",
	} {
		require.Equal(t, short, shortFunction(full))
	}
}

func TestProtocol3RepliesAreOneLine(t *testing.T) {
	for reply, shown := range map[string]string{
		"$19\r\n# Server\r\nredis:7\r\n\r\n": "# Server …", "_\r\n": "(nil)", "#t\r\n": "t", "%1\r\n+proto\r\n:3\r\n": "[proto 3]",
		">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n": "[invalidate [k]]",
	} {
		text, rest := replyText([]byte(reply))
		require.Equal(t, shown, text)
		require.Empty(t, rest)
	}
}

func TestLooksRandom(t *testing.T) {
	n := newNames("order:1001")
	for _, value := range []string{"9f8b2c7d-1a2b", "qJvXwBsRtKcLmNpD", "qJvXwBs/RtKcL+mNpDzz==", "\xf9M\xe2"} {
		require.True(t, n.looksRandom(value), "%q", value)
	}
	for _, value := range []string{"locked", "lock:order:1001", "1795284040133", "redisson_unlock_latch", "SomeOption"} {
		require.False(t, n.looksRandom(value), "%q", value)
	}
}

func TestCommandShowsKeysOfOtherLocksAndEmptyArguments(t *testing.T) {
	n := newNames("order:1001")
	const one, two = "lock:{another:1b4e28ba-2fa1-11d2-883f-0016d3cca427}", "lock:{another:6ba7b810-9dad-11d1-80b4-00c04fd430c8}"
	for _, c := range []struct {
		args  []string
		shows string
	}{
		{[]string{"SET", one, "6ba7b812-9dad-11d1-80b4-00c04fd430c8", "NX"}, "SET lock:{another:1} A? NX"},
		{[]string{"EVAL", "-- free", "2", two, one, ""}, `EVAL free 2 lock:{another:2} lock:{another:1} ""`},
		{[]string{"EVAL", "-- free", "1", one, one + ":channel", ""}, `EVAL free 1 lock:{another:1} lock:{another:1}:channel ""`},
		{[]string{"GET", "lock:{another:0}"}, "GET lock:{another:0}"},
		{[]string{"GET", "6ba7b812-9dad-11d1-80b4-00c04fd430c8:1"}, "GET A?"},
		{[]string{"GET", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"}, "GET A?"},
		{[]string{"EVALSHA", "6ba7b8129dad11d180b400c04fd430c86ba7b812", "1"}, "EVALSHA 6ba7b812… 1"},
	} {
		require.Equal(t, c.shows, strings.Join(n.command(c.args, "A"), " "))
	}
}

func TestScriptNameIsCutBetweenLetters(t *testing.T) {
	require.Equal(t, strings.Repeat("解", 40)+"…", scriptName("-- "+strings.Repeat("解", 41)))
}
