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
