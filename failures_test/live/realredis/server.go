package realredis

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
)

// ErrShared is the error of a scenario that disturbs the whole Redis, on a shared Redis.
var ErrShared = errors.New("realredis: the scenario disturbs the whole Redis, which other programs use too")

// ErrNotLive is the error of a scenario that only the controlled world can play.
var ErrNotLive = errors.New("realredis: no real Redis does this when asked")

// patienceWithRedis is the timeout of a command to a real Redis.
const patienceWithRedis = 5 * time.Second

// server is a real Redis as a [world.Redis]. The world reads only keys that contain the lock's
// name, so that other programs can use the server too.
type server struct {
	process *Process
	lock    string
	control *redis.Client // the world's own connection
	skew    time.Duration // how far its clock is ahead of this machine's
	full    bool          // its memory is full
	keys    map[string]bool
	reads   map[string]bool // command → it is read-only
}

func newServer(p *Process, lock string, replicas int) (*server, error) {
	r := &server{process: p, lock: lock, keys: map[string]bool{}, reads: map[string]bool{}}
	r.control = redis.NewClient(&redis.Options{
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return r.dial() },
		DisableIdentity:          true,
		Protocol:                 2,
		PoolSize:                 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	if err := r.reset(replicas); err != nil {
		_ = r.control.Close() // the first error matters
		return nil, err
	}
	return r, nil
}

// reset empties an own server, gives it replicas, and compares the clocks.
func (r *server) reset(replicas int) error {
	if r.process.isOurs() {
		if err := errors.Join(r.Suffer(trace.Flushed, 0), r.Suffer(trace.ScriptsFlushed, 0)); err != nil {
			return err
		}
		if err := r.process.replicate(context.Background(), replicas); err != nil {
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

func (r *server) dial() (net.Conn, error) {
	addr := r.process.addr()
	return net.DialTimeout(redisserver.Network(addr), addr, patienceWithRedis)
}

// Now returns the time on the clock of the server's machine.
func (r *server) Now() time.Time { return time.Now().Add(r.skew) }

// Keys reads all keys in one pipeline, so that the TTLs match the server's time even if the reply
// is late.
func (r *server) Keys(ignore func(string) bool) (map[string]world.KeyState, error) {
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
	// GET or HGETALL of each key answers WRONGTYPE, depending on its type.
	if _, err := pipe.Exec(ctx); clock.Err() != nil {
		return nil, fmt.Errorf("read the keys of the Redis at %s: %w", r.process.addr(), err)
	}
	state := map[string]world.KeyState{}
	for i, name := range names {
		a := asked[i]
		ttl := a.ttl.Val()
		if a.kind.Val() == "none" || ttl == -2 { // it may have expired between the two
			continue
		}
		k := world.KeyState{Kind: a.kind.Val(), Value: a.value.Val()}
		if k.Kind == "hash" {
			k.Fields = a.fields.Val()
		}
		if ttl >= 0 {
			k.Expires = clock.Val().Add(ttl)
		}
		state[name] = k
	}
	return state, nil
}

// IsReadOnly asks Redis once for each command.
func (r *server) IsReadOnly(command string) bool {
	reads, known := r.reads[command]
	if !known {
		info, err := r.control.Do(context.Background(), "COMMAND", "INFO", command).Slice()
		reads = err == nil && strings.Contains(fmt.Sprint(info), "readonly")
		r.reads[command] = reads
	}
	return reads
}

// LoadScript loads a script into Redis.
func (r *server) LoadScript(source string) error {
	return r.control.ScriptLoad(context.Background(), source).Err()
}

// Suffer supports all faults of a master and its replicas but a clock that jumps. On a shared Redis it only
// removes the lock's keys.
func (r *server) Suffer(fault trace.ServerFault, d time.Duration, names ...string) error {
	ctx := context.Background()
	switch {
	case fault == trace.ClockJumped, fault == trace.FailedOver:
		return ErrNotLive
	case fault == trace.Evicted:
		return r.evict(names...)
	case fault == trace.Started, fault == trace.SubscriptionLost: // nothing happens to the server itself
		return nil
	case !r.process.isOurs():
		return ErrShared
	case fault == trace.MemoryFull: // a limit below the used memory
		r.full = true
		return r.limitMemory("1", "noeviction")
	case fault == trace.Flushed:
		return r.control.FlushAll(ctx).Err()
	case fault == trace.ScriptsFlushed:
		return r.control.ScriptFlush(ctx).Err()
	case fault == trace.Restarted, fault == trace.Stopped:
		return withoutLabel(r.process.restart)
	}
	return withoutLabel(func() error { return r.process.disturb(fault, d, names[0]) })
}

// evict limits the memory of an own Redis for a moment, so that it evicts every key with a lease.
// On a shared Redis it removes the lock's keys.
func (r *server) evict(names ...string) error {
	if len(names) == 0 {
		return nil // there is nothing to evict
	}
	if !r.process.isOurs() {
		return r.remove(names...)
	}
	if err := r.limitMemory("1", "volatile-ttl"); err != nil {
		return err
	}
	// Redis evicts keys before it runs a command, and refuses a command for which there is still no
	// memory.
	ctx := context.Background()
	stored := r.control.Set(ctx, "lockkata:something else", "", 0).Err()
	if err := r.limitMemory("0", "noeviction"); err != nil {
		return err
	}
	if stored == nil || !strings.HasPrefix(stored.Error(), "OOM") {
		return fmt.Errorf("realredis: Redis is not full: it answered %v", stored)
	}
	left, err := r.control.Exists(ctx, names...).Result()
	if err == nil && left > 0 {
		err = fmt.Errorf("realredis: Redis did not evict %d of the lock's keys", left)
	}
	return err
}

func (r *server) remove(names ...string) error {
	return r.control.Del(context.Background(), names...).Err()
}

// limitMemory sets the memory limit of Redis in bytes, and its policy at the limit.
func (r *server) limitMemory(limit, policy string) error {
	ctx := context.Background()
	return errors.Join(
		r.control.ConfigSet(ctx, "maxmemory-policy", policy).Err(),
		r.control.ConfigSet(ctx, "maxmemory", limit).Err(),
	)
}

// Clear removes the lock's keys and the memory limit.
func (r *server) Clear() {
	if r.full {
		if err := r.limitMemory("0", "noeviction"); err == nil {
			r.full = false
		}
	}
	if len(r.keys) > 0 {
		_ = r.remove(slices.Collect(maps.Keys(r.keys))...) // a Redis that does not answer has no keys
	}
}

// Close closes the world's own connection.
func (r *server) Close() { _ = r.control.Close() } // the error does not matter

// conn is a connection of a client.
type conn struct {
	redis  *server
	net    net.Conn
	reader *bufio.Reader
	pushes []byte
}

// Connect returns a connection that is opened by its first command.
func (r *server) Connect() world.Conn { return &conn{redis: r} }

// Execute runs one command.
func (c *conn) Execute(args []string) ([]byte, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	for _, arg := range args[1:] {
		if strings.Contains(arg, c.redis.lock) {
			c.redis.keys[arg] = true
		}
	}
	if err := c.write(args); err != nil {
		return nil, err
	}
	replies := 1
	if strings.HasSuffix(strings.ToUpper(args[0]), "SUBSCRIBE") {
		replies = max(1, len(args)-1) // one for each channel
	}
	var raw []byte
	for range replies {
		reply, err := c.reply()
		if err != nil {
			return nil, err
		}
		raw = append(raw, reply...)
	}
	return raw, nil
}

func (c *conn) open() error {
	if c.net != nil {
		return nil
	}
	conn, err := c.redis.dial()
	if err != nil {
		return err
	}
	c.net, c.reader = conn, bufio.NewReader(conn)
	return nil
}

func (c *conn) write(args []string) error {
	if err := c.net.SetDeadline(time.Now().Add(patienceWithRedis)); err != nil {
		return err
	}
	return proto.Write(c.net, args)
}

// reply reads the next answer, and queues the messages before it.
func (c *conn) reply() (string, error) {
	for {
		raw, err := proto.Read(c.reader)
		if err != nil || !isMessage(raw) {
			return raw, err
		}
		c.pushes = append(c.pushes, raw...)
	}
}

// Pushed sends a PING: messages that were published before arrive before its answer.
func (c *conn) Pushed() []byte {
	if c.net != nil && c.write([]string{"PING"}) == nil {
		_, _ = c.reply() // a broken connection has no messages
	}
	raw := c.pushes
	c.pushes = nil
	return raw
}

// Close closes the connection.
func (c *conn) Close() {
	if c.net != nil {
		_ = c.net.Close() // the error does not matter
	}
}

// acknowledges matches the answer to SUBSCRIBE or UNSUBSCRIBE on a connection with RESP3.
var acknowledges = regexp.MustCompile(`^>3\r\n\$\d+\r\n\w*subscribe\r\n`)

// isMessage reports whether raw is a pushed message rather than an answer.
func isMessage(raw string) bool {
	if acknowledges.MatchString(raw) {
		return false
	}
	starts := []string{">", "*3\r\n$7\r\nmessage\r\n", "*4\r\n$8\r\npmessage\r\n", "*3\r\n$8\r\nsmessage\r\n"}
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(raw, start) })
}
