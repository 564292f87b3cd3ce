package world

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// kept is what a Redis that is handed on may keep: how often keys were written,
// which only a WATCH compares with what it was at that moment; the number of
// commands that INFO tells; its own address; and what each command, and each look
// at the keys, sets anew. In wg the goroutine of the first connection may still be
// counted, which goes right after waitForGoodbye has seen its connection go.
var kept = []string{"keyVersion", "infoCmds", "checker", "worlds", "greeting", "written", "stock", "stockAt", "wg"}

// differences compares two values to the bottom, and tells the paths at which they
// differ. Functions are only there or not.
func differences(path string, a, b reflect.Value, seen map[[2]uintptr]bool) []string {
	if a.Kind() != b.Kind() || a.Type() != b.Type() {
		return []string{path}
	}
	var found []string
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return []string{path}
			}
			return nil
		}
		pair := [2]uintptr{a.Pointer(), b.Pointer()}
		if seen[pair] {
			return nil
		}
		seen[pair] = true
		return differences(path, a.Elem(), b.Elem(), seen)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return []string{path}
			}
			return nil
		}
		return differences(path, a.Elem(), b.Elem(), seen)
	case reflect.Struct:
		for i := range a.NumField() {
			if name := a.Type().Field(i).Name; !slices.Contains(kept, name) {
				found = append(found, differences(path+"."+name, a.Field(i), b.Field(i), seen)...)
			}
		}
	case reflect.Map:
		if a.Len() != b.Len() {
			return []string{path}
		}
		for _, key := range a.MapKeys() {
			other := b.MapIndex(key)
			at := fmt.Sprintf("%s[%v]", path, key)
			if !other.IsValid() {
				found = append(found, at)
				continue
			}
			found = append(found, differences(at, a.MapIndex(key), other, seen)...)
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return []string{path}
		}
		for i := range a.Len() {
			found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i), seen)...)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if a.IsNil() != b.IsNil() {
			return []string{path}
		}
	default:
		if !a.Equal(b) {
			return []string{path}
		}
	}
	return found
}

// afterUse are the differences between a new Redis and one on which these commands
// were run in a world before, both just started. There are none to tell where the
// Redis is not handed on.
func afterUse(t *testing.T, commands ...[]string) (found []string, spent bool) {
	t.Helper()
	old, err := newEmbedded()
	require.NoError(t, err)
	synctest.Test(t, func(*testing.T) {
		old.start()
		_ = old.fillMemory()
		_ = old.jump(time.Hour)
		old.full = false // the commands shall be taken
		links := []link{old.newLink(), old.newLink()}
		for _, args := range commands {
			for _, l := range links {
				_, _ = l.execute(args)
			}
			time.Sleep(time.Millisecond)
		}
		for _, l := range links {
			l.unsubscribe()
			synctest.Wait()
			l.pushed()
		}
		old.close()
	})
	if old.spent {
		return nil, true
	}
	old.renew()
	fresh, err := newEmbedded()
	require.NoError(t, err)
	synctest.Test(t, func(*testing.T) {
		old.start()
		fresh.start()
		for _, e := range []*embedded{old, fresh} {
			e.mini.Keys() // makes the first database
		}
		found = differences("redis", reflect.ValueOf(old), reflect.ValueOf(fresh), map[[2]uintptr]bool{})
		fresh.mini.Close()
	})
	return found, false
}

// shapes are arguments, one of which fits each command that needs some.
var shapes = []string{
	"", "k", "k v", "k 1", "k f v", "k 5 v", "k v k2 v2", "k 0 -1", "k 1 m", "k 1", "k 100 FIELDS 1 f", "1000", "news", "news hello", "n*",
	"LOAD return\t1", "FLUSH", "EXISTS x", "SETNAME me", "2", "3", "return\tredis.call('SET',KEYS[1],1) 1 k", "x 0", "CHANNELS", "k k9",
	"x\t=\t1 0", "return\tredis.pcall('HSET','h','f',1) 0", "redis.setresp(3)\treturn\tredis.pcall('INCR','k') 0",
}

func TestRedisThatIsHandedOnIsAsNew(t *testing.T) {
	var all [][]string
	for _, seed := range []string{"SET k v PX 1", "HSET k f v", "RPUSH k a", "SADD k m", "ZADD k 1 m", "SUBSCRIBE news", "PSUBSCRIBE n*", "WATCH k", "MULTI"} {
		var one [][]string
		one = append(one, strings.Fields(seed))
		for _, name := range leavesNothing {
			for _, shape := range shapes {
				args := append([]string{name}, strings.Fields(shape)...)
				for i := range args {
					args[i] = strings.ReplaceAll(args[i], "\t", " ")
				}
				one = append(one, args)
			}
		}
		slices.SortFunc(one[1:], func(a, b []string) int { return slices.Compare(a, b) })
		found, spent := afterUse(t, one...)
		require.False(t, spent, seed)
		require.Empty(t, found, seed)
		all = append(all, one...)
	}
	found, spent := afterUse(t, all...)
	require.False(t, spent)
	require.Empty(t, found)
}

// Without the rule of leavesNothing these would leave another database, a number
// of a database, a channel of an ended bubble, a password-like state.
func TestRedisThatMayNotBeAsNewIsNotHandedOn(t *testing.T) {
	for _, line := range []string{"SELECT 1", "SWAPDB 0 1", "BLPOP none 0.01", "XADD s * a b", "NOSUCH", "INFO", "XREAD BLOCK 5 STREAMS s $", "EVAL_RO x 0"} {
		_, spent := afterUse(t, strings.Fields(line))
		require.True(t, spent, line)
	}
	_, spent := afterUse(t, []string{"EVAL", "return redis.call('SELECT', 1)", "0"})
	require.True(t, spent, "from a script")
}

func TestRedisWithASubscriberIsNotHandedOn(t *testing.T) {
	for _, line := range []string{"SUBSCRIBE news", "PSUBSCRIBE n*"} {
		e, err := newEmbedded()
		require.NoError(t, err)
		synctest.Test(t, func(*testing.T) {
			e.start()
			l, server := e.newLink().(*embeddedLink), e.mini.Server()
			_, _ = l.execute(strings.Fields(line))
			e.close()
			require.True(t, e.spent, line)
			server.Dispatch(l.peer, []string{"UNSUBSCRIBE"})
			server.Dispatch(l.peer, []string{"PUNSUBSCRIBE"})
		})
	}
}

// A lock that blocks in Redis leaves a channel of its bubble in the server.
func TestWorldsOfALockThatBlocksInRedisDoNotMeet(t *testing.T) {
	for range 5 {
		_, err := Run(t, Config{New: newBlocking, Horizon: time.Second}, func(w *World) { w.Client("A").TryLock() })
		require.NoError(t, err)
	}
}

type blocking struct{ rdb redis.UniversalClient }

func newBlocking(rdb redis.UniversalClient, _ string, _ time.Duration) (Locker, error) {
	return blocking{rdb}, nil
}

func (b blocking) TryLock(ctx context.Context) (bool, error) {
	return true, b.rdb.Do(ctx, "BLPOP", "queue", "0.01").Err()
}
func (b blocking) Lock(ctx context.Context) error   { return nil }
func (b blocking) Unlock(ctx context.Context) error { return nil }

// Each world finds the scripts it was given, and no others.
func TestScriptsOfAnEarlierWorldAreUnknown(t *testing.T) {
	exists := func(config Config) (reply string) {
		config.New = newBlocking
		trace, err := Run(t, config, func(w *World) {
			w.Client("A").StartRun("SCRIPT", "EXISTS", compile("return 1").sha, compile("return 2").sha).Wait()
			w.Client("B").StartRun("EVAL", "return 2", "0").Wait()
		})
		require.NoError(t, err)
		for _, e := range trace.Events {
			if e.Kind == Executed && e.Command[0] == "SCRIPT" {
				return e.Reply
			}
		}
		return "no reply"
	}
	for range 3 {
		require.Equal(t, "[1 0]", exists(Config{Scripts: []string{"return 1"}}))
		require.Equal(t, "[0 0]", exists(Config{}))
		require.Equal(t, "[1 1]", exists(Config{Scripts: []string{"return 1", "return 2"}}))
		require.Equal(t, "[0 1]", exists(Config{Scripts: []string{"return 2"}}))
	}
}
