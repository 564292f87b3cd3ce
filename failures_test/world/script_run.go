package world

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// scripts answers EVAL and EVALSHA in place of miniredis, which makes a new Lua state for
// each and takes a tenth of a millisecond: a search is two and a half times as fast with
// it. Its answers are the same, byte for byte. What it is not sure of it leaves to
// miniredis: a script that is not tame, arguments that make no sense, a connection with a
// transaction. Which scripts the server knows is miniredis's own affair too: only those
// are run here that it has certainly stored and not forgotten.
type scripts struct {
	redis *embedded
	known map[string]*script // by SHA1
}

// answer runs the script that the command names and writes the reply, or returns false:
// then nothing has happened.
func (s *scripts) answer(l *embeddedLink, name string, args []string) bool {
	if len(args) < 3 || l.special {
		return false
	}
	var known *script
	switch name {
	case "EVALSHA":
		known = s.known[args[1]]
	case "EVAL":
		known = s.known[compile(args[1]).sha]
	}
	if known == nil {
		return false
	}
	count, err := strconv.Atoi(args[2])
	if err != nil || count < 0 || count > len(args)-3 {
		return false
	}
	state := luaStates.Get().(*luaState)
	if state.run(s.redis.mini.Server(), l.peer, known, args[3:3+count], args[3+count:]) {
		luaStates.Put(state)
	}
	return true
}

// learn notes what a command that miniredis answered did to the scripts it knows. A
// script that is unknown here costs time, one that is known here and not there would be a
// wrong answer.
func (s *scripts) learn(l *embeddedLink, name string, args []string, raw []byte) {
	switch name {
	case "MULTI", "SELECT", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE":
		l.special = true
	case "EVAL":
		s.redis.strange = true
		if !l.special && len(raw) > 0 && raw[0] != '-' {
			s.remember(args[1])
		}
	case "SCRIPT":
		s.redis.strange = true
		if !l.special && len(args) == 3 && strings.EqualFold(args[1], "load") && bytes.HasPrefix(raw, []byte("$")) {
			s.remember(args[2])
			return
		}
		if len(args) > 1 && !strings.EqualFold(args[1], "exists") {
			clear(s.known)
		}
	case "EXEC":
		s.redis.strange = true
		clear(s.known)
	}
}

func (s *scripts) remember(source string) {
	if script := compile(source); script.tame {
		s.known[script.sha] = script
	}
}

// luaState is a Lua state that runs one tame script after another.
type luaState struct {
	l      *lua.LState
	server *server.Server
	peer   *server.Peer // on which the script sends its commands
	sha    string
	reply  bytes.Buffer // of a command that the script sends
}

var luaStates = sync.Pool{New: func() any {
	s := &luaState{l: lua.NewState(lua.Options{SkipOpenLibs: true})}
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		s.l.Push(s.l.NewFunction(open))
		s.l.Call(0, 0)
	}
	s.l.SetGlobal("redis", s.l.SetFuncs(s.l.NewTable(), map[string]lua.LGFunction{
		"call":  func(*lua.LState) int { return s.command(s.fail) },
		"pcall": func(*lua.LState) int { return s.command(s.tell) },
	}))
	s.l.SetTop(0)
	return s
}}

// run runs a tame script and writes its reply. It returns false when the script failed:
// it was stopped halfway, and nobody uses the state again.
func (s *luaState) run(to *server.Server, client *server.Peer, script *script, keys, argv []string) bool {
	s.server, s.sha, s.peer = to, script.sha, server.NewPeer(bufio.NewWriter(&s.reply))
	s.l.SetGlobal("KEYS", s.list(keys))
	s.l.SetGlobal("ARGV", s.list(argv))
	s.l.Push(s.l.NewFunctionFromProto(script.proto))
	if err := s.l.PCall(0, lua.MultRet, nil); err != nil {
		client.WriteError(fmt.Sprintf("ERR Error compiling script (new function): %s", err))
		return false
	}
	writeReply(client, s.l.Get(1))
	s.l.SetTop(0)
	return true
}

func (s *luaState) list(items []string) *lua.LTable {
	t := s.l.CreateTable(len(items), 0)
	for _, item := range items {
		t.Append(lua.LString(item))
	}
	return t
}

// notInScripts are commands that no script may send.
var notInScripts = []string{
	"AUTH", "DISCARD", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXEC", "HELLO", "MULTI", "PSUBSCRIBE", "PUNSUBSCRIBE", "QUIT", "SCRIPT",
	"SUBSCRIBE", "UNSUBSCRIBE", "UNWATCH", "WATCH",
}

// command sends the command that is on the stack. An error that Redis answers goes to
// refuse. Nobody else sends commands meanwhile: the world runs one at a time.
func (s *luaState) command(refuse func(string) int) int {
	args := make([]string, s.l.GetTop())
	if len(args) == 0 {
		return s.raise("Please specify at least one argument for this redis lib call script: %s, &c.", s.sha)
	}
	for i := range args {
		switch a := s.l.Get(i + 1).(type) {
		case lua.LNumber:
			args[i] = a.String()
		case lua.LString:
			args[i] = string(a)
		default:
			return s.raise("Lua redis lib command arguments must be strings or integers script: %s, &c.", s.sha)
		}
	}
	if slices.Contains(notInScripts, strings.ToUpper(args[0])) {
		return refuse("This Redis command is not allowed from script script: " + s.sha + ", &c")
	}
	s.reply.Reset()
	s.server.Dispatch(s.peer, args)
	s.peer.Flush()
	reply, err := server.ParseReply(bufio.NewReader(&s.reply))
	if err != nil {
		return refuse(err.Error())
	}
	s.l.Push(s.value(reply))
	return 1
}

func (s *luaState) raise(format string, args ...any) int {
	s.l.Error(lua.LString(fmt.Sprintf(format, args...)), 1)
	return 0
}

const unknownCommand = "ERR unknown command"

// fail ends the script with an error of Redis.
func (s *luaState) fail(text string) int {
	if strings.Contains(text, unknownCommand) {
		return s.raise("Unknown Redis command called from script script: %s, &c.", s.sha)
	}
	return s.raise("%s", text)
}

// tell gives an error of Redis to the script as a value.
func (s *luaState) tell(text string) int {
	if strings.Contains(text, unknownCommand) {
		text = "ERR Unknown Redis command called from script"
	}
	s.l.Push(tableWith("err", text))
	return 1
}

// value is a reply of Redis in Lua.
func (s *luaState) value(reply any) lua.LValue {
	switch r := reply.(type) {
	case nil:
		return lua.LFalse
	case int:
		return lua.LNumber(r)
	case server.Simple:
		return tableWith("ok", string(r))
	case []any:
		t := s.l.NewTable()
		for _, item := range r {
			t.Append(s.value(item))
		}
		return t
	}
	return lua.LString(reply.(string))
}

func tableWith(field, text string) *lua.LTable {
	t := &lua.LTable{}
	t.RawSetString(field, lua.LString(text))
	return t
}

// writeReply is a script's result as a reply of Redis.
func writeReply(c *server.Peer, value lua.LValue) {
	switch v := value.(type) {
	case lua.LBool:
		if v {
			c.WriteInt(1)
		} else {
			c.WriteNull()
		}
	case lua.LNumber:
		c.WriteInt(int(v))
	case lua.LString:
		c.WriteBulk(string(v))
	case *lua.LTable:
		writeTable(c, v)
	default:
		c.WriteNull()
	}
}

func writeTable(c *server.Peer, t *lua.LTable) {
	if text := t.RawGetString("err"); text != lua.LNil {
		c.WriteError(text.String())
		return
	}
	if text := t.RawGetString("ok"); text != lua.LNil {
		c.WriteInline(text.String())
		return
	}
	count := 0
	for t.RawGetInt(count+1) != lua.LNil {
		count++
	}
	c.WriteLen(count)
	for i := range count {
		writeReply(c, t.RawGetInt(i+1))
	}
}
