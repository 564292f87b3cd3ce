// A worker for a lock in Node. Replace the part between the lines with yours.
import { createInterface } from "node:readline";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "redis"; // npm install redis

const name = process.env.LOCK_NAME, leaseMs = Number(process.env.LOCK_LEASE_MS);
const [host, port] = process.env.LOCK_REDIS.split(":");
const patient = 3 * leaseMs; // the client's timeouts: at least three leases
const client = createClient({ socket: { host, port: Number(port), connectTimeout: patient } });
client.on("error", () => {}); // a broken connection: the command fails

// ---- your lock: each function returns whether it got or freed the lock
const held = new Map(); // caller → value
const FREE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

async function tryLock(caller) {
  held.set(caller, randomUUID());
  const command = ["SET", name, held.get(caller), "NX", "PX", String(leaseMs)];
  return await client.sendCommand(command) === "OK";
}

async function lock(caller, ms) { // waits at most that long
  for (const end = Date.now() + ms; !await tryLock(caller); await sleep(50)) {
    if (Date.now() > end) return false;
  }
  return true;
}

async function unlock(caller) {
  return await client.sendCommand(["EVAL", FREE, "1", name, held.get(caller) ?? ""]) === 1;
}

// ---- the rest is the same for any lock
async function answer(op, caller, ms) {
  try {
    if (op === "lock") return await lock(caller, ms || Infinity) ? "yes" : "timeout";
    if (op === "try") return await tryLock(caller) ? "yes" : "no";
    if (op === "unlock") return await unlock(caller) ? "yes" : "refused it is not held";
    return "unsupported";
  } catch (error) { // what became of the command is not known
    return "unknown " + String(error).replaceAll("\n", " ");
  }
}

await client.connect();
await client.ping();
console.log("ready 1");
for await (const line of createInterface({ input: process.stdin })) {
  const [number, op, caller, ms] = line.split(" ");
  answer(op, caller, Number(ms)).then((words) => console.log(number, words));
}
