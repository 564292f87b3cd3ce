//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, l *ledger, hold, token int64) int64 {
	t.Helper()
	value, ok := l.read(0, hold, token, 0)
	require.True(t, ok)
	return value
}

func TestLedgerCounts(t *testing.T) {
	l := newLedger(1, true)
	for hold := range int64(3) {
		ok, under := l.write(0, hold, hold, read(t, l, hold, hold)+1, 0)
		require.True(t, ok)
		require.Empty(t, under)
	}
	require.Equal(t, int64(3), l.accounts[0].value)
}

func TestPlainLedgerTakesAWriteOfAnOldReadAndTellsWhatItUndid(t *testing.T) {
	l := newLedger(1, false)
	a, b := read(t, l, 1, 1), read(t, l, 2, 2)
	l.write(0, 2, 2, b+1, 5)
	ok, under := l.write(0, 1, 1, a+1, 6)
	require.True(t, ok)
	require.Equal(t, []entry{{hold: 2, at: 5}}, under)
	require.Equal(t, int64(1), l.accounts[0].value)
	require.Len(t, l.accounts[0].history, 2)
}

func TestFencedLedgerRefusesAnOldTokenAndAnEqualOneOfAnother(t *testing.T) {
	l := newLedger(1, true)
	read(t, l, 1, 7)
	_, ok := l.read(0, 2, 7, 0)
	require.False(t, ok, "equal, of another")
	read(t, l, 2, 8)
	ok, _ = l.write(0, 1, 7, 1, 0)
	require.False(t, ok, "old")
	require.Equal(t, 2, l.accounts[0].refused)
}

// Between the next holder's read and its write: a ledger that looked only at the
// tokens of writes would take it, and lose it.
func TestFencedLedgerRefusesAWriteOnceTheNextHolderHasRead(t *testing.T) {
	l := newLedger(1, true)
	a := read(t, l, 1, 1)
	b := read(t, l, 2, 2)
	ok, _ := l.write(0, 1, 1, a+1, 0)
	require.False(t, ok)
	ok, under := l.write(0, 2, 2, b+1, 0)
	require.True(t, ok)
	require.Empty(t, under)
}
