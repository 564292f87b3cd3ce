"""The worker of redis-py's Lock. As in its documentation, each use has a lock object of its own.

Set are the lock's timeout, which is the lease (without one the key stays for ever), and the client's timeouts: three
leases instead of five seconds. All else is redis-py's default, ten retries included. A lock object keeps its token for
the thread that took it, so each caller is a thread.
"""
import os, sys, threading
from concurrent.futures import ThreadPoolExecutor
import redis  # pip install redis==8.1.0

name, lease = os.environ["LOCK_NAME"], int(os.environ["LOCK_LEASE_MS"]) / 1000
host, port = os.environ["LOCK_REDIS"].split(":")
client = redis.Redis(host, int(port), socket_timeout=3 * lease, socket_connect_timeout=3 * lease)
held = {}  # caller → lock object


def acquire(caller, **how):
    lock = client.lock(name, timeout=lease)
    got = lock.acquire(**how)
    if got:
        held[caller] = lock
    return got


def release(caller):
    held.get(caller, client.lock(name)).release()


printing = threading.Lock()


def say(*words):
    with printing:
        print(*words, flush=True)


def answer(number, op, caller, ms):
    try:
        if op == "lock":
            say(number, "yes" if acquire(caller, blocking_timeout=int(ms) / 1000 or None) else "timeout")
        elif op == "try":
            say(number, "yes" if acquire(caller, blocking=False) else "no")
        elif op == "unlock":
            release(caller)
            say(number, "yes")
        else:
            say(number, "unsupported")
    except redis.exceptions.LockError as error:  # also LockNotOwnedError
        say(number, "refused", error)
    except Exception as error:
        say(number, "unknown", type(error).__name__, str(error).replace("\n", " "))


threads = {}  # caller → its thread
client.ping()
say("ready 1")
for line in sys.stdin:
    number, op, caller, ms = (line.split() + ["0"])[:4]
    if op == "cancel":  # of a call, not a caller's
        say(number, "unsupported")
    else:
        threads.setdefault(caller, ThreadPoolExecutor(1)).submit(answer, number, op, caller, ms)
os._exit(0)  # a call may still wait
