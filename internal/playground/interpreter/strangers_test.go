package interpreter_test

import (
	"maps"
	"path"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapt"
	"lockkata/failures_test/world"
	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
	"lockkata/internal/playground/interpreter/testdata/strangers/causes"
	"lockkata/internal/playground/interpreter/testdata/strangers/embedding"
	"lockkata/internal/playground/interpreter/testdata/strangers/files"
	"lockkata/internal/playground/interpreter/testdata/strangers/generics"
	"lockkata/internal/playground/interpreter/testdata/strangers/itself"
	"lockkata/internal/playground/interpreter/testdata/strangers/narrow"
	"lockkata/internal/playground/interpreter/testdata/strangers/phases"
	"lockkata/internal/playground/interpreter/testdata/strangers/queue"
	"lockkata/internal/playground/interpreter/testdata/strangers/ranging"
	"lockkata/internal/playground/interpreter/testdata/strangers/reentrant"
	"lockkata/internal/playground/interpreter/testdata/strangers/scanned"
	"lockkata/internal/playground/interpreter/testdata/strangers/storage"
	"lockkata/internal/playground/interpreter/testdata/strangers/structs"
	"lockkata/internal/playground/interpreter/testdata/strangers/values"
	"lockkata/internal/playground/interpreter/testdata/strangers/wakeups"
	"lockkata/internal/playground/interpreter/testdata/strangers/watched"
)

// stranger is a lock as somebody writes it who has seen none of ours.
type stranger struct {
	from   string // the column that its author began with
	new    world.Constructor
	fixed  world.Constructor // without its watchdog
	most   world.Constructor // with a limit of three leases
	passes []string          // functions that only send for others
	ends   string            // what ends it, and the process of the compiled one
}

// optional is a lock with options, made with these.
func optional[L world.Locker, O any](
	create func(redis.UniversalClient, string, time.Duration, ...O) (L, error), options ...O,
) world.Constructor {
	return adapt.Plain(func(r redis.UniversalClient, n string, l time.Duration) (L, error) {
		return create(r, n, l, options...)
	})
}

const strangersDir = "internal/playground/interpreter/testdata/strangers"

const nilPointer = "runtime error: invalid memory address or nil pointer dereference"

var strangers = map[string]stranger{
	"structs": {from: "3", new: adapt.Plain(structs.NewMutex)},
	"causes":  {from: "5", new: optional(causes.NewMutex), fixed: optional(causes.NewMutex, causes.WithoutWatchdog())},
	"phases": {from: "5", new: optional(phases.NewMutex), fixed: optional(phases.NewMutex, phases.WithoutWatchdog()),
		most: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
			return phases.NewMutex(r, n, l, phases.WithMaxHold(3*l))
		}},
	"wakeups":   {from: "6.1", new: adapt.Holding(wakeups.NewMutex, wakeups.ErrLocked, wakeups.ErrLost)},
	"storage":   {from: "4", new: optional(storage.NewMutex), passes: []string{"lockkata/" + strangersDir + "/storage.store."}},
	"ranging":   {from: "5", new: adapt.Plain(ranging.NewMutex), ends: "lock.go:68:3: panic: " + nilPointer},
	"embedding": {from: "6.1", new: adapt.Holding(embedding.NewMutex, embedding.ErrLocked, embedding.ErrLost)},
	"generics":  {from: "4", new: optional(generics.NewMutex)},
	"watched":   {from: "3", new: adapt.Plain(watched.NewMutex)},
	"reentrant": {from: "5", new: adapt.Plain(reentrant.NewMutex)},
	"values":    {from: "6.1", new: adapt.Holding(values.NewMutex, values.ErrLocked, values.ErrLost)},
	"queue":     {from: "4", new: adapt.Plain(queue.NewMutex)},
	"itself":    {from: "3", new: adapt.Plain(itself.NewMutex)},
	"files":     {from: "3", new: adapt.Plain(files.NewMutex)},
	"narrow":    {from: "3", new: adapt.Plain(narrow.NewMutex)},
	"scanned":   {from: "3", new: adapt.Plain(scanned.NewMutex)},
}

func TestLockOfAStrangerHasTheCellsOfTheCompiledOne(t *testing.T) {
	requireSameStrangers(t, "structs", "generics")
}

func TestPanicOfAStrangersGoroutineIsToldWithItsLine(t *testing.T) {
	requireSameStrangers(t, "ranging")
}

func requireSameStrangers(t *testing.T, names ...string) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			of := strangers[name]
			c := columns.Must(of.from)
			lock, problems := interpreter.Load(name, filesOf(t, path.Join(strangersDir, name)))
			require.Empty(t, problems)
			mine := lock.Subject(name, c.Subject.Has...)
			mine.Ignore = failures.IsBeside
			interpreted := verdicts(t, mine)
			if of.ends != "" {
				require.NotNil(t, lock.Trouble())
				require.Equal(t, of.ends, lock.Trouble().Error())
				return
			}
			compiled := failures.Subject{Name: name, New: of.new, Has: c.Subject.Has, Ignore: failures.IsBeside, SkipFrames: of.passes}
			compiled.Variants = map[failures.Variant]world.Constructor{failures.FixedLease: of.fixed, failures.Limited: of.most}
			maps.DeleteFunc(compiled.Variants, func(_ failures.Variant, new world.Constructor) bool { return new == nil })
			requireSameVerdicts(t, lock, interpreted, verdicts(t, compiled))
		})
	}
}
