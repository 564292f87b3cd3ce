package judge

import (
	"context"
	"net"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// asked is a connection that knows whether it was asked for its health.
type asked struct {
	net.Conn
	times *int
}

func (a asked) SyscallConn() (syscall.RawConn, error) {
	*a.times++
	return nil, net.ErrClosed
}

// go-redis asks a connection before it uses it again. One that is counted answers as it would.
func TestCountedConnectionTellsOfItsHealth(t *testing.T) {
	times := 0
	o := &redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) { return asked{times: &times}, nil }}
	counted(nil, nil)(o)
	conn, err := o.Dialer(t.Context(), "", "")
	require.NoError(t, err)
	require.Implements(t, (*syscall.Conn)(nil), conn)
	_, err = conn.(syscall.Conn).SyscallConn()
	require.ErrorIs(t, err, net.ErrClosed)
	require.Equal(t, 1, times)
}
