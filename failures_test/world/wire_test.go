package world

import (
	"strings"
	"testing"

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
