package stage6

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed *.lua
var sources embed.FS

// script is a Lua script: how the command begins that runs it, by its SHA1 (byHash)
// and by its source.
type script struct{ byHash, bySource []any }

func newScript(file string) script {
	source, err := sources.ReadFile(file)
	if err != nil {
		panic(err) // the compiler has embedded it
	}
	return script{[]any{"EVALSHA", redis.NewScript(string(source)).Hash()}, []any{"EVAL", string(source)}}
}

var (
	acquireScript = newScript("acquire.lua")
	countScript   = newScript("count.lua")
	releaseScript = newScript("release.lua")
	renewScript   = newScript("renew.lua")
	forceScript   = newScript("force.lua")
)

// once is a command that go-redis sends once, whatever the client's MaxRetries:
// a lock decides itself what a lost reply means.
type once struct{ *redis.Cmd }

// NoRetry keeps go-redis from sending the command again.
func (once) NoRetry() bool { return true }

// go-redis asks for NoRetry since 9.19. With an older one, which would send again, this does not compile.
var _ = (*redis.Cmd).NoRetry

// attempts is how often a command is sent whose outcome stays unknown, or whose answer is no
// answer yet; passingPause is how long to wait after a temporary refusal.
const (
	attempts     = 3
	passingPause = 50 * time.Millisecond
)

// run executes a script by its hash, and whole if Redis does not know it. What a lock's scripts
// get first is always the same, and made once: how many keys, the keys, the channel.
func (s *Service) run(ctx context.Context, script script, on []any, args ...any) *redis.Cmd {
	var cmd *redis.Cmd
	for _, form := range [][]any{script.byHash, script.bySource} {
		cmd = redis.NewCmd(ctx, slices.Concat(form, on, args)...)
		_ = s.rdb.Process(ctx, once{cmd}) // the command keeps its error
		if err := cmd.Err(); err == nil || !redis.HasErrorPrefix(err, "NOSCRIPT") {
			break
		}
	}
	return cmd
}

// pause waits for d and tells whether ctx was not done before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// ended is why ctx is over, nil if it is not. A connection's timer and the
// context's own go off at one moment, in any order, so the deadline decides.
func ended(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// What Redis says instead of executing a command begins with one of these codes. BADTOKEN is the
// acquire script's own.
var (
	temporary = strings.Fields("LOADING BUSY MASTERDOWN READONLY NOREPLICAS CLUSTERDOWN TRYAGAIN MOVED ASK")
	permanent = strings.Fields("OOM NOSCRIPT NOPERM NOAUTH WRONGPASS WRONGTYPE MISCONF CROSSSLOT EXECABORT BADTOKEN")
	afterERR  = []string{
		"max number of clients", "unknown command", "wrong number of arguments", "invalid expire time", "The user executing the script",
		"WRONGTYPE", // Redis 6 puts its own words before what a command of a script met
	}
)

// answerOf splits an error that came from Redis, or from a proxy, into its first word and the rest.
// Both are "" for any other error.
func answerOf(err error) (code, text string) {
	if answer := redis.Error(nil); errors.As(err, &answer) {
		code, text, _ = strings.Cut(answer.Error(), " ")
	}
	return code, text
}

// isRefusal reports whether Redis did not execute the command. Any other error leaves the outcome
// unknown, also one that begins with ERR: a proxy that has lost Redis, or waits no longer, says so.
func isRefusal(err error) bool {
	code, text := answerOf(err)
	return slices.Contains(temporary, code) || slices.Contains(permanent, code) ||
		code == "ERR" && slices.ContainsFunc(afterERR, func(words string) bool { return strings.Contains(text, words) })
}

// isTemporary reports whether Redis refused a command that it will execute before long. Redis 6
// puts its own words before a READONLY that a command of a script met.
func isTemporary(err error) bool {
	code, _ := answerOf(err)
	return slices.Contains(temporary, code) || redis.IsReadOnlyError(err) || redis.IsMaxClientsError(err)
}

// isUnsent reports whether a command never left: there was no connection for it. Where the context
// ends before there is one, go-redis returns the context's own error.
func isUnsent(err error) bool {
	var network *net.OpError
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrClosed) || err == context.Canceled || err == context.DeadlineExceeded ||
		errors.As(err, &network) && network.Op == "dial"
}

// isUnknown reports whether a command that ended with err may have taken effect: the
// network, the context, a proxy or a hook of the client ended it.
func isUnknown(err error) bool { return err != nil && !isRefusal(err) && !isUnsent(err) }

// isWrongType reports whether the key holds something else than a lock. A script puts its own words
// before the code.
func isWrongType(err error) bool { return err != nil && strings.Contains(err.Error(), "WRONGTYPE") }

// explain says what an error of Redis means for a lock. It adds the context's own error to
// one with which a command ended because the context did: a caller looks for that.
func (m *Mutex) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	why := ""
	code, _ := answerOf(err)
	switch end := ended(ctx); {
	case end != nil && code == "":
		err = fmt.Errorf("%w (%w)", end, err)
	case isWrongType(err):
		why = "the key holds no lock of this kind, but something else, such as a lock of another library: "
	case code == "NOPERM" || strings.Contains(err.Error(), "The user executing the script"):
		why = "the Redis user lacks a right that the lock needs (docs/final-lock.md lists them): "
	}
	return fmt.Errorf("stage6: %s %s: %s%w", doing, m.key, why, err)
}
