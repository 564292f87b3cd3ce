package world

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"

	"lockkata/failures_test/trace"
)

// twin is two embedded Redis servers that get the same commands at the same fake time. The first
// runs scripts in reused Lua states, the second leaves them to miniredis.
type twin struct {
	t               *testing.T
	pooled, own     *embeddedConn
	toPooled, toOwn *embeddedConn // they subscribe
}

func inTwin(t *testing.T, f func(*twin)) {
	miniredis.DumpMaxLineLen = 1 << 20
	synctest.Test(t, func(t *testing.T) {
		link := func() *embeddedConn {
			e, err := newEmbedded()
			require.NoError(t, err)
			return e.Connect().(*embeddedConn)
		}
		w := &twin{t: t, pooled: link(), own: link()}
		w.own.special = true
		w.toPooled, w.toOwn = w.pooled.redis.Connect().(*embeddedConn), w.own.redis.Connect().(*embeddedConn)
		for _, subscriber := range []*embeddedConn{w.toPooled, w.toOwn} {
			_, _ = subscriber.Execute([]string{"SUBSCRIBE", "news"})
			defer subscriber.redis.Close()
			defer unsubscribe(subscriber)
		}
		f(w)
	})
}

// both sends a command to both and requires the same reply, pushes and data. It returns the reply.
func (w *twin) both(args ...string) string {
	w.t.Helper()
	got, _ := w.pooled.Execute(args)
	want, _ := w.own.Execute(args)
	require.Equal(w.t, pointer.ReplaceAllString(string(want), "0x"), pointer.ReplaceAllString(string(got), "0x"), "%q", args)
	require.Equal(w.t, string(w.toOwn.Pushed()), string(w.toPooled.Pushed()), "pushes after %q", args)
	require.Equal(w.t, dump(w.own.redis), dump(w.pooled.redis), "data after %q", args)
	return string(got)
}

// pointer matches the address of a table or function, which differs in each run.
var pointer = regexp.MustCompile("0x[0-9a-f]+")

// script runs a script in the usual ways: it loads it, runs it by its SHA1, and runs it by its
// source.
func (w *twin) script(source string, keys []string, argv ...string) {
	w.t.Helper()
	rest := append(append([]string{strconv.Itoa(len(keys))}, keys...), argv...)
	w.both("SCRIPT", "LOAD", source)
	w.both(append([]string{"EVALSHA", compile(source).sha}, rest...)...)
	w.both(append([]string{"EVAL", source}, rest...)...)
}

// dump returns all data in a Redis that a command can see.
func dump(e *embedded) string {
	all := e.mini.Dump()
	for _, key := range e.mini.Keys() {
		all += fmt.Sprintln(key, e.mini.Type(key), e.mini.TTL(key))
	}
	return all
}

// seed fills both servers with one key of each type.
func (w *twin) seed() {
	for _, line := range []string{
		"FLUSHALL", "SET s text", "SET n 41 PX 5000", "HSET h f 1 g two", "RPUSH l a b c", "SADD set x", "ZADD z 1 one 2.5 two",
	} {
		w.both(strings.Fields(line)...)
	}
}

// pureScripts test how values are converted between Redis and Lua, and the text and effects of
// errors.
var pureScripts = []string{
	"return", "return nil", "return false", "return true", "return 1, 2", "return -1.9", "return 2^53", "return 'a\\0b\\r\\n\\255'", "return {}",
	"return {1, 2, 3.7, 'x', true, false, {4, {5}}}", "return {1, nil, 3}", "return {a = 1}", "return {err = 'BAD thing'}", "return {ok = 'FINE'}",
	"return {1, {ok = 'in'}, {err = 'BAD in'}}", "return {KEYS, ARGV, #KEYS, #ARGV}", "KEYS[1] = 'other' return KEYS", "return ARGV[1] + 1",
	"return redis.call('GET', 's')", "return redis.call('GET', 'none')", "return redis.call('SET', 's', 'x').ok", "return redis.call('SET', 's', 'x', 'NX')",
	"return redis.call('INCR', 'n') + 0.5", "return redis.call('HGETALL', 'h')", "return redis.call('HMGET', 'h', 'f', 'none', 'g')",
	"return redis.call('LPOP', 'none')", "return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')", "return redis.call('ZPOPMIN', 'none')[1] == nil",
	"return redis.call('TIME')", "local t = redis.call('TIME') return string.format('%.0f', t[1] * 1000000 + t[2])", "return redis.call('TYPE', 'h')",
	"return redis.call('set', 'float', 0.1) and redis.call('get', 'float')", "return redis.call('SET', 'big', 2^53) and redis.call('GET', 'big')",
	"for i = 1, 3 do redis.call('PUBLISH', 'news', i) end", "return redis.pcall('MULTI')", "return redis.call('SUBSCRIBE', 'news')", "return redis.call('DBSIZE')",
	"return redis.pcall('EVAL', 'return 1', 0)", "return redis.call('SCRIPT', 'FLUSH')", "return redis.pcall('EXEC')",
	"return redis.call('GET', 'h')", "return redis.pcall('GET', 'h')", "return redis.pcall('GET', 'h').err", "return {redis.pcall('GET', 'h')}",
	"return redis.call('NOSUCH', 'a', 'b')", "return redis.pcall('NOSUCH')", "return redis.call('GET')", "return redis.call('SET', 's', 'x', 'PX', 0)",
	"return redis.call()", "return redis.call({})", "return redis.pcall('GET', nil)", "return redis.call('SET', 's', true)", "return redis.call(1)",
	"redis.call('SET', 's', 'changed') redis.call('INCR', 'h')", "redis.call('DEL', 's') error('no')", "redis.call('SET', 's', 'x') local x = nil return x.y",
	"error('no', 0)", "error(nil)", "\n\nerror('third line')", "return 1 + nil", "return #nil", "local f f()", "return 'a' < 1",
	"local function f(n) error('deep') end local function g() f() end g()", "return tonumber('0x10')", "return tostring(1e100)", "return tonumber('z', 36)",
	"return string.format('%5.2f|%-5s|%05d|%x', 1.005, 'a', 42, 255)", "return ('key:{slot}:x'):match('{(.-)}')", "return ('abc'):sub(-2)",
	"local t = {1, 2} table.insert(t, 3) return table.concat(t, '-')", "local k = {} for n in pairs({b = 1, a = 2}) do k[#k + 1] = n end return k",
	"local s = 0 for _, v in ipairs({1, 2, nil, 4}) do s = s + v end return s", "return {unpack({1, 2, 3}, 2)}", "return math.floor(-1.5) + math.max(1, 2)",
	"local call = redis.call return call('GET', 's')", "local f = string.format return f('%s', 'x')", "local i = 0 while i < 1000 do i = i + 1 end return i",
}

// lockScripts returns the scripts of stage 6 and of some libraries.
func lockScripts(t *testing.T) (sources []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "stage6_reentrant_pubsub", "*.lua"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		sources = append(sources, string(source))
	}
	return append(sources,
		`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`,
		`if redis.call("exists", KEYS[1]) == 0 then redis.call("hincrby", KEYS[1], ARGV[1], 1) redis.call("pexpire", KEYS[1], ARGV[2]) return nil end return redis.call("pttl", KEYS[1])`,
		`for i, key in ipairs(KEYS) do if redis.pcall("HEXISTS", key, ARGV[1]) == 1 then redis.call("PEXPIRE", key, ARGV[2]) end end`)
}

func TestPureScriptsRunAsInMiniredis(t *testing.T) {
	inTwin(t, func(w *twin) {
		w.seed()
		for i, source := range pureScripts {
			require.True(t, compile(source).pure, source)
			if i%10 == 0 {
				w.seed()
			}
			w.script(source, []string{"s", "h", "k\x00\xff"}, "5", "", "\r\n")
			time.Sleep(37 * time.Millisecond)
		}
		for _, source := range lockScripts(t) {
			require.True(t, compile(source).pure, source)
			for _, keys := range [][]string{{"lock", "token"}, {"h", "n"}, {"s", "n"}, {"z", "h"}, {}} {
				for _, argv := range [][]string{{"f", "30000", "60000"}, {"news", "f"}, {"text", "1000"}, {"A", "1", "1000"}, {}} {
					w.seed()
					w.script(source, keys, argv...)
				}
			}
		}
	})
}

// impureScripts could change a Lua state, are invalid, or use names that the scripts of locks do
// not use.
var impureScripts = []string{
	"x = 1", "function f() end", "redis = nil", "string.format = nil", "local s = string s.x = 1", "local r = redis r.call = nil",
	"local r = redis local c = r.call r.call = nil", "return redis", "return redis.nosuch",
	"setmetatable(_G, {})", "getmetatable('').__index = nil", "pcall(error)", "return math.random()", "math.randomseed(1)", "table.insert(string, 1)",
	"rawset(_G, 'x', 1)", "setfenv(1, {})", "return cjson.encode({1})", "return redis.sha1hex('')", "return redis.error_reply('BAD')", "return (redis).call('GET', 's'), redis",
	"redis.call('SELECT', 1) return redis.call('GET', 's')", "local function f() x = 1 end return 1", "return 1 +", "return 'open", "goto", "x = = 1", "",
}

func TestImpureScriptsRunInMiniredis(t *testing.T) {
	inTwin(t, func(w *twin) {
		for _, source := range impureScripts {
			require.Equal(t, source == "", compile(source).pure, source)
			w.seed()
			w.script(source, []string{"s"}, "1")
			w.script("return {redis.call('GET', KEYS[1]), string.format('%d', 1), #ARGV}", []string{"s"}, "1")
		}
	})
}

func TestScriptFlushForgetsScripts(t *testing.T) {
	source := "return ARGV[1]"
	sha := compile(source).sha
	inTwin(t, func(w *twin) {
		run := func() string { return w.both("EVALSHA", sha, "0", "x") }
		for _, forget := range [][]string{{"SCRIPT", "FLUSH"}, {"script", "flush", "async"}} {
			require.Contains(t, run(), "NOSCRIPT")
			w.both("EVAL", source, "0", "x")
			require.Equal(t, "$1\r\nx\r\n", run())
			w.both(forget...)
			require.Contains(t, run(), "NOSCRIPT")
			w.both("SCRIPT", "LOAD", source)
			require.Equal(t, "$1\r\nx\r\n", run())
			w.both(forget...)
		}
		// LoadScript takes effect before the first command.
		for _, e := range []*embedded{w.pooled.redis, w.own.redis} {
			e.flushScripts()
			require.NoError(t, e.LoadScript(source))
		}
		require.Equal(t, "$1\r\nx\r\n", run())
		require.Equal(t, "*1\r\n:1\r\n", w.both("SCRIPT", "EXISTS", sha))
		w.both("SCRIPT", "FLUSH")
		require.Contains(t, run(), "NOSCRIPT")
		for _, e := range []*embedded{w.pooled.redis, w.own.redis} {
			require.NoError(t, e.LoadScript(source))
			e.flushScripts()
		}
		require.Contains(t, run(), "NOSCRIPT")
		// A queued SCRIPT FLUSH runs after a load on another connection.
		for _, transaction := range []Conn{w.pooled.redis.Connect(), w.own.redis.Connect()} {
			_, _ = transaction.Execute([]string{"MULTI"})
			_, _ = transaction.Execute([]string{"SCRIPT", "FLUSH"})
			defer func() { _, _ = transaction.Execute([]string{"DISCARD"}) }()
		}
		w.both("SCRIPT", "LOAD", source)
		require.Equal(t, "$1\r\nx\r\n", run())
	})
}

func TestUnusualScriptCallsRunInMiniredis(t *testing.T) {
	source := "return {#KEYS, #ARGV, redis.call('GET', 's')}"
	for _, before := range [][]string{{"PING"}, {"SELECT", "1"}, {"MULTI"}, {"SUBSCRIBE", "other"}, {"HELLO", "3"}} {
		inTwin(t, func(w *twin) {
			w.seed()
			w.both("SCRIPT", "LOAD", source)
			w.both(before...)
			for _, name := range []string{"EVAL", "eval", "EVALSHA", "EVALSHA_RO"} {
				what := source
				if strings.Contains(name, "SHA") {
					what = compile(source).sha
				}
				for _, rest := range [][]string{{}, {"0"}, {"1"}, {"-1"}, {"x"}, {"1", "k"}, {"01", "k", "a"}, {"99999999999999999999"}} {
					w.both(append([]string{name, what}, rest...)...)
				}
			}
			if before[0] == "MULTI" {
				w.both("EXEC")
			}
			unsubscribe(w.pooled)
			unsubscribe(w.own)
		})
	}
}

// The second of two refused commands shows whether the first counted as a write.
func TestFullMemoryRefusesScriptsAsInMiniredis(t *testing.T) {
	inTwin(t, func(w *twin) {
		w.seed()
		for _, e := range []*embedded{w.pooled.redis, w.own.redis} {
			require.NoError(t, e.Suffer(trace.MemoryFull, 0))
		}
		for _, source := range []string{
			"return redis.call('SET', 's', 1)", "redis.call('DEL', 's') return redis.call('SET', 's', 1)", "redis.call('PUBLISH', 'news', 1) return redis.call('SET', 's', 1)",
			"return redis.pcall('SET', 's', 1)", "return redis.call('GET', 's')",
		} {
			w.script(source, nil)
		}
	})
}
