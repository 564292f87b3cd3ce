package interpreter_test

import (
	"fmt"
	"os"
	"path"
	"testing"
	"time"

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

	"github.com/redis/go-redis/v9"
)

type stranger struct {
	from  string // the column that it begins with
	new   world.Constructor
	fixed world.Constructor
	skip  []string
	ends  string // the compiled one ends its process so
}

var strangers = map[string]stranger{
	"s01": {from: "3", new: adapt.Plain(s01.NewMutex)},
	"s02": {from: "3", new: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
		return s02.NewMutex(r, n, l)
	}},
	"s03": {from: "4", new: adapt.Plain(s03.NewMutex)},
	"s04": {from: "4", new: adapt.Plain(s04.NewMutex)},
	"s05": {from: "5", new: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
		return s05.NewMutex(r, n, l)
	},
		fixed: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
			return s05.NewMutex(r, n, l, s05.WithoutWatchdog())
		}},
	"s06": {from: "5", new: adapt.Plain(s06.NewMutex)},
	"s07": {from: "6.1", new: adapt.Holding(s07.NewMutex, s07.ErrLocked, s07.ErrLost), skip: []string{}},
	"s08": {from: "6.1", new: adapt.Holding(s08.NewMutex, s08.ErrLocked, s08.ErrLost)},
	"s09": {from: "5", new: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
		return s09.NewMutex(r, n, l)
	},
		fixed: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
			return s09.NewMutex(r, n, l, s09.WithoutWatchdog())
		}},
	"s10": {from: "3", new: adapt.Plain(s10.NewMutex)},
	"s11": {from: "6.1", new: adapt.Holding(s11.NewMutex, s11.ErrLocked, s11.ErrLost)},
	"s12": {from: "4", new: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
		return s12.NewMutex(r, n, l)
	},
		skip: []string{"lockkata/internal/playground/interpreter/testdata/strangers/s12.store.", "lockkata/internal/playground/interpreter/testdata/strangers/s12.(*store)."}},
	"s13": {from: "5", new: adapt.Plain(s13.NewMutex)},
	"s14": {from: "3", new: adapt.Plain(s14.NewMutex)},
	"t01": {from: "3", new: adapt.Plain(t01.NewMutex)},
	"t02": {from: "3", new: adapt.Plain(t02.NewMutex)},
	"t03": {from: "5", new: adapt.Plain(t03.NewMutex)},
	"t04": {from: "4", new: adapt.Plain(t04.NewMutex)},
	"t05": {from: "5", new: adapt.Plain(t05.NewMutex), ends: "x"},
	"t06": {from: "6.1", new: adapt.Holding(t06.NewMutex, t06.ErrLocked, t06.ErrLost)},
	"t07": {from: "5", new: adapt.Plain(t07.NewMutex), ends: "x"},
	"t08": {from: "4", new: func(r redis.UniversalClient, n string, l time.Duration) (world.Locker, error) {
		return t08.NewMutex(r, n, l)
	}},
	"s15": {from: "6.1", new: adapt.Holding(s15.NewMutex, s15.ErrLocked, s15.ErrLost)},
}

func TestStrangers(t *testing.T) {
	for _, name := range sortedKeys(strangers) {
		if only := os.Getenv("ONLY"); only != "" && only != name {
			continue
		}
		s := strangers[name]
		dir := path.Join("internal/playground/interpreter/testdata/strangers", name)
		c := columns.Must(s.from)
		t.Run(name, func(t *testing.T) {
			compiled := failures.Subject{Name: "mylock", New: s.new, Has: c.Subject.Has, Ignore: c.Subject.Ignore, SkipFrames: s.skip}
			if s.fixed != nil {
				compiled.Variants = map[failures.Variant]world.Constructor{failures.FixedLease: s.fixed}
			}
			if compiled.Ignore == nil {
				compiled.Ignore = failures.IsBeside
			}
			if os.Getenv("COMPILED") != "" {
				broken, safe := 0, 0
				for _, v := range verdicts(t, compiled) {
					switch v.Outcome {
					case failures.Broken:
						broken++
					case failures.Safe:
						safe++
					}
				}
				fmt.Println(name, "compiled: broken", broken, "safe", safe)
				return
			}
			lock, problems := interpreter.Load(name, filesOf(t, dir))
			if len(problems) > 0 {
				for _, p := range problems[:min(3, len(problems))] {
					fmt.Println(name, "refused:", p.Error())
				}
				t.Fail()
				return
			}
			mine := lock.Subject("mylock", c.Subject.Has...)
			mine.Ignore = compiled.Ignore
			is := verdicts(t, mine)
			if s.ends != "" {
				fmt.Println(name, "trouble:", lock.Trouble())
				return
			}
			want := verdicts(t, compiled)
			if p := lock.Trouble(); p != nil {
				fmt.Println(name, "trouble:", p.Error())
			}
			control := verdicts(t, compiled)
			for _, f := range failures.All {
				if msg := difference(want[f.ID], control[f.ID]); msg != "" {
					fmt.Println(name, "not the same as itself:", f.ID, msg)
				}
				if msg := difference(want[f.ID], is[f.ID]); msg != "" {
					fmt.Println(name, "different:", f.ID, msg)
					t.Fail()
					return
				}
			}
			fmt.Println(name, "equal")
		})
	}
}
