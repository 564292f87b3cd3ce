package kata

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// held is a lock whose Lock returns a hold, as far as its shape goes.
const held = `package mylock

var (
	ErrLocked = errors.New("taken")
	ErrLost   = errors.New("lost")
)

type carrier struct{ redis.UniversalClient }

type Mutex struct{ rdb carrier }

func NewMutex(rdb redis.UniversalClient, name string, ttl time.Duration, opts ...Option) (*Mutex, error) { return nil, nil }
func WithoutWatchdog() Option { return nil }
func (m *Mutex) Lock(ctx context.Context) (*Lease, error) { return nil, nil }
func (m *Mutex) TryLock(ctx context.Context) (*Lease, error) { return nil, nil }

type Lease struct{}

func (h *Lease) Release(ctx context.Context) error { return nil }
func (h *Lease) Context() context.Context { return nil }
`

func TestLockThatReturnsHoldsNeedsNoAdapter(t *testing.T) {
	subject, err := subjectOf(Files{"mutex.go": held}, "mylock2", "x/mylock2")
	require.NoError(t, err)
	require.Equal(t, "{Name: \"mylock\", New: adapters.Holding(func(r redis.UniversalClient, n string, l time.Duration) (*mylock2.Mutex, error) "+
		"{ return mylock2.NewMutex(r, n, l) }, mylock2.ErrLocked, mylock2.ErrLost), Variants: map[failures.Variant]world.Constructor{"+
		"failures.FixedLease: adapters.Holding(func(r redis.UniversalClient, n string, l time.Duration) (*mylock2.Mutex, error) "+
		"{ return mylock2.NewMutex(r, n, l, mylock2.WithoutWatchdog()) }, mylock2.ErrLocked, mylock2.ErrLost), }, "+
		"SkipFrames: []string{\"x/mylock2.carrier.\", \"x/mylock2.(*carrier).\", }}", subject)
}

func TestLockOfAnotherShapeIsToldWhatToWrite(t *testing.T) {
	for says, change := range map[string][2]string{
		"mutex.go:14: Lock returns a context.Context: let it return a hold of a type of your own": {
			"Lock(ctx context.Context) (*Lease, error) { return nil, nil }\nfunc (m *Mutex) T", "Lock(ctx context.Context) (context.Context, error) { return nil, nil }\nfunc (m *Mutex) T",
		},
		"mutex.go:15: TryLock(context.Context) (bool, error) does not fit: the failures call TryLock(context.Context) (*Lease, error).": {
			"TryLock(ctx context.Context) (*Lease, error)", "TryLock(ctx context.Context) (bool, error)",
		},
		"mutex.go:14: Lock(context.Context, time.Duration) (*Lease, error) does not fit: the failures call Lock(context.Context) (*Lease, error).": {
			") Lock(ctx context.Context)", ") Lock(ctx context.Context, d time.Duration)",
		},
		"mutex.go:12: NewMutex(redis.UniversalClient, string, time.Duration, ...Option) *Mutex does not fit:": {"opts ...Option) (*Mutex, error)", "opts ...Option) *Mutex"},
		"Lock returns a Lease, which nobody can release: write func (h *Lease) Unlock(ctx":                    {") Release(", ") Close("},
		"TryLock needs an error that says that somebody else has the lock: var ErrLocked":                     {"ErrLocked =", "ErrTaken ="},
		"a Lease has a Context, which ends with a cause when the hold is lost: var ErrLost":                   {"ErrLost   =", "ErrOver ="},
	} {
		require.Equal(t, 1, strings.Count(held, change[0]), change[0])
		_, err := subjectOf(Files{"mutex.go": strings.Replace(held, change[0], change[1], 1)}, "mylock", "x")
		require.ErrorContains(t, err, says)
	}
	_, err := subjectOf(Files{"mutex.go": "package mylock\nfunc NewMutex(r redis.UniversalClient, n string, l time.Duration) (*Mutex, error)\nfunc (m *Mutex) Lock(ctx context.Context) bool\n"}, "mylock", "x")
	require.ErrorContains(t, err, "mutex.go:3: Lock(context.Context) bool does not fit: the failures call Lock(context.Context) error.")
}
