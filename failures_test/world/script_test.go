package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tameScripts are one question each: how a value goes from Redis to Lua and back,
// and what an error says and leaves.
var tameScripts = []string{
	// Results.
	"", "return", "return nil", "return false", "return true", "return 0", "return 1, 2", "return -1.9", "return 3.999999",
	"return 1e15", "return 2^53", "return 2^63", "return -2^63", "return 2^64", "return 0/0", "return 1/0", "return -1/0", "return math.huge",
	"return ''", "return 'a\\0b\\r\\n\\255'", "return {}", "return {1, 2, 3.7, 'x', true, false, {4, {5}}}", "return {1, nil, 3}",
	"return {nil, 2}", "return {a = 1}", "return {1, 2, a = 3}", "return {false}", "return {{}, {{}}}", "return {[1] = 'a', [3] = 'c'}",
	"return {err = 'BAD thing'}", "return {ok = 'FINE'}", "return {err = 1}", "return {ok = true}", "return {err = false}", "return {err = {}} == nil",
	"return {ok = 'a\\r\\nb'}", "return {err = 'a\\r\\nb'}", "return {1, {ok = 'in'}, {err = 'BAD in'}}", "return {err = 'e', ok = 'o', 1}",
	"return redis.error_reply('BAD thing')", "return redis.error_reply('short')", "return redis.error_reply('-BAD thing')", "return redis.error_reply('')",
	"return redis.error_reply('-')", "return redis.error_reply(' x')", "return redis.error_reply(1)", "return redis.error_reply()",
	"return redis.status_reply('FINE')", "return redis.status_reply('')", "return redis.status_reply({})", "return redis.error_reply('X y').err",
	"local t = {} for i = 1, 3000 do t[i] = i end return t", "local t = {} for i = 1, 200 do t[i] = ('x'):rep(i) end return t",
	"return ('x'):rep(20000)",
	// Keys and arguments.
	"return {KEYS, ARGV, #KEYS, #ARGV}", "return KEYS[3]", "return {KEYS[1], ARGV[9]}", "KEYS[1] = 'other' return KEYS", "ARGV.x = 1 KEYS[9] = 2 return KEYS[9]",
	"table.insert(KEYS, 'more') return KEYS", "return type(KEYS) .. type(ARGV[1])", "return tonumber(ARGV[1]) + 1", "return ARGV[1] + 1", "return next(ARGV)",
	// Replies in Lua.
	"return redis.call('GET', 's')", "return redis.call('GET', 'none')", "return type(redis.call('GET', 'none'))", "return redis.call('SET', 's', 'x').ok",
	"return redis.call('SET', 's', 'x')", "return redis.call('SET', 's', 'x', 'NX')", "return redis.call('INCR', 'n') + 0.5", "return redis.call('PTTL', 'n')",
	"return redis.call('HGETALL', 'h')", "return redis.call('HMGET', 'h', 'f', 'none', 'g')", "return redis.call('HMGET', 'h', 'none')[1] == false",
	"return redis.call('LRANGE', 'l', 0, -1)", "return #redis.call('LRANGE', 'none', 0, -1)", "return redis.call('LPOP', 'none')",
	"return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')", "return tonumber(redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')[4])",
	"return redis.call('ZPOPMIN', 'z')", "return redis.call('ZPOPMIN', 'none')[1] == nil", "local m = redis.call('ZPOPMIN', 'z') return {m[1], tonumber(m[2]), #m}",
	"return redis.call('ZSCORE', 'z', 'two')", "return redis.call('ZSCORE', 'z', 'none')", "return redis.call('ZRANK', 'z', 'two')", "return redis.call('ZADD', 'z', 'GT', 'CH', 9, 'one')",
	"return redis.call('TIME')", "local t = redis.call('TIME') return string.format('%.0f', t[1] * 1000000 + t[2])", "return redis.call('PEXPIRETIME', 'n')",
	"return redis.call('EXISTS', 's', 'n', 'none')", "return redis.call('TYPE', 'h')", "return redis.call('TYPE', 'h').ok", "return redis.call('KEYS', 's*')",
	"return redis.call('SCAN', 0)", "return redis.call('SET', 'bin', 'a\\0b\\255\\r\\n') and redis.call('GET', 'bin')", "return redis.call('STRLEN', 'bin')",
	"return redis.call('set', 'float', 0.1) and redis.call('get', 'float')", "return redis.call('SET', 'big', 2^53) and redis.call('GET', 'big')",
	"return redis.call('INCRBYFLOAT', 'n', 0.5)", "return redis.call('PING')", "return redis.call('ECHO', 'x')", "return redis.call('EXPIRE', 'none', 5)",
	"return redis.call('GEOPOS', 'none', 'a')", "return redis.call('XADD', 'stream', '1-1', 'a', 'b')", "return redis.call('XRANGE', 'stream', '-', '+')",
	"return redis.call('PUBLISH', 'news', 'hello')", "return redis.call('PUBLISH', 'nobody', 'hello')", "for i = 1, 3 do redis.call('PUBLISH', 'news', i) end",
	"return redis.call('OBJECT', 'ENCODING', 's')", "return redis.call('PUBSUB', 'NUMSUB', 'news')", "return redis.call('DBSIZE')",
	// Other databases, and what a script may not do.
	"redis.call('SELECT', 1) redis.call('SET', 'other', 1) return redis.call('GET', 's')", "redis.call('SELECT', 1) return redis.pcall('GET', 's')", "return redis.call('DBSIZE')",
	"return redis.call('MULTI')", "return redis.pcall('MULTI')", "return redis.pcall('SUBSCRIBE', 'news')", "return redis.pcall('EVAL', 'return 1', 0)", "return redis.call('SCRIPT', 'FLUSH')",
	"return redis.pcall('EXEC')", "return redis.pcall('DISCARD')", "return redis.pcall('AUTH', 'x')", "return redis.pcall('HELLO', 3)", "return redis.pcall('HELLO', 2)", "return redis.call('HGETALL', 'h')",
	"return redis.call('CLIENT', 'SETNAME', 'x')", "return redis.call('CLIENT', 'GETNAME')", "return redis.pcall('QUIT')", "return redis.call('GET', 's')",
	"return redis.pcall('WATCH')", "return redis.pcall('EVAL_RO')",
	// Errors of Redis.
	"return redis.call('GET', 'h')", "return redis.pcall('GET', 'h')", "return redis.pcall('GET', 'h').err", "return {redis.pcall('GET', 'h')}", "return redis.call('HGET', 's', 'f')",
	"return redis.call('NOSUCH', 'a', 'b')", "return redis.pcall('NOSUCH')", "return redis.call('GET')", "return redis.pcall('GET')", "return redis.call('INCR', 's')",
	"return redis.pcall('INCR', 's')['err']", "return redis.call('SET', 's', 'x', 'PX', 0)", "return redis.pcall('')", "return redis.call('')",
	"return redis.call()", "return redis.pcall()", "return redis.call({})", "return redis.pcall('GET', nil)", "return redis.call('SET', 's', true)", "return redis.call(1)",
	// Writes, then an error: what was written stays.
	"redis.call('SET', 's', 'changed') redis.call('INCR', 'h')", "redis.call('DEL', 's') error('no')", "redis.call('SET', 's', 'changed', 'PX', 100) local x = nil return x.y",
	"redis.call('PUBLISH', 'news', 'before') error({})  ",
	// Errors of Lua: messages, lines and traces.
	"error('no')", "error('no', 0)", "error('no', 2)", "error()", "error(nil)", "error(7)", "\n\nerror('third line')", "assert(false)", "assert(nil, 'because')", "return assert(5, 'no')",
	"return 1 + nil", "return {} .. 'x'", "return #nil", "local t = {} t.x.y = 1", "local f f()", "return KEYS.x.y", "return ('x').y.z", "return 'a' < 1", "return {} < {}",
	"local function f(n) error('deep') end local function g() f() end g()", "local function f(n) return f(n + 1) end f(0 / 0 == 0 and 1 or {})",
	"local function f(n) return 1 + f(n + 1) end return f(1)", "return redis.call('GET', unpack({}, 1, 9000))", "local function down(n) if n == 0 then return redis.call('GET', 'h') end return down(n - 1) end return down(30)",
	"local t = {3, 1, 2} table.sort(t, function(a, b) return a.x < b.x end)", "return string.rep()", "return tonumber()", "return ('x'):find('[')", "for i = 'a', 2 do end", "return math.max()",
	// What Lua can.
	"return tonumber('0x10')", "return tonumber('1e3')", "return tonumber(' 5 ')", "return tonumber('z', 36)", "return tonumber('nothing') == nil", "return tostring(1e100)", "return tostring(-0)",
	"return tostring(0.1)", "return tostring(12345678901234567890)", "return string.format('%.0f', 1763700000123456)", "return string.format('%d', 3.0)", "return string.format('%5.2f|%-5s|%05d|%x|%q', 1.005, 'a', 42, 255, 'q\"')",
	"return string.format('%s %s', nil, true)", "return string.format('%d', 'x')", "return ('a,b,,c'):gsub(',', ';')", "local t = {} for w in ('a b c'):gmatch('%a') do t[#t + 1] = w end return t",
	"return ('key:{slot}:x'):match('{(.-)}')", "return ('abc'):sub(-2)", "return ('abc'):byte(1, -1)", "return {('abc'):byte(1, -1)}", "return string.char(0, 255)", "return ('AbC'):lower() .. ('AbC'):upper() .. ('abc'):reverse()",
	"local t = {3, 1, 2} table.sort(t) return t", "local t = {1, 2, 3} table.remove(t, 1) return table.concat(t, '-')", "local t = {b = 1, a = 2, c = 3} local k = {} for n in pairs(t) do k[#k + 1] = n end return k",
	"local s = 0 for _, v in ipairs({1, 2, nil, 4}) do s = s + v end return s", "return select('#', 1, nil, nil)", "return {select(2, 'a', 'b', 'c')}", "return {unpack({1, 2, 3}, 2)}", "return math.floor(-1.5) + math.ceil(1.2) + math.fmod(7, 3) + math.abs(-1)",
	"local function counter() local n = 0 return function() n = n + 1 return n end end local a, b = counter(), counter() a() a() return {a(), b()}", "local a = {} for i = 1, 3 do a[i] = function() return i end end return {a[1](), a[2](), a[3]()}",
	"return (function(...) return {...} end)(1, 'b', false)", "local call = redis.call return call('GET', 's')", "local f = string.format return f('%s', 'x')", "return server.call('GET', 's')", "return redis.LOG_WARNING", "return redis.log(redis.LOG_NOTICE, 'x')",
	"return redis.log('x')", "return redis.sha1hex('')", "return redis.sha1hex('a', 'b')", "return redis.sha1hex(1)", "return redis.sha1hex()", "return redis.replicate_commands()", "return rawequal(KEYS, KEYS)", "return type(redis.call)",
	"local i = 0 while true do i = i + 1 if i > 1000 then break end end return i", "local i = 0 repeat i = i + 1 until i == 10 return i", "return 7 % 3 + 2 ^ 10 - 8 / 4", "return not nil and 'yes' or 'no'", "return 'a' .. 1 .. 2.5", "return #'a\\0b'",
	// JSON.
	"return cjson.encode({1, 'a', true})", "return cjson.encode({a = 1})", "return cjson.encode({})", "return cjson.decode('[1, 2.5, \"x\", null, true]')", "return cjson.decode('{\"a\": {\"b\": [7]}}').a.b[1]", "return cjson.decode('not json')",
	"return {cjson.decode('not json')}", "return cjson.encode()", "return cjson.decode(1, 2)", "local t = {} t.t = t return {cjson.encode(t)}", "return cjson.encode(redis.call('HGETALL', 'h'))",
}

// wildScripts could leave something in a Lua state, or do not compile: they are
// miniredis's own.
var wildScripts = []string{
	"x = 1", "return x", "KEYS = {} return 1", "ARGV = nil", "redis = nil", "redis.call = nil", "string.format = nil", "local s = string s.format = nil", "local r = redis return r.call('GET', 's')",
	"_G.x = 1", "return #_G", "rawset(_G, 'x', 1)", "getmetatable('').__index = nil", "setmetatable({}, {__index = redis})", "setfenv(1, {})", "return getfenv(1)", "function f() end", "local function f() y = 2 end f()",
	"return pcall(error, 'x')", "return {pcall(redis.call, 'GET', 'h')}", "return xpcall(error, tostring)", "return coroutine.wrap(function() return 1 end)()", "return loadstring('x = 1')()", "return type(load)", "return dofile('x')",
	"return require('json')", "module('x')", "return package.loaded", "return os.clock()", "return os.time()", "return type(debug)", "return math.random() < 2", "math.randomseed(1)", "return redis.setresp(3)", "redis.setresp(3) return redis.call('HGETALL', 'h')",
	"return redis.set_repl(1)", "return redis.breakpoint", "return redis['ca' .. 'll']('GET', 's')", "local t = {redis} return #t", "return #redis", "return redis:call('GET')", "for k in pairs(string) do end return 1", "return cmsgpack", "return bit.band(1, 1)",
	"return string.dump(function() end) ~= nil", "local t = KEYS[1] and redis or string return type(t.call)", "return collectgarbage('count') > 0", "return type(newproxy)", "return (redis).call('GET', 's'), redis",
	"return", "return 1 +", "local", "if x then", "return 'open", "goto", "return 1 return 2", "x = = 1", "-- only this", "return {", "end", "\\",
}

func TestTameScriptsRunAsInMiniredis(t *testing.T) {
	inTwin(t, func(w *twin) {
		w.seed()
		for i, source := range tameScripts {
			require.True(t, compile(source).tame, source)
			if i%10 == 0 {
				w.seed()
			}
			w.script(source, []string{"s", "h", "k\x00\xff"}, "5", "", "\r\n")
			w.script(source, nil)
			time.Sleep(37 * time.Millisecond)
		}
	})
}

func TestWildScriptsAreLeftToMiniredis(t *testing.T) {
	inTwin(t, func(w *twin) {
		for _, source := range wildScripts {
			if source != "return" && source != "-- only this" {
				require.False(t, compile(source).tame, source)
			}
			w.seed()
			w.script(source, []string{"s"}, "1")
			w.script("return {redis.call('GET', KEYS[1]), string.format('%d', 1), #ARGV}", []string{"s"}, "1")
		}
	})
}

// A script that Redis has forgotten is forgotten here too.
func TestScriptsAreKnownAsLongAsRedisKnowsThem(t *testing.T) {
	source := "return ARGV[1]"
	sha := compile(source).sha
	inTwin(t, func(w *twin) {
		run := func() string { return w.both("EVALSHA", sha, "0", "x") }
		for _, forget := range [][]string{{"SCRIPT", "FLUSH"}, {"script", "flush", "async"}} {
			require.Contains(t, run(), "NOSCRIPT")
			w.both("EVAL", source, "0", "x")
			require.Equal(t, "$1\r\nx\r\n", run())
			require.Equal(t, ":1\r\n", w.both("SCRIPT", "EXISTS", sha)[4:])
			w.both(forget...)
			require.Contains(t, run(), "NOSCRIPT")
			w.both("SCRIPT", "LOAD", source)
			require.Equal(t, "$1\r\nx\r\n", run())
			require.Contains(t, w.both("EVALSHA", strings.ToUpper(sha), "0"), "NOSCRIPT")
			w.both(forget...)
		}
		for _, args := range [][]string{
			{"MULTI"}, {"SCRIPT", "LOAD", source}, {"EVALSHA", sha, "0", "in"}, {"EVAL", source, "0", "in"}, {"SCRIPT", "FLUSH"}, {"EXEC"}, {"EVALSHA", sha, "0"},
		} {
			w.both(args...)
		}
	})
}

// The flush that waits in a transaction comes after a load on another connection.
func TestScriptsAreForgottenByATransaction(t *testing.T) {
	source := "return ARGV[1]"
	inTwin(t, func(w *twin) {
		other, otherOwn := w.pooled.redis.newLink(), w.own.redis.newLink()
		both := func(args ...string) {
			_, _ = other.execute(args)
			_, _ = otherOwn.execute(args)
		}
		both("MULTI")
		both("SCRIPT", "FLUSH")
		w.both("SCRIPT", "LOAD", source)
		require.Equal(t, "$1\r\nx\r\n", w.both("EVALSHA", compile(source).sha, "0", "x"))
		both("EXEC")
		require.Contains(t, w.both("EVALSHA", compile(source).sha, "0", "x"), "NOSCRIPT")
	})
}

// Whatever is odd about the call itself is answered as before.
func TestOddCallsOfScriptsAreLeftToMiniredis(t *testing.T) {
	source := "return {#KEYS, #ARGV}"
	inTwin(t, func(w *twin) {
		w.both("SCRIPT", "LOAD", source)
		for _, name := range []string{"EVAL", "eval", "EvalSha", "EVALSHA_RO", "EVAL_RO"} {
			what := source
			if strings.Contains(strings.ToUpper(name), "SHA") {
				what = compile(source).sha
			}
			for _, rest := range [][]string{{}, {"0"}, {"1"}, {"-1"}, {"x"}, {"1.5"}, {"1", "k"}, {"+1", "k"}, {"01", "k", "a"}, {" 1", "k"}, {"2", "k", "k", "a"}, {"99999999999999999999"}} {
				w.both(append([]string{name, what}, rest...)...)
			}
			w.both(name)
		}
	})
}

// A database of its own, a transaction, a subscription: miniredis knows what they
// mean for a script.
func TestScriptsOfASpecialConnectionAreLeftToMiniredis(t *testing.T) {
	source := "return {redis.call('GET', 's'), redis.call('SET', 's', ARGV[1])}"
	for _, before := range [][]string{{"SELECT", "1"}, {"MULTI"}, {"SUBSCRIBE", "other"}, {"PSUBSCRIBE", "o*"}, {"HELLO", "3"}, {"CLIENT", "SETNAME", "me"}} {
		inTwin(t, func(w *twin) {
			w.seed()
			w.both("SCRIPT", "LOAD", source)
			w.both(before...)
			w.both("EVALSHA", compile(source).sha, "0", "x")
			w.both("EVAL", "return {1, false, redis.call('GET', 'none')}", "0")
			w.both("EVAL", "return {1, false, redis.call('GET', 'none')}", "0")
			if before[0] == "MULTI" {
				w.both("EXEC")
			}
			w.pooled.unsubscribe()
			w.own.unsubscribe()
		})
	}
}

// The second of two refused commands shows whether the first counted as written.
func TestFullMemoryRefusesScriptsAsInMiniredis(t *testing.T) {
	inTwin(t, func(w *twin) {
		w.seed()
		for _, e := range []*embedded{w.pooled.redis, w.own.redis} {
			require.NoError(t, e.fillMemory())
		}
		for _, source := range []string{
			"return redis.call('SET', 's', 1)", "redis.call('DEL', 's') return redis.call('SET', 's', 1)", "redis.call('PUBLISH', 'news', 1) return redis.call('SET', 's', 1)",
			"return redis.pcall('SET', 's', 1)", "return redis.call('GET', 's')",
		} {
			w.script(source, nil)
		}
	})
}

// BenchmarkEvalSHA is stage 6's acquire without a world around it, where the lock
// is free, and where somebody else holds it.
func BenchmarkEvalSHA(b *testing.B) {
	source, err := os.ReadFile(filepath.Join("..", "..", "stage6_reentrant_pubsub", "acquire.lua"))
	require.NoError(b, err)
	for name, special := range map[string]bool{"pooled": false, "miniredis": true} {
		for _, free := range []bool{true, false} {
			b.Run(name+map[bool]string{true: "/free", false: "/held"}[free], func(b *testing.B) {
				e, err := newEmbedded()
				require.NoError(b, err)
				e.start()
				defer e.close()
				l := e.newLink().(*embeddedLink)
				_, _ = l.execute([]string{"SCRIPT", "LOAD", string(source)})
				_, _ = l.execute([]string{"HSET", "lock", "other", "1"})
				l.special = special
				args := []string{"EVALSHA", compile(string(source)).sha, "2", "lock", "token", "me", "30000", "60000"}
				b.ReportAllocs()
				for b.Loop() {
					if free {
						_, _ = l.execute([]string{"DEL", "lock"})
					}
					_, _ = l.execute(args)
				}
			})
		}
	}
}
