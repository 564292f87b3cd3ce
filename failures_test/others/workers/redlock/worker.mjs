// The worker of redlock 4.2.0, with ioredis. Its README, "Locking & Unlocking": "redlock.lock(resource, ttl)", and later
// "return lock.unlock()". Nothing is renewed: "if you need more time, you can continue to extend the lock".
//
// Set is the lease. The client's defaults wait for an answer as long as it takes. The other options are those of the
// README's "Configuration". They have no limit of time, so a caller that waits makes one attempt after the other, with
// the same pauses, until its time is over.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import Redis from "ioredis"; // npm install redlock@4.2.0 ioredis@5.11.1
import Redlock from "redlock";

const name = process.env.LOCK_NAME, leaseMs = Number(process.env.LOCK_LEASE_MS);
const [host, port] = process.env.LOCK_REDIS.split(":");
const client = new Redis({ host, port: Number(port) });
client.on("error", () => {}); // a broken connection
const configured = { driftFactor: 0.01, retryCount: 10, retryDelay: 200, retryJitter: 200 };
const held = new Map(); // caller → its lock


// no returns false for an error that says no. Each failure is a LockError, but "when a redis client fails, you can listen
// for the `clientError` event".
function no(error, redlock) {
  if (error instanceof Redlock.LockError && !redlock.clientError) return false;
  throw redlock.clientError ?? error;
}

async function take(caller) { // "it's sufficient to attempt a lock with `retryCount=0`"
  const redlock = new Redlock([client], { ...configured, retryCount: 0 });
  redlock.on("clientError", (error) => { redlock.clientError = error; });
  return redlock.lock(name, leaseMs).then((lock) => held.set(caller, lock), (error) => no(error, redlock));
}

async function lock(caller, ms) {
  const { retryCount, retryDelay, retryJitter } = configured, end = Date.now() + ms;
  for (let attempts = 1; ; attempts++) {
    try {
      if (await take(caller)) return true;
    } catch (error) {
      if (attempts > retryCount) throw error;
    }
    if (Date.now() >= end) return false;
    await sleep(Math.min(retryDelay + retryJitter * (2 * Math.random() - 1), end - Date.now()));
  }
}

async function unlock(caller) {
  const lock = held.get(caller);
  if (!lock) return false;
  lock.redlock.clientError = undefined;
  return lock.unlock().then(() => true, (error) => no(error, lock.redlock));
}

async function answer(op, caller, ms) {
  try {
    switch (op) {
      case "lock": return await lock(caller, ms || Infinity) ? "yes" : "timeout";
      case "try": return await take(caller) ? "yes" : "no";
      case "unlock": return await unlock(caller) ? "yes" : "refused it is not held";
      default: return "unsupported";
    }
  } catch (error) {
    return "unknown " + String(error).replaceAll("\n", " ");
  }
}

await client.ping();
console.log("ready 1");
for await (const line of createInterface({ input: process.stdin })) {
  const [number, op, caller, ms] = line.split(" ");
  answer(op, caller, Number(ms)).then((words) => console.log(number, words));
}
process.exit(0); // a call may still wait
