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
	"lockkata/internal/playground/interpreter/testdata/strangers/s01"
	"lockkata/internal/playground/interpreter/testdata/strangers/s02"
	"lockkata/internal/playground/interpreter/testdata/strangers/s03"
	"lockkata/internal/playground/interpreter/testdata/strangers/s04"
	"lockkata/internal/playground/interpreter/testdata/strangers/s05"
	"lockkata/internal/playground/interpreter/testdata/strangers/s06"
	"lockkata/internal/playground/interpreter/testdata/strangers/s07"
	"lockkata/internal/playground/interpreter/testdata/strangers/s08"
	"lockkata/internal/playground/interpreter/testdata/strangers/s09"
	"lockkata/internal/playground/interpreter/testdata/strangers/s10"
	"lockkata/internal/playground/interpreter/testdata/strangers/s11"
	"lockkata/internal/playground/interpreter/testdata/strangers/s12"
	"lockkata/internal/playground/interpreter/testdata/strangers/s13"
	"lockkata/internal/playground/interpreter/testdata/strangers/s14"
	"lockkata/internal/playground/interpreter/testdata/strangers/s15"
	"lockkata/internal/playground/interpreter/testdata/strangers/t01"
	"lockkata/internal/playground/interpreter/testdata/strangers/t02"
	"lockkata/internal/playground/interpreter/testdata/strangers/t03"
	"lockkata/internal/playground/interpreter/testdata/strangers/t04"
	"lockkata/internal/playground/interpreter/testdata/strangers/t05"
	"lockkata/internal/playground/interpreter/testdata/strangers/t06"
	"lockkata/internal/playground/interpreter/testdata/strangers/t07"
	"lockkata/internal/playground/interpreter/testdata/strangers/t08"
	"lockkata/internal/playground/interpreter/testdata/strangers/u01"
	"lockkata/internal/playground/interpreter/testdata/strangers/u02"
	"lockkata/internal/playground/interpreter/testdata/strangers/u03"
	"lockkata/internal/playground/interpreter/testdata/strangers/u04"
	"lockkata/internal/playground/interpreter/testdata/strangers/u05"
	"lockkata/internal/playground/interpreter/testdata/strangers/v01"
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
func optional[L world.Locker, O any](create func(redis.UniversalClient, string, time.Duration, ...O) (L, error), options ...O) world.Constructor {
	return adapt.Plain(func(r redis.UniversalClient, n string, l time.Duration) (L, error) {
		return create(r, n, l, options...)
	})
}

const strangersDir = "internal/playground/interpreter/testdata/strangers"

// The letters say how they were written: s before the interpreter had run any of them, t
// with its weak spots in mind.
var strangers = map[string]stranger{
	"s01": {from: "3", new: adapt.Plain(s01.NewMutex)},
	"s02": {from: "3", new: optional(s02.NewMutex)},
	"s03": {from: "4", new: adapt.Plain(s03.NewMutex)},
	"s04": {from: "4", new: adapt.Plain(s04.NewMutex)},
	"s05": {from: "5", new: optional(s05.NewMutex), fixed: optional(s05.NewMutex, s05.WithoutWatchdog())},
	"s06": {from: "5", new: adapt.Plain(s06.NewMutex)},
	"s07": {from: "6.1", new: adapt.Holding(s07.NewMutex, s07.ErrLocked, s07.ErrLost)},
	"s08": {from: "6.1", new: adapt.Holding(s08.NewMutex, s08.ErrLocked, s08.ErrLost)},
	"s09": {from: "5", new: optional(s09.NewMutex), fixed: optional(s09.NewMutex, s09.WithoutWatchdog()),
		most: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
			return s09.NewMutex(r, n, l, s09.WithMaxHold(3*l))
		}},
	"s10": {from: "3", new: adapt.Plain(s10.NewMutex)},
	"s11": {from: "6.1", new: adapt.Holding(s11.NewMutex, s11.ErrLocked, s11.ErrLost)},
	"s12": {from: "4", new: optional(s12.NewMutex), passes: []string{"lockkata/" + strangersDir + "/s12.store."}},
	"s13": {from: "5", new: adapt.Plain(s13.NewMutex)},
	"s14": {from: "3", new: adapt.Plain(s14.NewMutex)},
	"s15": {from: "6.1", new: adapt.Holding(s15.NewMutex, s15.ErrLocked, s15.ErrLost)},
	"t01": {from: "3", new: adapt.Plain(t01.NewMutex)},
	"t02": {from: "3", new: adapt.Plain(t02.NewMutex)},
	"t03": {from: "5", new: adapt.Plain(t03.NewMutex)},
	"t04": {from: "4", new: adapt.Plain(t04.NewMutex)},
	"t05": {from: "5", new: adapt.Plain(t05.NewMutex), ends: "lock.go:68:3: panic: runtime error: invalid memory address or nil pointer dereference"},
	"t06": {from: "6.1", new: adapt.Holding(t06.NewMutex, t06.ErrLocked, t06.ErrLost)},
	"t07": {from: "5", new: adapt.Plain(t07.NewMutex), ends: "lock.go:64:4: panic: runtime error: invalid memory address or nil pointer dereference"},
	"t08": {from: "4", new: optional(t08.NewMutex)},
	"u01": {from: "3", new: adapt.Plain(u01.NewMutex)},
	"u02": {from: "5", new: adapt.Plain(u02.NewMutex)},
	"u03": {from: "6.1", new: adapt.Holding(u03.NewMutex, u03.ErrLocked, u03.ErrLost)},
	"u04": {from: "4", new: adapt.Plain(u04.NewMutex)},
	"u05": {from: "6.1", new: adapt.Holding(u05.NewMutex, u05.ErrLocked, u05.ErrLost)},
	"v01": {from: "3", new: adapt.Plain(v01.NewMutex)},
}

func TestLockOfAStrangerHasTheCellsOfTheCompiledOne(t *testing.T) {
	requireSameStrangers(t, "s01", "t08")
}

func TestPanicOfAStrangersGoroutineIsToldWithItsLine(t *testing.T) {
	requireSameStrangers(t, "t05", "t07")
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
			verdictsOf := verdicts(t, mine)
			if of.ends != "" {
				require.NotNil(t, lock.Trouble())
				require.Equal(t, of.ends, lock.Trouble().Error())
				return
			}
			compiled := failures.Subject{Name: name, New: of.new, Has: c.Subject.Has, Ignore: failures.IsBeside, SkipFrames: of.passes}
			compiled.Variants = map[failures.Variant]world.Constructor{failures.FixedLease: of.fixed, failures.Limited: of.most}
			maps.DeleteFunc(compiled.Variants, func(_ failures.Variant, new world.Constructor) bool { return new == nil })
			requireSameVerdicts(t, lock, verdictsOf, verdicts(t, compiled))
		})
	}
}
