//go:build live

package topology_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// ledger is the resource that the lock protects. It remembers the highest token,
// and refuses a write with a lower one, or with the same one of another holder.
type ledger struct {
	mu      sync.Mutex
	highest int64
	holder  string
}

// write tells whether the ledger has taken a write.
func (l *ledger) write(holder string, token int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if token < l.highest || token == l.highest && holder != l.holder {
		return false
	}
	l.highest, l.holder = token, holder
	return true
}

func TestLedgerRefusesAnOlderTokenAndAnothersEqualOne(t *testing.T) {
	var l ledger
	require.True(t, l.write("A", 7))
	require.True(t, l.write("A", 7))
	require.False(t, l.write("B", 7))
	require.True(t, l.write("B", 8))
	require.False(t, l.write("A", 7))
}
