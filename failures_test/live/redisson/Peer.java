import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/**
 * A process with a real Redisson, driven by lines. Its arguments are the address of the Redis,
 * the watchdog's timeout in milliseconds, and single, or in a Cluster the shardedSubscriptionMode.
 *
 * <p>It prints a port of this machine. For Redisson a thread is an owner, so each connection to
 * that port gets a thread of its own. It takes one command a line, and answers it with a line:
 *
 * <pre>lock command</pre>
 *
 * The lock's name is URL-encoded. The process ends with its input.
 */
public final class Peer {
    public static void main(String[] args) throws IOException {
        RedissonClient redisson = Redisson.create(config(args[0], Long.parseLong(args[1]), args[2]));
        ServerSocket owners = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        System.out.println(owners.getLocalPort());
        start(() -> {
            while (true) {
                Socket owner = owners.accept();
                start(() -> serve(redisson, owner));
            }
        });
        while (System.in.read() >= 0) { }
        Runtime.getRuntime().halt(0); // its locks are left to their leases
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // whoever asked is gone
            }
        }).start();
    }

    private static void serve(RedissonClient redisson, Socket owner) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(owner.getInputStream(), StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(owner.getOutputStream(), true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(redisson, line.split(" ")));
        }
    }

    private static Config config(String address, long watchdog, String mode) {
        Config config = new Config().setLockWatchdogTimeout(watchdog).setThreads(4).setNettyThreads(4);
        if (mode.equals("single")) {
            config.useSingleServer().setAddress("redis://" + address)
                    .setConnectionPoolSize(8).setConnectionMinimumIdleSize(2);
        } else {
            config.useClusterServers().addNodeAddress("redis://" + address)
                    .setShardedSubscriptionMode(ShardedSubscriptionMode.valueOf(mode))
                    .setMasterConnectionPoolSize(8).setMasterConnectionMinimumIdleSize(2);
        }
        return config;
    }

    private static String answer(RedissonClient redisson, String[] command) {
        try {
            RLock lock = redisson.getLock(URLDecoder.decode(command[0], StandardCharsets.UTF_8));
            return String.valueOf(execute(lock, command[1]));
        } catch (IllegalMonitorStateException e) {
            return "not held";
        } catch (Exception e) {
            return "error " + e.toString().replaceAll("[\r\n]", " ");
        }
    }

    private static Object execute(RLock lock, String command) {
        switch (command) {
            case "lock": // the watchdog renews it
                lock.lock();
                return "ok";
            case "lockBriefly":
                lock.lock(400, TimeUnit.MILLISECONDS);
                return "ok";
            case "tryLock":
                return lock.tryLock();
            case "unlock":
                lock.unlock();
                return "ok";
            case "forceUnlock":
                return lock.forceUnlock();
            case "holdCount":
                return lock.getHoldCount();
            case "isLocked":
                return lock.isLocked();
            case "isHeld":
                return lock.isHeldByCurrentThread();
            default:
                return "error no such command: " + command;
        }
    }
}
