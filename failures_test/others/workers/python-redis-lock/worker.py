"""The worker of python-redis-lock, with a lock object for each use. Its README, "Troubleshooting": "turn on the
`auto_renewal` parameter in combination with `expire`", "with redis_lock.Lock(conn, name='my-lock', expire=60,
auto_renewal=True)".

Set are expire, which is the lease, and the client's timeouts: three leases instead of five seconds. All else is the
default of python-redis-lock and redis-py, ten retries included. A limit is "the maximum number of seconds", a whole
number of them: the caller's, rounded up.

The holder is told of no loss, so there is no "lost": the thread that renews ends with an exception of its own.
"""
import math, os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import redis, redis_lock  # pip install python-redis-lock==4.0.1 redis==8.1.0

name, lease = os.environ["LOCK_NAME"], int(os.environ["LOCK_LEASE_MS"]) / 1000
host, port = os.environ["LOCK_REDIS"].split(":")
client = redis.Redis(host, int(port), socket_timeout=3 * lease, socket_connect_timeout=3 * lease)
held = {}  # caller → lock object


def acquire(caller, **how):
    lock = redis_lock.Lock(client, name, expire=lease, auto_renewal=True)
    got = lock.acquire(**how)
    if got:
        held[caller] = lock
    return got


def release(caller):
    held.get(caller, redis_lock.Lock(client, name)).release()


printing = threading.Lock()


def say(*words):
    with printing:
        print(*words, flush=True)


def answer(number, op, caller, ms):
    try:
        if op == "lock":
            say(number, "yes" if acquire(caller, timeout=math.ceil(int(ms) / 1000) or None) else "timeout")
        elif op == "try":
            say(number, "yes" if acquire(caller, blocking=False) else "no")
        elif op == "unlock":
            release(caller)
            say(number, "yes")
        else:
            say(number, "unsupported")
    except redis_lock.NotAcquired as error:
        say(number, "refused", error)
    except Exception as error:
        say(number, "unknown", type(error).__name__, str(error).replace("\n", " "))


threads = {}  # caller → its thread
client.ping()
say("ready 1 watchdog")
for line in sys.stdin:
    number, op, caller, ms = (line.split() + ["0"])[:4]
    if op == "cancel":  # of a call, not a caller's
        say(number, "unsupported")
    else:
        threads.setdefault(caller, ThreadPoolExecutor(1)).submit(answer, number, op, caller, ms)
os._exit(0)  # a call may still wait
