package world

import (
	"crypto/sha1"
	"encoding/hex"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// script is a compiled Lua script.
type script struct {
	sha   string
	proto *lua.FunctionProto
	// tame says that the script can leave nothing behind in a Lua state, whatever
	// its keys and arguments are. Only a tame script runs in a state that others
	// have used before it.
	tame bool
}

var compiled sync.Map // source → *script

// compile returns the script, the same one for the same source. One that does not
// compile is not tame.
func compile(source string) *script {
	if known, ok := compiled.Load(source); ok {
		return known.(*script)
	}
	sum := sha1.Sum([]byte(source))
	s := &script{sha: hex.EncodeToString(sum[:])}
	// The names are those that miniredis gives: they are part of error texts.
	if chunk, err := parse.Parse(strings.NewReader(source), "<string>"); err == nil {
		if s.proto, err = lua.Compile(chunk, ""); err == nil {
			s.tame = isTame(s.proto)
		}
	}
	known, _ := compiled.LoadOrStore(source, s)
	return known.(*script)
}

// isTame reads the script's code, and that of the functions in it. A tame script
// writes no global, and of the globals it reads it uses only what cannot be
// changed: functions, numbers, and KEYS and ARGV, which each run has for itself. A
// library's table never gets into its hands: each mention of one is followed at
// once by the name of a member, which takes the table's place.
//
// What is missing from the lists makes a script wild, and so do functions that
// reach a state's inside (setfenv, getmetatable, coroutine.create), catch an error
// halfway (pcall) or use a common source of random numbers.
func isTame(p *lua.FunctionProto) bool {
	for i, code := range p.Code {
		switch opcode(code) {
		case lua.OP_SETGLOBAL:
			return false
		case lua.OP_GETGLOBAL:
			name := string(p.Constants[code&0x3ffff].(lua.LString))
			if globals[name] {
				continue
			}
			if i+1 == len(p.Code) || !libraries[name][memberOf(p, register(code), p.Code[i+1])] {
				return false
			}
		}
	}
	for _, inner := range p.FunctionPrototypes {
		if !isTame(inner) {
			return false
		}
	}
	return true
}

// An instruction is an opcode of 6 bits, a register of 8 and two operands of 9: C,
// then B. An operand above 255 is a constant.
func opcode(code uint32) int   { return int(code >> 26) }
func register(code uint32) int { return int(code >> 18 & 0xff) }

// memberOf is the name that the instruction looks up in the table in that
// register, if what it finds takes the table's place.
func memberOf(p *lua.FunctionProto, table int, code uint32) string {
	b, c := int(code&0x1ff), int(code>>9&0x1ff)
	if opcode(code) != lua.OP_GETTABLEKS || register(code) != table || b != table || c < 0x100 {
		return ""
	}
	name, _ := p.Constants[c&0xff].(lua.LString)
	return string(name)
}

// globals are what a tame script may mention on its own.
var globals = setOf("KEYS", "ARGV",
	"assert", "error", "ipairs", "next", "pairs", "rawequal", "select", "tonumber", "tostring", "type", "unpack")

// libraries are the members of libraries that a tame script may mention.
var libraries = map[string]map[string]bool{
	"redis":  redisMembers,
	"server": redisMembers,
	"cjson":  setOf("decode", "encode"),
	"table":  setOf("concat", "getn", "insert", "maxn", "remove", "sort"),
	"string": setOf("byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"),
	"math": setOf("abs", "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "deg", "exp", "floor", "fmod", "frexp",
		"huge", "ldexp", "log", "log10", "max", "min", "mod", "modf", "pi", "pow", "rad", "sin", "sinh", "sqrt", "tan", "tanh"),
}

var redisMembers = setOf("call", "pcall", "error_reply", "status_reply", "sha1hex", "log", "replicate_commands",
	"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING")

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}
