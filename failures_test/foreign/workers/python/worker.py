"""A worker for a lock in Python. Replace the part between the lines with yours."""
import collections, os, sys, threading, time, uuid
from concurrent.futures import ThreadPoolExecutor
import redis  # pip install redis

name, lease_ms = os.environ["LOCK_NAME"], int(os.environ["LOCK_LEASE_MS"])
host, port = os.environ["LOCK_REDIS"].split(":")
patient = 3 * lease_ms / 1000  # the client's timeouts: at least three leases
client = redis.Redis(host, int(port), socket_timeout=patient, socket_connect_timeout=patient)

# ---- your lock: each function returns whether it got or freed the lock
held = {}  # caller → value
FREE = """if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])"""


def try_lock(caller):
    held[caller] = str(uuid.uuid4())
    return bool(client.set(name, held[caller], nx=True, px=lease_ms))


def lock(caller, seconds):  # waits at most that long
    end = time.monotonic() + seconds
    while not try_lock(caller):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def unlock(caller):
    return client.eval(FREE, 1, name, held.get(caller, "")) == 1


# ---- the rest is the same for any lock
printing = threading.Lock()


def say(*words):
    with printing:
        print(*words, flush=True)


def answer(number, op, caller, ms="0"):
    try:
        if op == "lock":
            say(number, "yes" if lock(caller, int(ms) / 1000 or 1e9) else "timeout")
        elif op == "try":
            say(number, "yes" if try_lock(caller) else "no")
        elif op == "unlock":
            say(number, "yes" if unlock(caller) else "refused it is not held")
        else:
            say(number, "unsupported")
    except Exception as error:  # what became of the command is not known
        say(number, "unknown", type(error).__name__, str(error).replace("\n", " "))


client.ping()
say("ready 1")
threads = collections.defaultdict(lambda: ThreadPoolExecutor(1))  # each caller has a thread of its own
for line in sys.stdin:
    words = line.split()
    threads["close" if words[1] == "close" else words[2]].submit(answer, *words)
os._exit(0)
