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
	// pure reports whether the script cannot change the Lua state for later scripts. Pure scripts
	// run in a shared state. Others run in miniredis, which makes a new state for each.
	pure bool
}

var compiled sync.Map // SHA1 → *script

// compiledAs returns the compiled script with that SHA1, or nil.
func compiledAs(sha string) *script {
	known, _ := compiled.Load(sha)
	s, _ := known.(*script)
	return s
}

// compile returns the compiled script, always the same one for the same source. A script that does
// not compile is not pure.
func compile(source string) *script {
	sum := sha1.Sum([]byte(source))
	sha := hex.EncodeToString(sum[:])
	if known := compiledAs(sha); known != nil {
		return known
	}
	s := &script{source: source, sha: sha}
	// The chunk names are those of miniredis, because they appear in error texts.
	if chunk, err := parse.Parse(strings.NewReader(source), "<string>"); err == nil {
		if s.proto, err = lua.Compile(chunk, ""); err == nil {
			s.pure = isPure(s.proto)
		}
	}
	known, _ := compiled.LoadOrStore(sha, s)
	return known.(*script)
}

// isPure reports whether the code and its inner functions write no global, and read only functions,
// KEYS and ARGV, and members of libraries. The table of a library never becomes a value: each
// mention must be followed by the lookup of a member, which overwrites the register of the table.
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

// memberOf returns the name that the instruction looks up in the table in that register, if the
// result overwrites this register.
func memberOf(p *lua.FunctionProto, table int, code uint32) string {
	b, c := int(code&0x1ff), int(code>>9&0x1ff)
	if opcode(code) != lua.OP_GETTABLEKS || register(code) != table || b != table || c < 0x100 {
		return ""
	}
	name, _ := p.Constants[c&0xff].(lua.LString)
	return string(name)
}

// The names that a pure script may use: those in the scripts of locks.
var (
	globals   = []string{"KEYS", "ARGV", "error", "ipairs", "pairs", "tonumber", "tostring", "type", "unpack"}
	libraries = map[string][]string{
		"redis":  {"call", "pcall"},
		"table":  {"concat", "insert"},
		"string": {"find", "format", "len", "match", "sub"},
		"math":   {"abs", "ceil", "floor", "max", "min"},
	}
)
