import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/**
 * A process with a real Redisson, driven by lines. Its arguments are the address, the
 * watchdog's timeout in milliseconds, and single, cluster or cluster-unsharded.
 *
 * <p>It prints "ready" and Redisson's version, and then takes one command a line:
 *
 * <pre>number thread command lock [milliseconds]</pre>
 *
 * and answers each with one line, as soon as it has an answer:
 *
 * <pre>number answer</pre>
 *
 * For Redisson a thread is an owner, so each name of a thread gets a thread of its own. The
 * lock's name is URL-encoded. The process ends with its input.
 */
public final class Peer {
    private final RedissonClient redisson;
    private final PrintStream out;
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();

    private Peer(RedissonClient redisson, PrintStream out) {
        this.redisson = redisson;
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Peer peer = new Peer(Redisson.create(config(args[0], Long.parseLong(args[1]), args[2])), out);
        out.println("ready " + Redisson.class.getPackage().getImplementationVersion());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            peer.take(line.split(" "));
        }
        Runtime.getRuntime().halt(0); // its locks are left to their leases
    }

    private static Config config(String address, long watchdog, String mode) {
        Config config = new Config().setLockWatchdogTimeout(watchdog).setThreads(4).setNettyThreads(4);
        if (mode.equals("single")) {
            config.useSingleServer().setAddress("redis://" + address)
                    .setConnectionPoolSize(8).setConnectionMinimumIdleSize(2);
            return config;
        }
        ShardedSubscriptionMode sharded =
                mode.equals("cluster") ? ShardedSubscriptionMode.AUTO : ShardedSubscriptionMode.OFF;
        config.useClusterServers().addNodeAddress("redis://" + address).setShardedSubscriptionMode(sharded)
                .setMasterConnectionPoolSize(8).setMasterConnectionMinimumIdleSize(2);
        return config;
    }

    private void take(String[] command) {
        threads.computeIfAbsent(command[1], name -> Executors.newSingleThreadExecutor(this::newThread))
                .execute(() -> out.println(command[0] + " " + answer(command)));
    }

    private Thread newThread(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private String answer(String[] command) {
        try {
            RLock lock = redisson.getLock(URLDecoder.decode(command[3], StandardCharsets.UTF_8));
            return execute(lock, command[2], command.length > 4 ? Long.parseLong(command[4]) : -1);
        } catch (IllegalMonitorStateException e) {
            return "not-held";
        } catch (Exception e) {
            return "error " + e.toString().replace('\n', ' ').replace('\r', ' ');
        }
    }

    private String execute(RLock lock, String command, long millis) {
        switch (command) {
            case "lock": // without milliseconds the watchdog renews it
                lock.lock(millis, TimeUnit.MILLISECONDS);
                return "ok";
            case "tryLock":
                return String.valueOf(lock.tryLock());
            case "unlock":
                lock.unlock();
                return "ok";
            case "forceUnlock":
                return String.valueOf(lock.forceUnlock());
            case "holdCount":
                return String.valueOf(lock.getHoldCount());
            case "isLocked":
                return String.valueOf(lock.isLocked());
            case "isHeld":
                return String.valueOf(lock.isHeldByCurrentThread());
            case "ttl": // -2: nobody holds it, -1: it has no lease
                return String.valueOf(lock.remainTimeToLive());
            default:
                return "error no such command: " + command;
        }
    }
}
