package stage6

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// FuzzName gives both layouts any two names: each is a lock or is refused with one
// clear line, and two names are two locks.
func FuzzName(f *testing.F) {
	for _, names := range [][2]string{
		{"order:1001", "order:1002"}, {"order", "order "}, {"{order}:1", "{order}:2"}, {"{}", "{}x"}, {"{", "}"},
		{"a}b", "a{b"}, {"a{b}c{d}", "a{b}c"}, {"\xff", "\xfe"}, {"\n", "\r\n"}, {"", " "}, {"order", "{order}:token"},
		{"x}", "x}:token"}, {strings.Repeat("x", 1<<16), strings.Repeat("x", 1<<16-1)},
	} {
		f.Add(names[0], names[1])
	}
	ours, redissons := namesOnly(f, DefaultLayout), namesOnly(f, RedissonLayout)
	f.Fuzz(func(t *testing.T, name, other string) {
		a, b := requireMutex(t, ours, name, anyName), requireMutex(t, ours, other, anyName)
		if a != nil && b != nil && name != other {
			require.Len(t, distinct(a.key, a.token, a.channel, b.key, b.token, b.channel), 6)
		}
		a, b = requireMutex(t, redissons, name, hasTagOrNoBraces), requireMutex(t, redissons, other, hasTagOrNoBraces)
		if a != nil && b != nil && name != other {
			require.NotEqual(t, a.key, b.key)
		}
	})
}

// requireMutex is the lock of that name, nil if it is refused. Lock and token have
// to be two keys in one slot wherever the layout promises it for the name.
func requireMutex(t *testing.T, svc *Service, name string, promised func(string) bool) *Mutex {
	t.Helper()
	m, err := svc.Mutex(name)
	if err != nil {
		require.Nil(t, m)
		require.True(t, strings.HasPrefix(err.Error(), "stage6: lock name "), err)
		require.NotContains(t, err.Error(), "\n")
		require.True(t, name == "" || strings.Contains(name, "}") || strings.Contains(name, "{"), "%q is refused", name)
		return nil
	}
	require.Equal(t, name, m.Name())
	require.Contains(t, m.key, name)
	require.NotEqual(t, m.key, m.token)
	require.NotEmpty(t, m.channel)
	if promised(name) {
		require.Equal(t, slot(m.key), slot(m.token), "%q", name)
	}
	return m
}

func anyName(string) bool { return true }

// hasTagOrNoBraces tells whether a name is one as Redisson's users write it.
func hasTagOrNoBraces(name string) bool {
	_, after, opened := strings.Cut(name, "{")
	if !opened {
		return !strings.Contains(name, "}")
	}
	tag, _, closed := strings.Cut(after, "}")
	return closed && tag != ""
}

func distinct(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// namesOnly is a service that makes locks and sends nothing.
func namesOnly(f *testing.F, layout Layout) *Service {
	f.Helper()
	rdb := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	f.Cleanup(func() { require.NoError(f, rdb.Close()) })
	svc, err := NewService(rdb, WithLayout(layout))
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, svc.Close()) })
	return svc
}
