package world

import (
	"bufio"
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/alicebob/miniredis/v2"
	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"
)

// luaState is a Lua state that runs one tame script after another.
type luaState struct {
	l *lua.LState

	// What the running script works on.
	server *server.Server
	sha    string
	call   any // the connection that redis.call uses, as miniredis sees it
	pcall  any // that of redis.pcall

	reply  bytes.Buffer // of a command that the script sends
	writer *bufio.Writer
	reader *bufio.Reader
}

var states = sync.Pool{New: func() any { return newLuaState() }}

func takeState() *luaState { return states.Get().(*luaState) }

func (s *luaState) giveBack() {
	s.server, s.call, s.pcall = nil, nil, nil
	states.Put(s)
}

func newLuaState() *luaState {
	s := &luaState{l: lua.NewState(lua.Options{SkipOpenLibs: true})}
	s.writer = bufio.NewWriter(&s.reply)
	s.reader = bufio.NewReader(&s.reply)
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		s.l.Push(s.l.NewFunction(open))
		s.l.Call(0, 0)
	}
	s.l.Push(s.l.NewFunction(luajson.Loader))
	s.l.Call(0, 1)
	s.l.SetGlobal("cjson", s.l.Get(1))
	redis := s.l.SetFuncs(s.l.NewTable(), s.functions())
	for level, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		redis.RawSetString(name, lua.LNumber(level))
	}
	s.l.SetGlobal("redis", redis)
	s.l.SetGlobal("server", redis)
	s.l.SetTop(0)
	return s
}

// run runs a tame script and writes its reply. It returns false when the script
// failed: it was stopped halfway, and nobody uses the state again.
func (s *luaState) run(mini *miniredis.Miniredis, client *server.Peer, script *script, keys, argv []string) bool {
	context := reflect.ValueOf(scriptContext()).Elem()
	s.server, s.sha = mini.Server(), script.sha
	s.call, s.pcall = clone(context), clone(context)
	s.l.SetGlobal("KEYS", s.list(keys))
	s.l.SetGlobal("ARGV", s.list(argv))

	mini.Lock()
	defer mini.Unlock()
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

// scriptContext is what miniredis knows of a connection on which a script sends
// commands: that it has the lock already, and that some commands are forbidden. It
// is made for a script by miniredis alone, so a script of this name shows it.
var scriptContext = sync.OnceValue(func() any {
	var context any
	mini := miniredis.NewMiniRedis()
	conn, err := mini.Dial() // starts the server
	if err != nil {
		panic(fmt.Sprintf("world: embedded Redis: %v", err))
	}
	_ = conn.Close() // it has carried nothing
	mini.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command == "PING" {
			context = c.Ctx
		}
		return false
	})
	mini.Server().Dispatch(server.NewPeer(bufio.NewWriter(&bytes.Buffer{})), []string{"EVAL", contextScript, "0"})
	mini.Close()
	return context
})

const contextScript = "-- the script that a connection's context names\nreturn redis.call('PING')"

// clone copies a context: SELECT changes it.
func clone(context reflect.Value) any {
	c := reflect.New(context.Type())
	c.Elem().Set(context)
	return c.Interface()
}
