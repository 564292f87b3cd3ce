//go:build servers

package servers

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake is a server with fixed replies, which keeps what it was sent.
type fake struct {
	addr    string
	replies map[string]string

	mu   sync.Mutex
	sent []string
}

// serve starts a fake. It answers commands by their beginning, with replies in RESP; "" closes the connection. In a
// reply, PORT is the fake's own port. It knows no HELLO, and answers other commands with OK.
func serve(t *testing.T, replies map[string]string) *fake {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	f := &fake{addr: listener.Addr().String(), replies: replies}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.talk(conn)
		}
	}()
	return f
}

// reply keeps a command and returns the reply.
func (f *fake) reply(command string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, command)
	for beginning, reply := range f.replies {
		if strings.HasPrefix(command, beginning) {
			_, port, _ := net.SplitHostPort(f.addr)
			return strings.ReplaceAll(reply, "PORT", port)
		}
	}
	if strings.HasPrefix(command, "hello") {
		return "-ERR unknown command"
	}
	return "+OK"
}

func (f *fake) talk(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		command, err := readCommand(in)
		if err != nil {
			return
		}
		reply := f.reply(command)
		if reply == "" {
			return
		}
		if _, err := io.WriteString(conn, reply+"\r\n"); err != nil {
			return
		}
	}
}

// readCommand returns the words of a command, joined.
func readCommand(in *bufio.Reader) (string, error) {
	var count, length int
	if _, err := fmt.Fscanf(in, "*%d\r\n", &count); err != nil {
		return "", err
	}
	words := make([]string, count)
	for i := range words {
		if _, err := fmt.Fscanf(in, "$%d\r\n", &length); err != nil {
			return "", err
		}
		word := make([]byte, length+2)
		if _, err := io.ReadFull(in, word); err != nil {
			return "", err
		}
		words[i] = string(word[:length])
	}
	return strings.Join(words, " "), nil
}

// count returns how many commands with that beginning were sent.
func (f *fake) count(beginning string) (count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, command := range f.sent {
		if strings.HasPrefix(command, beginning) {
			count++
		}
	}
	return count
}
