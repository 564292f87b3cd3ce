import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import net.javacrumbs.shedlock.core.*;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.*;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The worker of ShedLock's RedisLockProvider, with a provider for each process. Its README, "Redis (using Spring
 * RedisConnectionFactory)": "return new RedisLockProvider(connectionFactory, ENV);". Nothing is renewed:
 * KeepAliveLockProvider is for "special cases".
 *
 * Set are lockAtMostFor, which is the lease, lockAtLeastFor, zero as in "Locking without a framework", and the timeout of
 * Lettuce, three leases instead of 60 s. ShedLock has no waiting: a task that finds the lock taken is "simply skipped".
 * So a caller that waits comes again every 100 ms.
 */
public final class Worker {
    record Client(LettuceConnectionFactory connections, LockProvider provider) {}

    static final Map<String, Client> clients = new ConcurrentHashMap<>(); // address → client
    static final Map<String, String> addresses = new ConcurrentHashMap<>(); // PROC → address
    static final Map<String, String> names = new ConcurrentHashMap<>(); // PROC → name of its lock
    static final Map<String, Duration> leases = new ConcurrentHashMap<>(); // PROC → its lease
    static final Map<String, SimpleLock> held = new ConcurrentHashMap<>(); // PROC/CALLER → its lock
    static final Map<String, Thread> calls = new ConcurrentHashMap<>(); // number of a call → its thread

    static Client connect(String address, Duration lease) {
        String[] at = address.split(":");
        var patient = LettuceClientConfiguration.builder().commandTimeout(lease.multipliedBy(3)).build();
        var connections = new LettuceConnectionFactory(new RedisStandaloneConfiguration(at[0], Integer.parseInt(at[1])), patient);
        connections.afterPropertiesSet();
        connections.start();
        new StringRedisTemplate(connections).hasKey("ping");
        return new Client(connections, new RedisLockProvider(connections, "env"));
    }

    static synchronized void say(String line) { System.out.println(line.replaceAll("\\s+", " ")); }

    static boolean take(String process, String caller) {
        var task = new LockConfiguration(Instant.now(), names.get(process), leases.get(process), Duration.ZERO);
        var lock = clients.get(addresses.get(process)).provider.lock(task);
        lock.ifPresent(got -> held.put(caller, got));
        return lock.isPresent();
    }

    static String answer(String[] w) throws Exception { // number, op, process/caller, …
        if (w[1].equals("open")) {
            Duration lease = Duration.ofMillis(Long.parseLong(w[5]));
            clients.computeIfAbsent(w[3], address -> connect(address, lease));
            addresses.put(w[2], w[3]);
            names.put(w[2], w[4]);
            leases.put(w[2], lease);
            return "yes";
        }
        if (w[1].equals("cancel")) {
            Thread caller = calls.get(w[2]);
            if (caller != null) caller.interrupt();
            return "yes";
        }
        String process = w[2].split("/")[0];
        switch (w[1]) {
            case "lock":
                long ms = Long.parseLong(w[3]), end = System.currentTimeMillis() + (ms > 0 ? ms : 1L << 40);
                while (!take(process, w[2])) {
                    if (System.currentTimeMillis() >= end) return "timeout";
                    Thread.sleep(100);
                }
                return "yes";
            case "try": return take(process, w[2]) ? "yes" : "no";
            case "unlock":
                SimpleLock lock = held.get(w[2]);
                if (lock == null) return "refused there is no lock to unlock";
                lock.unlock();
                return "yes";
            case "close":
                Client client = clients.remove(addresses.get(process));
                if (client != null) client.connections.destroy();
                return "yes";
        }
        return "unsupported";
    }

    static void call(String[] words) {
        calls.put(words[0], Thread.currentThread());
        String outcome;
        try {
            outcome = answer(words);
        } catch (InterruptedException error) {
            outcome = "timeout " + error;
        } catch (IllegalStateException error) { // "it has already been unlocked or extended"
            outcome = "refused " + error.getMessage();
        } catch (Exception error) {
            outcome = "unknown " + error;
        }
        calls.remove(words[0]);
        say(words[0] + " " + outcome);
    }

    public static void main(String[] args) {
        ExecutorService threads = Executors.newCachedThreadPool(); // a lock belongs to no thread
        say("ready 1 shared");
        for (Scanner in = new Scanner(System.in); in.hasNextLine(); ) {
            String[] words = in.nextLine().split(" ");
            threads.submit(() -> call(words));
        }
        System.exit(0);
    }
}
