package world

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"lockkata/failures_test/trace"
)

// embedded is a miniredis in the bubble, with the bubble's clock.
type embedded struct {
	mini  *miniredis.Miniredis
	admin *embeddedConn // the world's own connection
	skew  time.Duration // how far its clock is ahead of the clients' clock
	full  bool          // its memory is full
	// toLoad has the scripts that are not yet loaded into miniredis.
	toLoad []*script
	// written is set when the current command or script has written.
	written bool
	leased  []string // keys whose lease the command has set
	counted []string // keys in which it has counted
	// published is set when it has published a message.
	published bool
}

// newEmbedded starts a server. Call it in the bubble.
func newEmbedded() (*embedded, error) {
	e := &embedded{mini: miniredis.NewMiniRedis()}
	// Dial starts a server without a listener; the connection itself is not used.
	conn, err := e.mini.Dial()
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, err
	}
	e.mini.Server().SetPreHook(e.before)
	e.admin = e.Connect().(*embeddedConn)
	e.tick()
	e.mini.ClockTTL(true)
	return e, nil
}

// before runs just before each command of miniredis, also those of scripts.
func (e *embedded) before(c *server.Peer, command string, args ...string) bool {
	if givesLease[command] && len(args) > 0 {
		e.leased = append(e.leased, args[0])
	}
	if counts[command] && len(args) > 0 {
		e.counted = append(e.counted, args[0])
	}
	e.published = e.published || command == "PUBLISH"
	return e.full && e.refuse(c, command)
}

// tick sets the server's clock to the fake time plus its jumps. Without a jump miniredis uses the fake
// time itself.
func (e *embedded) tick() {
	if e.skew != 0 {
		e.mini.SetTime(e.Now())
	}
}

func (e *embedded) Now() time.Time { return time.Now().Add(e.skew) }

func (e *embedded) Keys(ignore func(string) bool) (map[string]KeyState, error) {
	e.tick()
	now := e.Now()
	state := map[string]KeyState{}
	for _, name := range e.mini.Keys() {
		if ignore(name) {
			continue
		}
		k := KeyState{Kind: e.mini.Type(name), Leased: slices.Contains(e.leased, name), Counted: slices.Contains(e.counted, name)}
		switch k.Kind {
		case "string":
			k.Value, _ = e.mini.Get(name)
		case "hash":
			k.Fields = map[string]string{}
			fields, _ := e.mini.HKeys(name)
			for _, field := range fields {
				k.Fields[field] = e.mini.HGet(name, field)
			}
		}
		if ttl := e.mini.TTL(name); ttl > 0 {
			k.Expires = now.Add(ttl)
		}
		state[name] = k
	}
	e.leased, e.counted = nil, nil
	return state, nil
}

func (e *embedded) IsReadOnly(command string) bool { return e.mini.IsReadOnlyCommand(command) }

// LoadScript keeps the script until miniredis needs it, because loading parses it.
func (e *embedded) LoadScript(source string) error {
	e.toLoad = append(e.toLoad, compile(source))
	return nil
}

// knows reports whether the server knows a script.
func (e *embedded) knows(s *script) bool {
	return slices.Contains(e.toLoad, s) || string(e.admin.dispatch("SCRIPT", "EXISTS", s.sha)) == "*1\r\n:1\r\n"
}

// Suffer supports every fault. A server that restarts has no persistence, and a replica that takes
// over has seen no writes.
func (e *embedded) Suffer(fault trace.ServerFault, d time.Duration, keys ...string) error {
	switch fault {
	case trace.MemoryFull: // see before: it refuses commands as Redis does, one by one within a script
		e.full = true
	case trace.Evicted:
		for _, name := range keys {
			e.mini.Del(name)
		}
	case trace.Flushed:
		e.Clear()
	case trace.ScriptsFlushed, trace.Promoted:
		e.flushScripts()
	case trace.Restarted, trace.Stopped, trace.FailedOver:
		e.Clear()
		e.flushScripts()
	case trace.ClockJumped:
		// Redis keeps the moment at which a key expires, so a jump forward shortens every lease and a
		// jump back lengthens it.
		e.skew += d
		if d < 0 {
			e.mini.FastForward(d)
		}
	}
	return nil
}

func (e *embedded) flushScripts() {
	e.toLoad = nil
	e.admin.dispatch("SCRIPT", "FLUSH")
}

func (e *embedded) Clear() { e.mini.FlushAll() }

func (e *embedded) Close() { e.mini.Close() }

// needsMemory lists commands of locks that Redis refuses when its memory is full: those with the
// flag denyoom.
var needsMemory = map[string]bool{
	"APPEND": true, "BITFIELD": true, "COPY": true, "DECR": true, "DECRBY": true, "GETSET": true, "HINCRBY": true,
	"HINCRBYFLOAT": true, "HMSET": true, "HSET": true, "HSETNX": true, "INCR": true, "INCRBY": true,
	"INCRBYFLOAT": true, "LINSERT": true, "LMOVE": true, "LPUSH": true, "LPUSHX": true, "LSET": true, "MSET": true,
	"MSETNX": true, "PSETEX": true, "RPOPLPUSH": true, "RPUSH": true, "RPUSHX": true, "SADD": true, "SET": true,
	"SETBIT": true, "SETEX": true, "SETNX": true, "SETRANGE": true, "XADD": true, "ZADD": true, "ZINCRBY": true,
}

// outOfMemory is the error of a Redis whose memory is full.
const outOfMemory = "OOM command not allowed when used memory > 'maxmemory'."

// refuse answers a command for which there is no memory with an error.
func (e *embedded) refuse(c *server.Peer, command string) bool {
	if needsMemory[command] && !e.written {
		c.WriteError(outOfMemory)
		return true
	}
	e.written = e.written || isWrite(e, command) && !writesNothing[command]
	return false
}

// givesLease lists the commands that only set a lease.
var givesLease = map[string]bool{"EXPIRE": true, "PEXPIRE": true, "EXPIREAT": true, "PEXPIREAT": true}

// counts lists the commands that add to a number or subtract from it.
var counts = map[string]bool{"INCR": true, "INCRBY": true, "DECR": true, "DECRBY": true}

// writesNothing lists commands that count as writes in a scenario, but store nothing themselves.
var writesNothing = map[string]bool{"EVAL": true, "EVALSHA": true, "PUBLISH": true}

// embeddedConn is a connection to miniredis without a network: commands are answered synchronously.
type embeddedConn struct {
	redis *embedded
	peer  *server.Peer
	sink  sink
	// special is set if scripts on this connection may behave differently than on a new one.
	special bool
}

func (e *embedded) Connect() Conn {
	l := &embeddedConn{redis: e}
	l.peer = server.NewPeer(bufio.NewWriterSize(&l.sink, 512))
	return l
}

func (l *embeddedConn) Execute(args []string) ([]byte, error) {
	l.redis.tick()
	l.redis.written, l.redis.leased, l.redis.counted, l.redis.published = false, nil, nil, false
	name := strings.ToUpper(args[0])
	if l.runScript(name, args) {
		return l.answer(), nil
	}
	if isBlocking(args) {
		return []byte("-ERR the scenario is over\r\n"), nil
	}
	l.special = l.special || slices.Contains(makesSpecial, name)
	if usesScripts[name] {
		for _, s := range l.redis.toLoad {
			l.redis.admin.dispatch("SCRIPT", "LOAD", s.source)
		}
		l.redis.toLoad = nil
	}
	answer := l.dispatch(args...)
	if string(answer) == "+QUEUED\r\n" { // it has not run yet
		l.redis.leased, l.redis.counted, l.redis.published = nil, nil, false
	}
	return answer, nil
}

// runScript answers EVAL and EVALSHA instead of miniredis, which makes a new Lua state each time.
// That takes 0.1 ms; without it a search is nearly twice as fast. The answers are the same, byte
// for byte. It returns false and does nothing if miniredis has to run the command: the script is
// impure or unknown, the arguments are invalid, or the connection has a transaction.
func (l *embeddedConn) runScript(name string, args []string) bool {
	if len(args) < 3 || l.special {
		return false
	}
	var s *script
	switch name {
	case "EVALSHA":
		s = compiledAs(args[1])
	case "EVAL":
		s = compile(args[1])
	}
	count, err := strconv.Atoi(args[2])
	if s == nil || !s.pure || err != nil || count < 0 || count > len(args)-3 || !l.redis.knows(s) {
		return false
	}
	state := luaStates.Get().(*luaState)
	if state.run(l.redis.mini.Server(), l.peer, s, args[3:3+count], args[3+count:]) {
		luaStates.Put(state)
	}
	return true
}

// makesSpecial lists the commands that change the state of a connection.
var makesSpecial = []string{"MULTI", "SELECT", "SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE"}

// usesScripts lists the commands before which all scripts must be loaded.
var usesScripts = map[string]bool{"EVALSHA": true, "EVALSHA_RO": true, "SCRIPT": true, "MULTI": true}

func (l *embeddedConn) dispatch(args ...string) []byte {
	l.redis.mini.Server().Dispatch(l.peer, args)
	return l.answer()
}

// answer returns what Redis has written.
func (l *embeddedConn) answer() []byte {
	l.peer.Flush()
	raw := l.sink.take()
	// Redis ends a script with the plain error; miniredis wraps it in another text.
	if bytes.HasPrefix(raw, []byte("-ERR ")) && bytes.Contains(raw, []byte(outOfMemory)) {
		raw = []byte("-" + outOfMemory + "\r\n")
	}
	return raw
}

// Pushed waits for the goroutines that write to subscribers.
func (l *embeddedConn) Pushed() []byte {
	synctest.Wait()
	return l.sink.take()
}

func (l *embeddedConn) Published() bool { return l.redis.published }

func (l *embeddedConn) Close() {}

// sink collects what Redis writes to a connection. Pushed messages come from other goroutines.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *sink) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buf.Len() == 0 {
		return nil
	}
	raw := bytes.Clone(s.buf.Bytes())
	s.buf.Reset()
	return raw
}
