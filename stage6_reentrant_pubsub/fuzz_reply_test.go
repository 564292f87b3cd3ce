package stage6_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// replies are answers that a server may send, and some that no server should.
var replies = []string{
	":1\r\n", ":0\r\n", ":-1\r\n", ":-2\r\n", ":-30002\r\n", ":2\r\n", ":9223372036854775807\r\n", ":-9223372036854775808\r\n",
	":9223372036854775808\r\n", ":\r\n", ":one\r\n", "+OK\r\n", "+1\r\n", "+\r\n", "$-1\r\n", "*-1\r\n", "_\r\n", "#t\r\n", "#f\r\n", "#x\r\n",
	"$1\r\n1\r\n", "$0\r\n\r\n", "$5\r\n1\r\n", "$-2\r\n", "*0\r\n", "*1\r\n:1\r\n", "*1\r\n*1\r\n:1\r\n", "*2\r\n:1\r\n", "%1\r\n+a\r\n:1\r\n", "%1\r\n*0\r\n:1\r\n", "~1\r\n:1\r\n",
	",1.5\r\n", ",inf\r\n", "(123456789012345678901234567890\r\n", "=5\r\ntxt:1\r\n", "!3\r\nERR\r\n", ">1\r\n+x\r\n", "|1\r\n+a\r\n:1\r\n:1\r\n",
	"-ERR no\r\n", "-\r\n", "-NOSCRIPT No matching script\r\n", "-TRYAGAIN slot\r\n", "-MOVED 1 127.0.0.1:1\r\n", "-ASK 1 127.0.0.1:1\r\n", "-MOVED\r\n", "-MOVED x y\r\n",
	"-LOADING\r\n", "-READONLY\r\n", "-CLUSTERDOWN\r\n", "-WRONGTYPE\r\n", "-OOM\r\n", "-NOAUTH\r\n", "-ERR max number of clients reached\r\n", "-ERR a\nb\r\n",
	"", "\r\n", "\n", ":1", ":1\n", ":1\r\n:1\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x00\xff", "*3\r\n$1\r\n",
}

// tooLong matches lengths for which go-redis itself asks for more memory than a
// test has.
var tooLong = regexp.MustCompile(`[*$%~>|=!;][+-]?[0-9]{5,}`)

// FuzzReply answers acquires, counts, renewals and releases with any bytes. The lock
// never panics, never reports a hold that the reply does not grant, always returns in
// bounded time, and works again as soon as the server does.
func FuzzReply(f *testing.F) {
	for _, reply := range replies {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if tooLong.MatchString(reply) {
			return
		}
		for _, script := range []string{"acquire", "count", "renew", "release"} {
			inBubble(t, func(t *testing.T, r *redisNode) { askABadServer(t, r, script, reply) })
		}
	})
}

// askABadServer uses each method of a lock while one script is answered by reply.
func askABadServer(t *testing.T, r *redisNode, script, reply string) {
	m := r.Mutex()
	began := time.Now()
	var outer *stage6.Hold
	if script != "acquire" {
		outer = lock(t, m, t.Context())
	}
	r.Answer(script, reply)
	switch script {
	case "acquire":
		hold, err := m.TryLock(t.Context())
		requireGranted(t, reply, hold, err)
		if hold != nil {
			require.Positive(t, hold.Token())
			require.Contains(t, reply, fmt.Sprint(hold.Token()), "the token is the reply's")
			_ = hold.Unlock() // Redis does not have the hold
		}
	case "count":
		inner, err := m.Lock(outer.Context())
		requireGranted(t, reply, inner, err)
		_ = outer.Unlock() // for some replies the hold is lost
		if inner != nil {
			_ = inner.Unlock()
		}
	case "renew":
		time.Sleep(lease + lease/2) // after a renewal with a senseless answer the hold is lost
		_ = outer.Unlock()
	case "release":
		if err := outer.Unlock(); err == nil {
			require.True(t, isScalar(reply), "released by %q", reply)
		}
	}
	require.LessOrEqual(t, time.Since(began), 2*lease)

	r.Answer(script)
	ctx, cancel := context.WithTimeout(t.Context(), 2*lease)
	defer cancel()
	hold, err := r.Mutex().Lock(ctx) // at the latest when the lease of the first has ended
	require.NoError(t, err)
	require.NoError(t, hold.Unlock())
}

// requireGranted asserts a hold or an error, and no hold unless the reply is of a
// kind that can grant one.
func requireGranted(t *testing.T, reply string, hold *stage6.Hold, err error) {
	t.Helper()
	require.NotEqual(t, hold == nil, err == nil)
	if hold != nil {
		require.True(t, isScalar(reply), "held by %q", reply)
	}
}

// isScalar reports whether a reply is one number, one boolean or one text,
// perhaps after attributes or pushes, which go-redis skips.
func isScalar(reply string) bool { return reply != "" && strings.Contains(":+$#=|>", reply[:1]) }

func TestAnswerThatIsNoTokenIsNoHold(t *testing.T) {
	inBubble(t, func(t *testing.T, r *redisNode) {
		m := r.Mutex()
		r.Answer("acquire", ":0\r\n")
		hold, err := m.TryLock(t.Context())
		require.EqualError(t, err, "stage6: lock lock:{order:1001}: Redis answered 0, which is neither a token nor a refusal")
		require.Nil(t, hold)
	})
}
