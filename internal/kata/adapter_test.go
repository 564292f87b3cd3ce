package kata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// holding is a lock with the API of the document's example: stage 4's, by holds.
const holding = `package mylock

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

var (
	ErrTaken   = errors.New("taken")
	ErrNotHeld = errors.New("not held")
	release    = redis.NewScript("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")
)

type Lock struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
}

type Hold struct {
	lock  *Lock
	value string
}

func NewLock(rdb redis.UniversalClient, name string, lease time.Duration) *Lock {
	return &Lock{rdb, "lock:" + name, lease}
}

func (l *Lock) TryAcquire(ctx context.Context) (*Hold, error) {
	h := &Hold{l, uuid.NewString()}
	err := l.rdb.Do(ctx, "SET", l.key, h.value, "NX", "PX", l.lease.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return nil, ErrTaken
	}
	return h, err
}

func (l *Lock) Acquire(ctx context.Context) (*Hold, error) {
	for {
		h, err := l.TryAcquire(ctx)
		if !errors.Is(err, ErrTaken) {
			return h, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (h *Hold) Release(ctx context.Context) error {
	n, err := release.Run(ctx, h.lock.rdb, []string{h.lock.key}, h.value).Int()
	if err == nil && n == 0 {
		return ErrNotHeld
	}
	return err
}
`

func TestDocumentsAdapterFitsALockWithAnotherAPI(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	raw, err := os.ReadFile(filepath.Join(root, "docs", "kata.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(raw), "<!-- adapter -->\n```go\n")
	require.True(t, found)
	adapter, _, found := strings.Cut(rest, "```\n<!-- end -->")
	require.True(t, found)
	head := "package mylock\n\nimport (\n\t\"context\"\n\t\"errors\"\n\t\"time\"\n\n\t\"github.com/redis/go-redis/v9\"\n\n\tfailures \"lockkata/failures_test\"\n)\n\n"
	e, _ := Find(4)
	report, err := judgeFiles(t.Context(), root, Files{"lock.go": holding, "adapter.go": head + adapter}, e)
	require.NoError(t, err)
	require.Nil(t, report.Compile)
	require.True(t, report.Passed(e.Required()), "%+v %+v", report.Cause, report.Red())
}

func TestLockThatDoesNotCompileIsToldWhy(t *testing.T) {
	t.Parallel()
	e, _ := Find(4)
	healthy, err := e.Solution.Files(os.DirFS(repositoryRoot(t)))
	require.NoError(t, err)
	lock := healthy["mutex.go"]
	for says, text := range map[string]string{
		"mutex.go:22: expected declaration, found fun":   strings.Replace(lock, "// unlockScript deletes", "fun unlockScript() {}\n// deletes", 1),
		"mutex.go:7: package nonsense is not in std":     strings.Replace(lock, "\t\"time\"\n", "\t\"nonsense\"\n\t\"time\"\n", 1),
		"mutex.go:6: \"os\" imported and not used":       strings.Replace(lock, "\t\"fmt\"\n", "\t\"os\"\n\t\"fmt\"\n", 1),
		"mutex.go:1: the package is main":                strings.Replace(lock, "package mylock", "package main", 1),
		"there is no func NewMutex":                      strings.ReplaceAll(lock, "func NewMutex(", "func New("),
		"NewMutex or Subject does not fit:":              strings.Replace(lock, ") Unlock(", ") Free(", 1),
		"there is no Go file: kata reset brings the sta": "",
	} {
		t.Run(says, func(t *testing.T) {
			files := Files{"mutex.go": text}
			if text == "" {
				files = Files{}
			}
			report, err := judgeFiles(t.Context(), repositoryRoot(t), files, e)
			require.NoError(t, err)
			require.NotNil(t, report.Compile)
			require.True(t, strings.HasPrefix(report.Compile.Error(), says), report.Compile.Error())
			require.Contains(t, Result{Exercise: e, Report: report}.Screen(View{Width: 120}), "✗ it does not compile")
		})
	}
}
