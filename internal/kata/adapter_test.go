package kata

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

// holding is a lock with the API of the document's first example: stage 4's, by holds.
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

// calling is the same lock with callbacks only.
var calling = holding + `
func (l *Lock) Do(ctx context.Context, work func(context.Context) error) error {
	return during(ctx, l.Acquire, work)
}

func (l *Lock) TryDo(ctx context.Context, work func(context.Context) error) error {
	return during(ctx, l.TryAcquire, work)
}

func during(ctx context.Context, take func(context.Context) (*Hold, error), work func(context.Context) error) error {
	h, err := take(ctx)
	if err != nil {
		return err
	}
	return errors.Join(work(ctx), h.Release(context.WithoutCancel(ctx)))
}
`

// hidden makes the methods for holds private, so that callbacks are all there is.
var hidden = strings.NewReplacer("TryAcquire", "tryAcquire", "Acquire", "acquire", "Release", "release", "Hold{", "hold{", "*Hold", "*hold", "type Hold ", "type hold ")

// careless frees whatever is there.
var careless = strings.NewReplacer("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0", "return redis.call('DEL', KEYS[1])")

const adapterHead = `package mylock

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
)

`

// adaptedLocks are locks with other APIs behind the adapters of the document, healthy
// ones and careless ones.
func adaptedLocks(root string) (map[string]Files, error) {
	raw, err := os.ReadFile(filepath.Join(root, "docs", "kata.md"))
	if err != nil {
		return nil, err
	}
	locks := map[string]Files{}
	for name, lock := range map[string]string{"holds": holding, "callbacks": hidden.Replace(calling)} {
		_, rest, _ := strings.Cut(string(raw), "<!-- adapter "+name+" -->\n```go\n")
		adapter, _, found := strings.Cut(rest, "```\n<!-- end -->")
		if !found {
			return nil, fmt.Errorf("docs/kata.md has no adapter for a lock with %s", name)
		}
		locks[name] = Files{"lock.go": lock, "adapter.go": adapterHead + adapter}
		locks["careless"+name] = Files{"lock.go": careless.Replace(lock), "adapter.go": adapterHead + adapter}
	}
	return locks, nil
}

func TestChineseDocumentHasTheSameAdapters(t *testing.T) {
	adapters := func(document string) []string {
		raw, err := os.ReadFile(filepath.Join(repositoryRoot(t), document))
		require.NoError(t, err)
		return regexp.MustCompile(`(?s)<!-- adapter .*?<!-- end -->`).FindAllString(string(raw), -1)
	}
	require.Len(t, adapters("docs/kata.md"), 2)
	require.Equal(t, adapters("docs/kata.md"), adapters("docs/zh-CN/kata.md"))
}

func TestDocumentsAdaptersFitLocksWithOtherAPIs(t *testing.T) {
	t.Parallel()
	locks, err := adaptedLocks(repositoryRoot(t))
	require.NoError(t, err)
	for _, name := range []string{"holds", "callbacks"} {
		t.Run(name, func(t *testing.T) {
			adapter := strings.TrimPrefix(locks[name]["adapter.go"], adapterHead)
			require.LessOrEqual(t, strings.Count(adapter, "\n"), 12)
			e, report := judged(t, "4", locks[name])
			require.True(t, report.Passed(e.Required()), "%+v %+v", report.Cause, report.Red())
			_, report = judged(t, "4", locks["careless"+name])
			require.Contains(t, report.Verdict("delete-foreign").Sentence, "wrong delete: A's EVALSHA removes the lock of B", "%+v", report.Cause)
		})
	}
}

func TestLockThatDoesNotCompileIsToldWhy(t *testing.T) {
	t.Parallel()
	e := exercise(t, "4")
	lock := solutionOf(t, e)["mutex.go"]
	for says, text := range map[string]string{
		"mutex.go:22: expected declaration, found fun":   strings.Replace(lock, "// unlockScript deletes", "fun unlockScript() {}\n// deletes", 1),
		"mutex.go:7: package nonsense is not in std":     strings.Replace(lock, "\t\"time\"\n", "\t\"nonsense\"\n\t\"time\"\n", 1),
		"mutex.go:6: \"os\" imported and not used":       strings.Replace(lock, "\t\"fmt\"\n", "\t\"os\"\n\t\"fmt\"\n", 1),
		"mutex.go:1: the package is main":                strings.Replace(lock, "package mylock", "package main", 1),
		"there is no func NewMutex":                      strings.ReplaceAll(lock, "func NewMutex(", "func New("),
		"NewMutex or Subject does not fit:":              strings.Replace(lock, ") Unlock(", ") Free(", 1),
		"there is no Go file: kata reset brings the sta": "",
		"main.go:6: \"os\" imported and not used":        strings.Replace(lock, "\t\"fmt\"\n", "\t\"os\"\n\t\"fmt\"\n", 1),
	} {
		t.Run(says, func(t *testing.T) {
			f := newFolder(t, "4")
			require.NoError(t, os.Remove(f.path("mutex.go")))
			if name, _, isNamed := strings.Cut(says, ".go:"); text != "" && isNamed {
				f.write(t, name+".go", text)
			} else if text != "" {
				f.write(t, "mutex.go", text)
			}
			r, err := Check(t.Context(), f, i18n.English, nil)
			require.NoError(t, err)
			require.NotNil(t, r.Report.Compile)
			require.True(t, strings.HasPrefix(r.Report.Compile.Error(), says), r.Report.Compile.Error())
			require.Contains(t, r.Screen(View{Width: 120}), "✗ it does not compile")
		})
	}
}
