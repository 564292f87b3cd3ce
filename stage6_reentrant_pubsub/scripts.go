package stage6

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
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
	cleanUpScript = newScript("cleanup.lua")
	lookScript    = newScript("look.lua")
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
// first arguments, beginning with the number of keys.
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

// The codes of the errors with which Redis refuses a command. BADTOKEN is the acquire script's own; the last
// four are those that codeOf gives to errors without one.
var (
	temporary = strings.Fields("LOADING BUSY MASTERDOWN READONLY NOREPLICAS CLUSTERDOWN TRYAGAIN MOVED ASK MAXCLIENTS")
	permanent = strings.Fields("OOM NOSCRIPT NOPERM NOAUTH WRONGPASS WRONGTYPE MISCONF CROSSSLOT EXECABORT BADTOKEN INVALID SCRIPT")
	passing   = strings.Fields("OOM NOPERM NOAUTH WRONGPASS MISCONF") // these may end, and are the same for one key
)

// codeOf returns the code of an error that came from Redis, or from a proxy, and "" for any other error. Errors
// that have only the code ERR get one by their kind:
//
//   - Redis stopped a script at a command that it refused. The error names the script. Redis 6 puts it in front
//     of the command's own code; for a missing right newer servers leave the code out.
//   - Redis has no room for another connection.
//   - Redis did not accept the command's name or arguments.
//
// Any other ERR may come from a proxy that has lost Redis or stopped waiting.
func codeOf(err error) string {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return ""
	}
	code, text, _ := strings.Cut(answer.Error(), " ")
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case code != "ERR":
	case has("user_script", "Error compiling script", "ACL failure", "executing the script"):
		for word := range strings.FieldsSeq(text) {
			if word = strings.TrimPrefix(word, "-"); slices.Contains(temporary, word) || slices.Contains(permanent, word) {
				return word
			}
		}
		if has("ACL failure", "executing the script") {
			return "NOPERM"
		}
		return "SCRIPT"
	case has("max number of clients"):
		return "MAXCLIENTS"
	case has("unknown command", "wrong number of arguments", "invalid expire time"):
		return "INVALID"
	}
	return code
}

// isRefusal reports whether Redis did not execute the command. Any other error leaves the outcome unknown.
func isRefusal(err error) bool {
	code := codeOf(err)
	return slices.Contains(temporary, code) || slices.Contains(permanent, code)
}

// isTemporary reports whether Redis refused a command that it will accept soon.
func isTemporary(err error) bool { return slices.Contains(temporary, codeOf(err)) }

// isMoved reports whether the key is on another server. A Cluster client goes there, and returns such an error only
// while a slot is migrating. Any other client gets it again and again.
func isMoved(err error) bool { return codeOf(err) == "MOVED" || codeOf(err) == "ASK" }

// isHungUp reports whether the connection was closed by the other side, or broke.
func isHungUp(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.As(err, &network) && network.Op != "dial" && !network.Timeout()
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

// isWrongType reports whether the key holds something other than a lock.
func isWrongType(err error) bool { return codeOf(err) == "WRONGTYPE" }

// explain adds to an error of Redis what it means for the lock. If ctx has ended the
// command, it also wraps the error of ctx, since callers look for that.
func (m *Mutex) explain(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	why := ""
	code, end := codeOf(err), ended(ctx)
	switch {
	case end != nil && code == "":
		err = fmt.Errorf("%w (%w)", end, err)
	case code == "WRONGTYPE":
		why = "the key holds no lock of this kind, but something else, such as a lock of another library: "
	case code == "NOPERM":
		why = "the Redis user lacks a right that the lock needs (docs/final-lock.md lists them): "
	case isMoved(err):
		why = "the server is a node of a Cluster: pass what redis.NewClusterClient returns: "
	case isHungUp(err):
		why = "the connection was closed: the server may have no room for another one, or be a proxy that knows no HELLO (docs/using.md says which): "
	}
	return fmt.Errorf("stage6: %s %s: %s%w", doing, m.key, why, err)
}
