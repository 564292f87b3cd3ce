// Package proxies tests the locks behind real proxies, with the build tag servers: Envoy, twemproxy
// and HAProxy in front of real redis-servers. [DialWithoutHello] is how go-redis gets through a
// twemproxy.
package proxies

import (
	"bytes"
	"context"
	"net"
	"time"
)

// DialWithoutHello is a redis.Options.Dialer for a proxy that closes the connection on HELLO, such
// as twemproxy 0.5. go-redis v9 begins each connection with HELLO, and has no option not to. The
// connection answers HELLO itself, as a Redis before 6 does, and go-redis goes on without it:
//
//	rdb := redis.NewClient(&redis.Options{
//		Addr:                  "twemproxy:22121",
//		Dialer:                proxies.DialWithoutHello,
//		Protocol:              2,
//		DisableIdentity:       true, // no CLIENT SETINFO, on which it would close too
//		ContextTimeoutEnabled: true,
//	})
//
// With a password go-redis sends AUTH instead. DB and ClientName have to stay empty: they are
// further commands that twemproxy does not know.
func DialWithoutHello(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &withoutHello{Conn: conn}, nil
}

// withoutHello is a connection that answers HELLO with an error.
type withoutHello struct {
	net.Conn
	answer []byte // not read yet
}

func (c *withoutHello) Write(b []byte) (int, error) {
	_, command, _ := bytes.Cut(b, []byte("\r\n")) // after the number of words
	if bytes.HasPrefix(command, []byte("$5\r\nhello\r\n")) {
		c.answer = []byte("-ERR unknown command 'hello'\r\n")
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *withoutHello) Read(b []byte) (int, error) {
	if len(c.answer) > 0 {
		n := copy(b, c.answer)
		c.answer = c.answer[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}
