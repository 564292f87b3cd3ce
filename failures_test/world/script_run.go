package world

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// luaState is a Lua state in which pure scripts run one after another.
type luaState struct {
	l      *lua.LState
	server *server.Server
	peer   *server.Peer // on which the script sends its commands
	sha    string
	reply  bytes.Buffer // of a command that the script sends
	reader *bufio.Reader
}

var luaStates = sync.Pool{New: func() any {
	s := &luaState{l: lua.NewState()}
	s.peer, s.reader = server.NewPeer(bufio.NewWriter(&s.reply)), bufio.NewReader(&s.reply)
	s.l.SetGlobal("redis", s.l.SetFuncs(s.l.NewTable(), map[string]lua.LGFunction{
		"call":  func(*lua.LState) int { return s.command(s.fail) },
		"pcall": func(*lua.LState) int { return s.command(s.returnError) },
	}))
	s.l.SetTop(0)
	return s
}}

// run runs a pure script on a server and writes its reply to a peer. It returns false if the script
// failed: the state must not be used again.
func (s *luaState) run(on *server.Server, to *server.Peer, script *script, keys, argv []string) bool {
	s.server, s.sha = on, script.sha
	s.l.SetGlobal("KEYS", s.list(keys))
	s.l.SetGlobal("ARGV", s.list(argv))
	s.l.Push(s.l.NewFunctionFromProto(script.proto))
	if err := s.l.PCall(0, lua.MultRet, nil); err != nil {
		to.WriteError(fmt.Sprintf("ERR Error compiling script (new function): %s", err))
		return false
	}
	writeReply(to, s.l.Get(1))
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

// notInScripts are the commands that Redis forbids in scripts.
var notInScripts = []string{
	"AUTH", "DISCARD", "EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "EXEC", "HELLO", "MULTI", "PSUBSCRIBE", "PUNSUBSCRIBE", "QUIT", "SCRIPT",
	"SUBSCRIBE", "UNSUBSCRIBE", "UNWATCH", "WATCH",
}

// command sends the command on the stack. An error of Redis goes to refuse. No other command runs
// at the same time.
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
	s.reader.Reset(&s.reply)
	s.server.Dispatch(s.peer, args)
	s.peer.Flush()
	reply, err := server.ParseReply(s.reader)
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

// returnError returns an error of Redis to the script as a value.
func (s *luaState) returnError(text string) int {
	if strings.Contains(text, unknownCommand) {
		text = "ERR Unknown Redis command called from script"
	}
	s.l.Push(s.tableWith("err", text))
	return 1
}

// value converts a reply of Redis to Lua.
func (s *luaState) value(reply any) lua.LValue {
	switch r := reply.(type) {
	case nil:
		return lua.LFalse
	case int:
		return lua.LNumber(r)
	case server.Simple:
		return s.tableWith("ok", string(r))
	case []any:
		t := s.l.NewTable()
		for _, item := range r {
			t.Append(s.value(item))
		}
		return t
	}
	return lua.LString(reply.(string))
}

func (s *luaState) tableWith(field, text string) *lua.LTable {
	t := s.l.CreateTable(0, 1)
	t.RawSetString(field, lua.LString(text))
	return t
}

// writeReply writes a script's result as a reply of Redis.
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
