package judge

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/world"
)

func TestValueWithTheNumberOfTheProcessIsTold(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	for value, told := range map[string]bool{"host:" + pid + ":1": true, "host:" + pid + "0": false, pid: false, "order:" + pid: false} {
		trace := &world.Trace{Lock: "order:" + pid, Events: []world.Event{{Client: "A", Kind: world.Sent, Command: []string{"SET", "k", value}}}}
		require.Equal(t, told, numbered(trace) != nil, value)
	}
}
