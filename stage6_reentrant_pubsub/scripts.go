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

// script is a Lua script: the first arguments of the commands that run it by its
// SHA1 hash and by its source.
type script struct{ byHash, bySource []any }

func newScript(file string) script {
	source, err := sources.ReadFile(file)
	if err != nil {
		panic(err) // cannot happen: the file is embedded
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

// once is a command that go-redis sends once, even if the client's MaxRetries is
// higher: the lock itself decides what a lost reply means.
type once struct{ *redis.Cmd }

// NoRetry keeps go-redis from sending the command again.
func (once) NoRetry() bool { return true }

// go-redis calls NoRetry since 9.19. With an older version, which would send again, this does not compile.
var _ = (*redis.Cmd).NoRetry

// attempts is how often a command is sent whose outcome stays unknown, whose slot is migrating,
// or whose grant comes too late; passingPause is the pause after a temporary refusal.
const (
	attempts     = 3
	passingPause = 50 * time.Millisecond
)

// run executes a script by its hash, or by its source if Redis does not know it. on has the
// first arguments, which are the same for each command of a lock: number of keys, keys, channel.
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

// pause waits for d. It returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// ended returns the error of a ctx that has ended, or nil. A connection's timer and
// the context's own fire at the same moment, in any order, so the deadline decides.
func ended(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// The first words of the errors with which Redis refuses a command. BADTOKEN is the acquire
// script's own.
var (
	temporary = strings.Fields("LOADING BUSY MASTERDOWN READONLY NOREPLICAS CLUSTERDOWN TRYAGAIN MOVED ASK")
	permanent = strings.Fields("OOM NOSCRIPT NOPERM NOAUTH WRONGPASS WRONGTYPE MISCONF CROSSSLOT EXECABORT BADTOKEN")
	passing   = strings.Fields("OOM NOPERM NOAUTH WRONGPASS MISCONF") // these may end, and are the same for one key
	afterERR  = []string{
		"max number of clients", "unknown command", "wrong number of arguments", "invalid expire time", "The user executing the script",
		"WRONGTYPE", // Redis 6 puts its own words before the error of a command in a script
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
// unknown, also one that begins with ERR: a proxy answers so if it has lost Redis or stopped waiting.
func isRefusal(err error) bool {
	code, text := answerOf(err)
	return slices.Contains(temporary, code) || slices.Contains(permanent, code) ||
		code == "ERR" && slices.ContainsFunc(afterERR, func(words string) bool { return strings.Contains(text, words) })
}

// isTemporary reports whether Redis refused a command that it will accept soon. Redis 6 puts
// its own words before a READONLY from a command in a script.
func isTemporary(err error) bool {
	code, _ := answerOf(err)
	return slices.Contains(temporary, code) || redis.IsReadOnlyError(err) || redis.IsMaxClientsError(err)
}

// isUnsent reports whether a command was never sent, because there was no connection for it. If
// the context ends before there is one, go-redis returns the context's error unwrapped.
func isUnsent(err error) bool {
	var network *net.OpError
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrClosed) || err == context.Canceled || err == context.DeadlineExceeded ||
		errors.As(err, &network) && network.Op == "dial"
}

// isUnknown reports whether a command that ended with err may have taken effect: the
// network, the context, a proxy or a hook of the client ended it.
func isUnknown(err error) bool { return err != nil && !isRefusal(err) && !isUnsent(err) }

// isWrongType reports whether the key holds something other than a lock. A script puts its own
// words before the code.
func isWrongType(err error) bool { return err != nil && strings.Contains(err.Error(), "WRONGTYPE") }

// explain adds to an error of Redis what it means for the lock. If ctx has ended the
// command, it also wraps the error of ctx, since callers look for that.
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
