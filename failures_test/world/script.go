package world

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// script is a compiled Lua script.
type script struct {
	source, sha string
	proto       *lua.FunctionProto
	// pure reports whether the script leaves nothing behind in a Lua state, whatever its
	// keys and arguments are. Only a pure script runs in a state that others have used
	// before it; miniredis, which makes a state for each, runs all others.
	pure bool
}

var compiled, bySHA sync.Map // source → *script, SHA1 → *script

// compiledAs is the script with that SHA1, nil if nobody has compiled one.
func compiledAs(sha string) *script {
	known, _ := bySHA.Load(sha)
	s, _ := known.(*script)
	return s
}

// compile returns the script, the same one for the same source. One that does not
// compile is not pure.
func compile(source string) *script {
	if known, ok := compiled.Load(source); ok {
		return known.(*script)
	}
	sum := sha1.Sum([]byte(source))
	s := &script{source: source, sha: hex.EncodeToString(sum[:])}
	// The names are those that miniredis gives: they are part of error texts.
	if chunk, err := parse.Parse(strings.NewReader(source), "<string>"); err == nil {
		if s.proto, err = lua.Compile(chunk, ""); err == nil {
			s.pure = isPure(s.proto)
		}
	}
	bySHA.Store(s.sha, s)
	known, _ := compiled.LoadOrStore(source, s)
	return known.(*script)
}

// isPure reads the script's code, and that of the functions in it. A pure script writes
// no global, and of the globals it reads it uses only functions and what each run has for
// itself, KEYS and ARGV. A library's table never gets into its hands: each mention of one
// is followed at once by the name of a member, which takes the table's place.
func isPure(p *lua.FunctionProto) bool {
	for i, code := range p.Code {
		switch opcode(code) {
		case lua.OP_SETGLOBAL:
			return false
		case lua.OP_GETGLOBAL:
			name := string(p.Constants[code&0x3ffff].(lua.LString))
			if slices.Contains(globals, name) {
				continue
			}
			if i+1 == len(p.Code) || !slices.Contains(libraries[name], memberOf(p, register(code), p.Code[i+1])) {
				return false
			}
		}
	}
	for _, constant := range p.Constants {
		if name, ok := constant.(lua.LString); ok && strings.EqualFold(string(name), "SELECT") {
			return false // another database, for this script only
		}
	}
	return !slices.ContainsFunc(p.FunctionPrototypes, func(inner *lua.FunctionProto) bool { return !isPure(inner) })
}

// An instruction is an opcode of 6 bits, a register of 8 and two operands of 9: C,
// then B. An operand above 255 is a constant.
func opcode(code uint32) int   { return int(code >> 26) }
func register(code uint32) int { return int(code >> 18 & 0xff) }

// memberOf is the name that the instruction looks up in the table in that register, if
// what it finds takes the table's place.
func memberOf(p *lua.FunctionProto, table int, code uint32) string {
	b, c := int(code&0x1ff), int(code>>9&0x1ff)
	if opcode(code) != lua.OP_GETTABLEKS || register(code) != table || b != table || c < 0x100 {
		return ""
	}
	name, _ := p.Constants[c&0xff].(lua.LString)
	return string(name)
}

// What a pure script may mention: what the scripts of locks use.
var (
	globals   = []string{"KEYS", "ARGV", "error", "ipairs", "pairs", "tonumber", "tostring", "type", "unpack"}
	libraries = map[string][]string{
		"redis":  {"call", "pcall"},
		"table":  {"concat", "insert"},
		"string": {"find", "format", "len", "match", "sub"},
		"math":   {"abs", "ceil", "floor", "max", "min"},
	}
)
