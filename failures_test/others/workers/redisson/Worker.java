import java.util.*;
import java.util.concurrent.*;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.config.Config;

/**
 * The worker of Redisson's RLock: a client for each process, and a thread for each of its callers, as the owner of a
 * lock is client and thread.
 *
 * Set are lockWatchdogTimeout, which is the lease (30 s by default), the timeout of a command, three leases instead of
 * 3 s, and how many connections it opens at once: 1 instead of 24, which keep a small machine busy. All else is
 * Redisson's default, retries included. lockInterruptibly() is a lock() that obeys an interrupt.
 *
 * Redisson tells a holder of no loss, so there is no "lost": its listeners are fed by keyspace events, which Redis
 * does not send by default.
 */
public final class Worker {
    static final Map<String, RedissonClient> clients = new ConcurrentHashMap<>(); // address → client
    static final Map<String, String> addresses = new ConcurrentHashMap<>(); // PROC → address
    static final Map<String, RLock> locks = new ConcurrentHashMap<>(); // PROC → lock
    static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>(); // address/CALLER → thread
    static final Set<String> busy = ConcurrentHashMap.newKeySet(); // address/CALLER
    static final Map<String, Thread> calls = new ConcurrentHashMap<>(); // number of a call → its thread

    static RedissonClient connect(String address, long leaseMs) {
        Config config = new Config().setLockWatchdogTimeout(leaseMs);
        config.useSingleServer().setAddress("redis://" + address).setTimeout((int) (3 * leaseMs))
            .setConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    static synchronized void say(String line) { System.out.println(line.replaceAll("\\s+", " ")); }

    static String answer(String[] w) throws Exception { // number, op, process/caller, …
        if (w[1].equals("open")) {
            RedissonClient client = clients.computeIfAbsent(w[3], address -> connect(address, Long.parseLong(w[5])));
            addresses.put(w[2], w[3]);
            locks.put(w[2], client.getLock(w[4]));
            return "yes";
        }
        if (w[1].equals("cancel")) {
            Thread caller = calls.get(w[2]);
            if (caller != null) caller.interrupt();
            return "yes";
        }
        String process = w[2].split("/")[0];
        RLock lock = locks.get(process);
        long ms = Long.parseLong(w[3]);
        switch (w[1]) {
            case "lock":
                if (ms > 0) return lock.tryLock(ms, TimeUnit.MILLISECONDS) ? "yes" : "timeout";
                lock.lockInterruptibly();
                return "yes";
            case "try": return lock.tryLock() ? "yes" : "no";
            case "unlock": lock.unlock(); return "yes";
            case "close":
                RedissonClient client = clients.remove(addresses.get(process));
                if (client != null) client.shutdown();
                return "yes";
        }
        return "unsupported";
    }

    static String outcome(String[] words) {
        try {
            return answer(words);
        } catch (IllegalMonitorStateException error) {
            return "refused " + error.getMessage();
        } catch (Exception error) {
            boolean interrupted = error instanceof InterruptedException || error.getCause() instanceof InterruptedException;
            return (interrupted ? "timeout " : "unknown ") + error;
        }
    }

    static void call(String[] words, String caller) { // in its caller's thread
        calls.put(words[0], Thread.currentThread());
        String outcome = outcome(words);
        calls.remove(words[0]);
        busy.remove(caller);
        say(words[0] + " " + outcome);
    }

    public static void main(String[] args) {
        ExecutorService apart = Executors.newCachedThreadPool(); // open, cancel and close are of no caller
        say("ready 1 shared watchdog re-entry pub/sub");
        for (Scanner in = new Scanner(System.in); in.hasNextLine(); ) {
            String[] words = in.nextLine().split(" ");
            if (!List.of("lock", "try", "unlock").contains(words[1])) {
                apart.submit(() -> say(words[0] + " " + outcome(words)));
                continue;
            }
            String[] path = words[2].split("/");
            String caller = addresses.get(path[0]) + "/" + path[1];
            if (busy.add(caller)) {
                threads.computeIfAbsent(caller, c -> Executors.newSingleThreadExecutor()).submit(() -> call(words, caller));
            } else { // a thread makes one call at a time
                say(words[0] + " unsupported");
            }
        }
        System.exit(0);
    }
}
