import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.*;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * The worker of Spring Integration's RedisLockRegistry: a registry for each process, and a thread for each of its
 * callers, as the owner of a lock is registry and thread.
 *
 * Its reference, "Redis Lock Registry": "The pub-sub is the preferred mode", and with setRenewalTaskScheduler() "the lock
 * will be automatically renewed every 1/3 of the expiration time". Set besides are expireAfter, which is the lease (60 s
 * by default), and the timeout of Lettuce, three leases instead of 60 s. All else is the default of Spring Data Redis.
 *
 * The registry tells a holder of no loss, so there is no "lost".
 */
public final class Worker {
    record Client(LettuceConnectionFactory connections, ThreadPoolTaskScheduler renewals, RedisLockRegistry registry) {
        void close() {
            registry.destroy();
            renewals.shutdown();
            connections.destroy();
        }
    }

    static final Map<String, Client> clients = new ConcurrentHashMap<>(); // address → client
    static final Map<String, String> addresses = new ConcurrentHashMap<>(); // PROC → address
    static final Map<String, Lock> locks = new ConcurrentHashMap<>(); // PROC → lock
    static final Map<String, ExecutorService> threads = new ConcurrentHashMap<>(); // address/CALLER → thread
    static final Set<String> busy = ConcurrentHashMap.newKeySet(); // address/CALLER
    static final Map<String, Thread> calls = new ConcurrentHashMap<>(); // number of a call → its thread

    static Client connect(String address, Duration lease) {
        String[] at = address.split(":");
        var patient = LettuceClientConfiguration.builder().commandTimeout(lease.multipliedBy(3)).build();
        var connections = new LettuceConnectionFactory(new RedisStandaloneConfiguration(at[0], Integer.parseInt(at[1])), patient);
        connections.afterPropertiesSet();
        connections.start();
        new StringRedisTemplate(connections).hasKey("ping");
        var renewals = new ThreadPoolTaskScheduler();
        renewals.afterPropertiesSet();
        var registry = new RedisLockRegistry(connections, "registry", lease);
        registry.setRedisLockType(RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
        registry.setRenewalTaskScheduler(renewals);
        return new Client(connections, renewals, registry);
    }

    static synchronized void say(String line) { System.out.println(line.replaceAll("\\s+", " ")); }

    static String answer(String[] w) throws Exception { // number, op, process/caller, …
        if (w[1].equals("open")) {
            Client client = clients.computeIfAbsent(w[3], address -> connect(address, Duration.ofMillis(Long.parseLong(w[5]))));
            addresses.put(w[2], w[3]);
            locks.put(w[2], client.registry.obtain(w[4]));
            return "yes";
        }
        if (w[1].equals("cancel")) {
            Thread caller = calls.get(w[2]);
            if (caller != null) caller.interrupt();
            return "yes";
        }
        String process = w[2].split("/")[0];
        Lock lock = locks.get(process);
        long ms = Long.parseLong(w[3]);
        switch (w[1]) {
            case "lock":
                if (ms > 0) return lock.tryLock(ms, TimeUnit.MILLISECONDS) ? "yes" : "timeout";
                lock.lockInterruptibly();
                return "yes";
            case "try": return lock.tryLock() ? "yes" : "no";
            case "unlock": lock.unlock(); return "yes";
            case "close":
                Client client = clients.remove(addresses.get(process));
                if (client != null) client.close();
                return "yes";
        }
        return "unsupported";
    }

    static String outcome(String[] words) {
        try {
            return answer(words);
        } catch (ConcurrentModificationException | IllegalStateException error) { // "if the ownership of the lock is expired"
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
        Thread.interrupted(); // of a cancel that came too late
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
