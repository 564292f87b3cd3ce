package world

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// functions are what a script finds in redis, with miniredis's own words.
func (s *luaState) functions() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"call":         func(l *lua.LState) int { return s.command(s.call, s.fail) },
		"pcall":        func(l *lua.LState) int { return s.command(s.pcall, s.tell) },
		"error_reply":  errorReply,
		"status_reply": statusReply,
		"sha1hex":      sha1Hex,
		"log": func(l *lua.LState) int {
			l.CheckInt(1)
			l.CheckString(2)
			return 0
		},
		"replicate_commands": func(l *lua.LState) int {
			l.Push(lua.LTrue)
			return 1
		},
	}
}

// command sends the command that is on the stack. An error that Redis answers
// goes to refuse.
func (s *luaState) command(context any, refuse func(error) int) int {
	top := s.l.GetTop()
	if top == 0 {
		return s.raise("Please specify at least one argument for this redis lib call script: %s, &c.", s.sha)
	}
	args := make([]string, top)
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
	reply, err := s.dispatch(context, args)
	if err != nil {
		return refuse(err)
	}
	s.l.Push(s.value(reply))
	return 1
}

func (s *luaState) dispatch(context any, args []string) (any, error) {
	s.reply.Reset()
	s.writer.Reset(&s.reply)
	peer := server.NewPeer(s.writer)
	peer.Ctx = context
	s.server.Dispatch(peer, args)
	peer.Flush()
	s.reader.Reset(&s.reply)
	reply, err := server.ParseReply(s.reader)
	if err != nil && err.Error() == forbidden(contextSHA) {
		err = errors.New(forbidden(s.sha)) // the context is that of another script
	}
	return reply, err
}

var contextSHA = compile(contextScript).sha

// forbidden is what Redis answers where a script must not send a command.
func forbidden(sha string) string {
	return "This Redis command is not allowed from script script: " + sha + ", &c"
}

func (s *luaState) raise(format string, args ...any) int {
	s.l.Error(lua.LString(fmt.Sprintf(format, args...)), 1)
	return 0
}

const unknownCommand = "ERR unknown command"

// fail ends the script with an error of Redis.
func (s *luaState) fail(err error) int {
	if strings.Contains(err.Error(), unknownCommand) {
		return s.raise("Unknown Redis command called from script script: %s, &c.", s.sha)
	}
	return s.raise("%s", err.Error())
}

// tell gives an error of Redis to the script as a value.
func (s *luaState) tell(err error) int {
	text := err.Error()
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
		return s.array(r)
	}
	return lua.LString(reply.(string))
}

// array is an array reply in Lua. Like miniredis's own it panics, which ends the
// script with an error, where a status is in it.
func (s *luaState) array(items []any) *lua.LTable {
	t := s.l.NewTable()
	for _, item := range items {
		switch r := item.(type) {
		case nil:
			t.Append(lua.LFalse)
		case int:
			t.Append(lua.LNumber(r))
		case []any:
			t.Append(s.array(r))
		default:
			t.Append(lua.LString(item.(string)))
		}
	}
	return t
}

// writeReply is a script's result as a reply of Redis.
func writeReply(c *server.Peer, value lua.LValue) {
	switch v := value.(type) {
	case *lua.LNilType:
		c.WriteNull()
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
		panic(fmt.Sprintf("wat: %T", v)) // miniredis's words: a script must not return a function
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

func errorReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok {
		l.Error(lua.LString("wrong number or type of arguments"), 1)
		return 0
	}
	code, rest, found := strings.Cut(string(text), " ")
	code = strings.TrimPrefix(code, "-")
	if found {
		l.Push(tableWith("err", code+" "+rest))
	} else {
		l.Push(tableWith("err", "ERR "+code))
	}
	return 1
}

func statusReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok {
		l.Error(lua.LString("wrong number or type of arguments"), 1)
		return 0
	}
	l.Push(tableWith("ok", string(text)))
	return 1
}

func sha1Hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		l.Error(lua.LString("wrong number of arguments"), 1)
		return 0
	}
	sum := sha1.Sum([]byte(lua.LVAsString(l.Get(1))))
	l.Push(lua.LString(hex.EncodeToString(sum[:])))
	return 1
}

func tableWith(field, text string) *lua.LTable {
	t := &lua.LTable{}
	t.RawSetString(field, lua.LString(text))
	return t
}
