import java.util.*;
import java.util.concurrent.*;
import org.redisson.Redisson;
import org.redisson.api.*;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/**
 * The worker of Redisson's RLock: a client for each process, and a thread for each caller, which the lock belongs to.
 *
 * Set are lockWatchdogTimeout, which is the lease (30 s by default), and the timeout of a command: three leases instead
 * of 3 s. All else is Redisson's default, retries included. lockInterruptibly is lock() that heeds an interrupt.
 *
 * Redisson tells a holder of no loss, so there is no "lost": its listeners are fed by keyspace events, which Redis
 * does not send by default.
 */
public final class Worker {
    static final class Process {
        final RedissonClient client;
        final RLock lock;

        Process(String address, String name, long leaseMs) {
            Config config = new Config().setLockWatchdogTimeout(leaseMs);
            config.useSingleServer().setAddress("redis://" + address).setTimeout((int) (3 * leaseMs));
            client = Redisson.create(config);
            lock = client.getLock(name);
        }
    }

    static final Map<String, Process> processes = new ConcurrentHashMap<>();
    static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>(); // process/caller → its thread
    static final Map<String, Thread> calls = new ConcurrentHashMap<>(); // number → who is calling

    static synchronized void say(String line) { System.out.println(line.replaceAll("\\s+", " ")); }

    static String answer(String[] w) throws Exception { // number, op, process/caller, …
        if (w[1].equals("open")) {
            processes.put(w[2], new Process(w[3], w[4], Long.parseLong(w[5])));
            return "yes";
        }
        if (w[1].equals("cancel")) {
            Thread caller = calls.get(w[2]);
            if (caller != null) caller.interrupt();
            return "yes";
        }
        Process process = processes.get(w[2].split("/")[0]);
        long ms = Long.parseLong(w[3]);
        switch (w[1]) {
            case "lock":
                if (ms > 0) return process.lock.tryLock(ms, TimeUnit.MILLISECONDS) ? "yes" : "timeout";
                process.lock.lockInterruptibly();
                return "yes";
            case "try": return process.lock.tryLock() ? "yes" : "no";
            case "unlock": process.lock.unlock(); return "yes";
            case "close": process.client.shutdown(); return "yes";
        }
        return "unsupported";
    }

    static void call(String[] words) {
        calls.put(words[0], Thread.currentThread());
        try {
            say(words[0] + " " + answer(words));
        } catch (IllegalMonitorStateException error) {
            say(words[0] + " refused " + error.getMessage());
        } catch (Exception error) {
            boolean interrupted = error instanceof InterruptedException || error.getCause() instanceof InterruptedException;
            say(words[0] + (interrupted ? " timeout " : " unknown ") + error);
        } finally {
            calls.remove(words[0]);
        }
    }

    public static void main(String[] args) {
        ExecutorService apart = Executors.newCachedThreadPool(); // open, cancel and close are of no caller
        say("ready 1 shared watchdog re-entry pub/sub");
        for (Scanner in = new Scanner(System.in); in.hasNextLine(); ) {
            String[] words = in.nextLine().split(" ");
            boolean isCall = List.of("lock", "try", "unlock").contains(words[1]);
            ExecutorService thread = isCall ? threads.computeIfAbsent(words[2], c -> Executors.newSingleThreadExecutor()) : apart;
            thread.submit(() -> call(words));
        }
        System.exit(0);
    }
}
