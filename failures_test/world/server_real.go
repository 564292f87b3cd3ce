package world

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Redis is a redis-server for [RunLive].
type Redis interface {
	// Addr is where it answers: a host and a port, or the path of a Unix socket. It
	// may be another one after a failover.
	Addr() string
}

// OwnRedis is a [Redis] that belongs to the world alone. Its data are lost, and it may
// be made to fail as a whole.
type OwnRedis interface {
	Redis
	// Restart ends the process and starts it again at the same address, empty.
	Restart() error
	// Begin is called when a run begins and it is empty, so that a replica can be
	// detached that sees nothing of what the run writes.
	Begin() error
	// Failover makes that replica answer in its place, and ends the process that did.
	Failover() error
}

// ErrNotOurs is the error of a live run whose scenario disturbs the whole Redis,
// on a Redis that belongs to somebody else.
var ErrNotOurs = errors.New("world: the scenario disturbs the whole Redis, and this one is not ours alone")

// ErrNotLive is the error of a live run of a scenario that only the controlled
// world can play.
var ErrNotLive = errors.New("world: no real Redis does this when asked")

// patienceWithRedis is how long a real Redis may take to answer.
const patienceWithRedis = 5 * time.Second

// realServer is a redis-server. The world looks only at keys that carry the
// lock's name, so that it can share the server with others.
type realServer struct {
	server  Redis
	lock    string
	control *redis.Client // the world's own connection
	skew    time.Duration // how far its clock is ahead of ours
	full    bool          // its memory is
	keys    map[string]bool
	reads   map[string]bool // command → it only reads
}

func newReal(server Redis, lock string) (*realServer, error) {
	r := &realServer{server: server, lock: lock, keys: map[string]bool{}, reads: map[string]bool{}}
	r.control = redis.NewClient(&redis.Options{
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return r.dial() },
		DisableIdentity:          true,
		Protocol:                 2,
		PoolSize:                 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := r.reset(); err != nil {
		_ = r.control.Close() // the first error is the one to tell
		return nil, err
	}
	return r, nil
}

// reset empties a server of ours, and compares the clocks.
func (r *realServer) reset() error {
	if own, ours := r.server.(OwnRedis); ours {
		if err := errors.Join(r.flushAll(), r.flushScripts()); err != nil {
			return err
		}
		if err := own.Begin(); err != nil {
			return err
		}
	}
	before := time.Now()
	there, err := r.control.Time(context.Background()).Result()
	if err != nil {
		return err
	}
	r.skew = there.Sub(before.Add(time.Since(before) / 2))
	return nil
}

func (r *realServer) dial() (net.Conn, error) {
	addr, network := r.server.Addr(), "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	return net.DialTimeout(network, addr, patienceWithRedis)
}

func (r *realServer) now() time.Time { return time.Now().Add(r.skew) }

// read asks for everything at once, so that the times to live and the server's
// clock belong together however late the answer is.
func (r *realServer) read(ignore func(string) bool) map[string]keyState {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(r.keys)), ignore)
	ctx := context.Background()
	pipe := r.control.Pipeline()
	clock := pipe.Time(ctx)
	type answers struct {
		kind   *redis.StatusCmd
		ttl    *redis.DurationCmd
		value  *redis.StringCmd
		fields *redis.MapStringStringCmd
	}
	asked := make([]answers, len(names))
	for i, name := range names {
		asked[i] = answers{pipe.Type(ctx, name), pipe.PTTL(ctx, name), pipe.Get(ctx, name), pipe.HGetAll(ctx, name)}
	}
	// GET or HGETALL of each key answers WRONGTYPE: only one of them is of use.
	if _, err := pipe.Exec(ctx); clock.Err() != nil {
		fail("Redis at %s does not tell its keys: %v", r.server.Addr(), err)
	}
	state := map[string]keyState{}
	for i, name := range names {
		a := asked[i]
		ttl := a.ttl.Val()
		if a.kind.Val() == "none" || ttl == -2 { // it may have expired between the two
			continue
		}
		k := keyState{kind: a.kind.Val(), value: a.value.Val()}
		if k.kind == "hash" {
			k.fields = a.fields.Val()
		}
		if ttl >= 0 {
			k.expires = clock.Val().Add(ttl)
		}
		state[name] = k
	}
	return state
}

func (r *realServer) isReadOnly(command string) bool {
	reads, known := r.reads[command]
	if !known {
		info, err := r.control.Do(context.Background(), "COMMAND", "INFO", command).Slice()
		reads = err == nil && strings.Contains(fmt.Sprint(info), "readonly")
		r.reads[command] = reads
	}
	return reads
}

// settlePushes makes each subscriber's connection answer once more: what was
// published before comes before that answer.
func (r *realServer) settlePushes(wires iter.Seq[*wire]) {
	for w := range wires {
		if w.subscribed {
			w.link.(*realLink).settle()
		}
	}
}

func (r *realServer) loadScript(source string) error {
	return r.control.ScriptLoad(context.Background(), source).Err()
}

// evict gives a Redis of ours too little memory for a moment, so that it evicts
// every key with a lease: the lock's, and what else has one. On a Redis that others
// use, the lock's keys are removed.
func (r *realServer) evict(names ...string) error {
	if _, ours := r.server.(OwnRedis); !ours {
		return r.remove(names...)
	}
	if err := r.limitMemory("1", "volatile-ttl"); err != nil {
		return err
	}
	// It evicts before it looks at a command, and what it cannot store then it refuses.
	ctx := context.Background()
	stored := r.control.Set(ctx, "lockkata:something else", "", 0).Err()
	if err := r.limitMemory("0", "noeviction"); err != nil {
		return err
	}
	if stored == nil || !strings.HasPrefix(stored.Error(), "OOM") {
		return fmt.Errorf("world: Redis is not full: it answered %v", stored)
	}
	left, err := r.control.Exists(ctx, names...).Result()
	if err == nil && left > 0 {
		err = fmt.Errorf("world: Redis did not evict %d of the lock's keys", left)
	}
	return err
}

func (r *realServer) remove(names ...string) error {
	return r.control.Del(context.Background(), names...).Err()
}

// limitMemory says how much memory Redis may use, in bytes, and what it does then.
func (r *realServer) limitMemory(limit, policy string) error {
	ctx := context.Background()
	return errors.Join(
		r.control.ConfigSet(ctx, "maxmemory-policy", policy).Err(),
		r.control.ConfigSet(ctx, "maxmemory", limit).Err(),
	)
}

// fillMemory allows Redis less than it uses.
func (r *realServer) fillMemory() error {
	return r.ifOurs(func(OwnRedis) error {
		r.full = true
		return r.limitMemory("1", "noeviction")
	})
}

// ifOurs does to the server what the world may do to one of its own only.
func (r *realServer) ifOurs(do func(OwnRedis) error) error {
	if own, ok := r.server.(OwnRedis); ok {
		return do(own)
	}
	return ErrNotOurs
}

func (r *realServer) flushAll() error {
	return r.ifOurs(func(OwnRedis) error { return r.control.FlushAll(context.Background()).Err() })
}

func (r *realServer) flushScripts() error {
	return r.ifOurs(func(OwnRedis) error { return r.control.ScriptFlush(context.Background()).Err() })
}

func (r *realServer) restart() error {
	return r.ifOurs(func(own OwnRedis) error { return withoutLabel(own.Restart) })
}

func (r *realServer) failover() error {
	return r.ifOurs(func(own OwnRedis) error { return withoutLabel(own.Failover) })
}

func (r *realServer) jump(time.Duration) error { return ErrNotLive }

func (r *realServer) clear() {
	if r.full {
		if err := r.limitMemory("0", "noeviction"); err == nil {
			r.full = false
		}
	}
	if len(r.keys) > 0 {
		_ = r.remove(slices.Collect(maps.Keys(r.keys))...) // a Redis that is gone keeps nothing
	}
}

func (r *realServer) close() { _ = r.control.Close() } // nothing is to be saved

// realLink is a TCP connection, opened with its first command.
type realLink struct {
	redis  *realServer
	conn   net.Conn
	reader *bufio.Reader
	pushes []byte
}

func (r *realServer) newLink() link { return &realLink{redis: r} }

func (l *realLink) execute(args []string) ([]byte, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	for _, arg := range args[1:] {
		if strings.Contains(arg, l.redis.lock) {
			l.redis.keys[arg] = true
		}
	}
	if err := l.write(args); err != nil {
		return nil, err
	}
	replies := 1
	if isSubscribe(args[0]) {
		replies = len(args) - 1
	}
	var raw []byte
	for range replies {
		reply, err := l.reply()
		if err != nil {
			return nil, err
		}
		raw = append(raw, reply...)
	}
	return raw, nil
}

func (l *realLink) open() error {
	if l.conn != nil {
		return nil
	}
	conn, err := l.redis.dial()
	if err != nil {
		return err
	}
	l.conn, l.reader = conn, bufio.NewReader(conn)
	return nil
}

func (l *realLink) write(args []string) error {
	if err := l.conn.SetDeadline(time.Now().Add(patienceWithRedis)); err != nil {
		return err
	}
	return proto.Write(l.conn, args)
}

// reply reads up to the next answer, and keeps the messages before it.
func (l *realLink) reply() (string, error) {
	for {
		raw, err := proto.Read(l.reader)
		if err != nil || !isMessage(raw) {
			return raw, err
		}
		l.pushes = append(l.pushes, raw...)
	}
}

func (l *realLink) settle() {
	if l.write([]string{"PING"}) == nil {
		_, _ = l.reply() // a connection that is gone brings no messages
	}
}

func (l *realLink) pushed() []byte {
	raw := l.pushes
	l.pushes = nil
	return raw
}

func (l *realLink) unsubscribe() {}

func (l *realLink) close() {
	if l.conn != nil {
		_ = l.conn.Close() // nothing is to be saved
	}
}

// isMessage tells a pushed message from an answer: protocol 3 marks it.
func isMessage(raw string) bool {
	return beginsWith(raw, ">", "*3\r\n$7\r\nmessage\r\n", "*4\r\n$8\r\npmessage\r\n", "*3\r\n$8\r\nsmessage\r\n")
}
