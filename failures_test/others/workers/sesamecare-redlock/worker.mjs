// The worker of @sesamecare-oss/redlock 1.4.0. Its README, "Usage": "The `using` method wraps and executes a routine in
// the context of an auto-extending lock", "await redlock.using([senderId, recipientId], 5000, async (signal, context)".
//
// Set is the lease. The client's defaults wait for an answer as long as it takes. The other options are those of the
// README's "Configuration". They have no limit of time, so a caller that waits asks again with as many attempts as fit
// into the rest of its time, and at most the ten of the README. They hold for the extensions of its lock, too.
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import Redis from "ioredis"; // npm install @sesamecare-oss/redlock@1.4.0 ioredis@5.11.1
import { ExecutionError, Redlock, ResourceLockedError } from "@sesamecare-oss/redlock";

const name = process.env.LOCK_NAME, leaseMs = Number(process.env.LOCK_LEASE_MS);
const [host, port] = process.env.LOCK_REDIS.split(":");
const client = new Redis({ host, port: Number(port) });
client.on("error", () => {}); // a broken connection
const configured = { driftFactor: 0.01, retryCount: 10, retryDelay: 200, retryJitter: 200, automaticExtensionThreshold: 500 };
const redlock = new Redlock([client], configured);
const held = new Map(); // caller → what ends its routine

// isRefusal reports whether Redis answered each attempt, and said no: "per-attempt and per-client stats (including
// errors) are made available".
async function isRefusal(error) {
  if (!(error instanceof ExecutionError)) return false;
  const errors = (await Promise.all(error.attempts)).flatMap((stats) => [...stats.votesAgainst.values()]);
  return errors.every((e) => e instanceof ResourceLockedError);
}

async function take(caller, retryCount) {
  let using;
  const got = await new Promise((resolve, reject) => {
    using = redlock.using([name], leaseMs, { retryCount }, (signal) => new Promise((done, fail) => {
      signal.onabort = () => console.log("lost", caller);
      const end = () => signal.aborted ? fail(signal.error) : done(); // "if (signal.aborted) { throw signal.error; }"
      resolve(() => { end(); return using; });
    }));
    using.catch(async (error) => await isRefusal(error) ? resolve(null) : reject(error));
  });
  if (got) held.set(caller, got);
  return got !== null;
}

async function lock(caller, ms) {
  const { retryCount, retryDelay, retryJitter } = configured, end = Date.now() + ms;
  for (;;) {
    const left = Math.max(0, end - Date.now());
    if (await take(caller, Math.min(retryCount, Math.floor(left / (retryDelay + retryJitter))))) return true;
    if (Date.now() >= end) return false;
    await sleep(Math.min(retryDelay, end - Date.now()));
  }
}

async function unlock(caller) { // after an error it is not known whether it is held
  if (!held.has(caller)) return false;
  const freed = await held.get(caller)().then(() => true, async (error) => {
    if (await isRefusal(error)) return false;
    throw error;
  });
  held.delete(caller);
  return freed;
}

async function answer(op, caller, ms) {
  try {
    switch (op) {
      case "lock": return await lock(caller, ms || Infinity) ? "yes" : "timeout";
      case "try": return await take(caller, 0) ? "yes" : "no"; // "it's sufficient to attempt a lock with `retryCount=0`"
      case "unlock": return await unlock(caller) ? "yes" : "refused it is not held";
      default: return "unsupported";
    }
  } catch (error) {
    return "unknown " + String(error).replaceAll("\n", " ");
  }
}

await client.ping();
console.log("ready 1 watchdog");
for await (const line of createInterface({ input: process.stdin })) {
  const [number, op, caller, ms] = line.split(" ");
  answer(op, caller, Number(ms)).then((words) => console.log(number, words));
}
process.exit(0); // a call may still wait
