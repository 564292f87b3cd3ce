package interpreter

import (
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

// compiled is a package that need not be a lock.
func compiled(t *testing.T, files map[string]string) (*program, *compiler) {
	t.Helper()
	l := newLoader(files)
	l.parse()
	l.check()
	require.Empty(t, l.problems)
	c, problem := l.compile("own")
	require.Nil(t, problem)
	return c.program, c
}

func function(c *compiler, name string) *types.Func { return c.pkg.Scope().Lookup(name).(*types.Func) }
