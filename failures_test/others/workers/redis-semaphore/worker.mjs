// The worker of redis-semaphore 5.8.0's Mutex. Its README has a Mutex for each use, which refreshes by itself:
// "`refreshInterval` - ms, auto-refresh interval", with the "Example with lost lock handling", "onLockLost(err)".
//
// Set are lockTimeout, which is the lease (10 s by default), and acquireTimeout, which is the caller's. The client's
// defaults wait for an answer as long as it takes. A refresh that fails is an unhandled rejection, which ends Node by
// default: this program goes on, as one does that logs them.
import { createInterface } from "node:readline";
import Redis from "ioredis"; // npm install redis-semaphore@5.8.0 ioredis@5.11.1
import { Mutex, TimeoutError } from "redis-semaphore";

const name = process.env.LOCK_NAME, lockTimeout = Number(process.env.LOCK_LEASE_MS);
const [host, port] = process.env.LOCK_REDIS.split(":");
const client = new Redis({ host, port: Number(port) });
client.on("error", () => {}); // a broken connection
process.on("unhandledRejection", (error) => console.log("unhandled:", String(error).replaceAll("\n", " ")));
const held = new Map(); // caller → its mutex
const waiting = new Map(); // number of a call → what cancels it

function mutex(caller, options) {
  return new Mutex(client, name, { lockTimeout, ...options, onLockLost: () => console.log("lost", caller) });
}

async function lock(number, caller, ms) {
  const taken = mutex(caller, { acquireTimeout: ms || Infinity }), cancel = new AbortController();
  waiting.set(number, cancel);
  await taken.acquire(cancel.signal);
  held.set(caller, taken);
}

async function tryLock(caller) { // as in the "Example with optional lock"
  const taken = mutex(caller, { acquireAttemptsLimit: 1 });
  const got = await taken.tryAcquire();
  if (got) held.set(caller, taken);
  return got;
}

async function answer(number, op, caller, ms) {
  try {
    switch (op) {
      case "lock": await lock(number, caller, ms); return "yes";
      case "try": return await tryLock(caller) ? "yes" : "no";
      case "unlock": await (held.get(caller) ?? mutex(caller)).release(); return "yes";
      case "cancel": waiting.get(caller)?.abort(); return "yes";
      default: return "unsupported";
    }
  } catch (error) {
    const isOver = error instanceof TimeoutError || error.name === "AbortError";
    return (isOver ? "timeout " : "unknown ") + String(error).replaceAll("\n", " ");
  }
}

await client.ping();
console.log("ready 1 watchdog");
for await (const line of createInterface({ input: process.stdin })) {
  const [number, op, caller, ms] = line.split(" ");
  answer(number, op, caller, Number(ms)).then((words) => console.log(number, words));
}
process.exit(0); // a call may still wait
