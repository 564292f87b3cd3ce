//go:build live

package playground_test

import "testing"

func TestEveryTwoEditsOfALockAreOneLock(t *testing.T) {
	requirePairs(t, "1", "2", "5", "6.1", "6.2", "6.3", "6.4", "6.5")
}
