package world

import (
	"strings"
	"testing"
	"testing/synctest"
)

// dice turns the fuzzer's bytes into choices; when they are used up, the first.
type dice struct{ bytes []byte }

func (d *dice) roll(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b) % n
}

func (d *dice) pick(from []string) string { return from[d.roll(len(from))] }

// A generated script works on these. Some are of the wrong type wherever they
// come to stand.
var (
	fuzzKeys     = []string{"'s'", "'n'", "'h'", "'l'", "'set'", "'z'", "'none'", "KEYS[1]", "KEYS[2]", "ARGV[1]", "a", "b"}
	fuzzValues   = []string{"nil", "false", "true", "0", "-1", "2.5", "1e20", "'text'", "''", "'1'", "'\\0\\r\\n'", "{}", "{1, 'x', {2}}", "{err = 'BAD x'}", "{ok = 'FINE'}", "KEYS", "ARGV"}
	fuzzCommands = []string{
		"'GET', %k", "'SET', %k, %v", "'SET', %k, %v, 'NX', 'PX', 500", "'DEL', %k", "'INCR', %k", "'HSET', %k, 'f', %v", "'HGET', %k, 'f'", "'HGETALL', %k", "'HEXISTS', %k, %v",
		"'HINCRBY', %k, 'f', 2", "'HDEL', %k, 'f'", "'LPUSH', %k, %v", "'LRANGE', %k, 0, -1", "'ZADD', %k, 1.5, %v", "'ZRANGE', %k, 0, -1, 'WITHSCORES'", "'ZPOPMIN', %k", "'ZSCORE', %k, %v",
		"'PEXPIRE', %k, 700", "'PTTL', %k", "'EXISTS', %k", "'TYPE', %k", "'TIME'", "'PUBLISH', 'news', %v", "'SELECT', 1", "'MULTI'", "'NOSUCH', %k", "'ECHO', %v", "'PERSIST', %k", "%v", "'SADD', %k, %v", "'PING'",
	}
	fuzzWraps = []string{"%e", "(%e)", "tostring(%e)", "tonumber(%e)", "type(%e)", "#%e", "not %e", "%e .. ''", "%e + 1", "%e == false", "(%e)[1]", "(%e).err", "{%e, %e}", "string.format('%%s', %e)", "math.max(1, %e)",
		"redis.status_reply(%e)", "redis.error_reply(%e)", "redis.sha1hex(%e)", "cjson.encode(%e)", "cjson.decode(%e)", "unpack({%e, %e})", "next(%e)", "select('#', %e)", "f(%e)", "-%e"}
	fuzzStatements = []string{"a = %e", "b = %e", "local c = %e", "%call", "return %e", "if %e then\n%s\nelse\n%s\nend", "for i = 1, 3 do\n%s\nend", "for _, v in ipairs(%e) do\n%s\nend", "table.insert(a, %e)",
		"error(%e)", "KEYS[1] = %e", "f = function(x)\n%s\nreturn x\nend", "assert(%e)", "for k, v in pairs(%e) do a = k end", "x = %e", "string.format = %e"}
)

func (d *dice) call() string {
	command := d.pick(fuzzCommands)
	for strings.Contains(command, "%k") {
		command = strings.Replace(command, "%k", d.pick(fuzzKeys), 1)
	}
	for strings.Contains(command, "%v") {
		command = strings.Replace(command, "%v", d.pick(append(fuzzValues, "a", "b")), 1)
	}
	return "redis." + d.pick([]string{"call", "call", "pcall"}) + "(" + command + ")"
}

func (d *dice) expression(depth int) string {
	if depth == 0 || d.roll(3) == 0 {
		if d.roll(2) == 0 {
			return d.call()
		}
		return d.pick(append(fuzzValues, "a", "b"))
	}
	wrap := d.pick(fuzzWraps)
	for strings.Contains(wrap, "%e") {
		wrap = strings.Replace(wrap, "%e", d.expression(depth-1), 1)
	}
	return strings.ReplaceAll(wrap, "%%", "%")
}

func (d *dice) statement(depth int) string {
	s := d.pick(fuzzStatements)
	if depth == 0 {
		s = d.pick(fuzzStatements[:4])
	}
	s = strings.ReplaceAll(s, "%call", d.call())
	for strings.Contains(s, "%e") {
		s = strings.Replace(s, "%e", d.expression(2), 1)
	}
	for strings.Contains(s, "%s\n") {
		s = strings.Replace(s, "%s\n", d.statement(depth-1)+"\n", 1)
	}
	if strings.HasPrefix(s, "return") {
		return "do " + s + " end"
	}
	return s
}

func (d *dice) script() string {
	lines := []string{"local a, b = ARGV[1], {}", "local f = function(x) return x end"}
	for range 1 + d.roll(6) {
		lines = append(lines, d.statement(2))
	}
	return strings.Join(append(lines, "return "+d.expression(2)), "\n")
}

// FuzzScripts runs generated scripts in both. None of them loops forever.
func FuzzScripts(f *testing.F) {
	for i := range 500 {
		seed := make([]byte, 80)
		for j := range seed {
			seed[j] = byte((i+3)*(j+7)*2654435761>>7 ^ i*j)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		d := &dice{bytes: choices}
		source := d.script()
		if !compile(source).tame {
			return // miniredis's own anyway
		}
		synctest.Test(t, func(t *testing.T) {
			w := newTwin(t)
			defer w.close()
			w.seed()
			w.script(source, []string{"lock", "h"}, "5", "x")
		})
	})
}
