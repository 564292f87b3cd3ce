package failures_test

import (
	"go/build"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules and the pictures see the trace only: neither the world that wrote it, nor go-redis, nor a
// lock. The world knows no rule, and the trace nothing of ours.
func TestImportsPointOneWay(t *testing.T) {
	for dir, allowed := range map[string][]string{
		"trace":        nil,
		"world":        {"trace"},
		"oracle":       {"trace", "i18n"},
		"timeline":     {"trace", "oracle", "i18n", "term"},
		"timeline/svg": {"trace", "oracle", "timeline", "i18n", "term"},
	} {
		p, err := build.ImportDir(dir, 0)
		require.NoError(t, err)
		for _, path := range p.Imports {
			if ours, is := strings.CutPrefix(path, "lockkata/"); is {
				require.Contains(t, allowed, ours[strings.LastIndexByte(ours, '/')+1:], "%s imports %s", dir, path)
			}
			require.False(t, dir != "world" && strings.Contains(path, "redis"), "%s imports %s", dir, path)
		}
	}
}
