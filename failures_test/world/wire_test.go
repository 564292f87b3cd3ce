package world

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fault that waits for a write strikes where something is changed: of a transaction at EXEC.
func TestCommandThatChangesSomethingIsAWrite(t *testing.T) {
	redis, err := newEmbedded()
	require.NoError(t, err)
	defer redis.close()
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
		on, found := &wire{world: &World{server: redis}}, []string{}
		for name := range strings.FieldsSeq(sent) {
			if on.changes(name) {
				found = append(found, name)
			}
		}
		require.Equal(t, writes, strings.Join(found, " "), sent)
	}
}

// Redis carries out what is queued when EXEC comes, or never.
func TestQueuedCommandGivesALeaseWhenItIsCarriedOut(t *testing.T) {
	redis, err := newEmbedded()
	require.NoError(t, err)
	defer redis.close()
	one, other := redis.newLink(), redis.newLink()
	send := func(on link, line string) (answer string, leased bool) {
		raw, err := on.execute(strings.Fields(line))
		require.NoError(t, err)
		return string(raw), redis.read(func(string) bool { return false })["k"].leased
	}
	for _, c := range []struct {
		begins, ends string
		leased       bool
	}{
		{"MULTI", "EXEC", true},
		{"WATCH k", "EXEC", false}, // the key has changed
		{"MULTI", "DISCARD", false},
	} {
		send(one, "SET k v PX 1000")
		if send(one, c.begins); c.begins != "MULTI" {
			send(other, "SET k w PX 1000")
			send(one, "MULTI")
		}
		for _, line := range []string{"PEXPIRE k 1000", "BLPOP list 0"} {
			answer, leased := send(one, line)
			require.Equal(t, "+QUEUED\r\n", answer)
			require.False(t, leased)
		}
		_, leased := send(one, c.ends)
		require.Equal(t, c.leased, leased, c)
		send(one, "MULTI")
		_, leased = send(one, "EXEC")
		require.False(t, leased, "nothing was queued")
	}
}
