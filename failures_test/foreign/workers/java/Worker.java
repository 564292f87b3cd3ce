import java.util.*;
import java.util.concurrent.*;
import redis.clients.jedis.*;
import redis.clients.jedis.params.SetParams;

/** A worker for a lock in Java: one JVM for all processes. Replace MyLock with yours. */
public final class Worker {
    // ---- your lock: each method returns whether it got or freed the lock
    static final class MyLock {
        static final String FREE = """
            if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
            return redis.call('DEL', KEYS[1])""";
        final Map<String, String> held = new ConcurrentHashMap<>(); // caller → value
        final UnifiedJedis redis;
        final String name;
        final long leaseMs;

        MyLock(String host, int port, String name, long leaseMs) {
            int patient = (int) (3 * leaseMs); // the client's timeouts: at least three leases
            this.redis = RedisClient.builder().hostAndPort(host, port)
                .clientConfig(DefaultJedisClientConfig.builder().timeoutMillis(patient).build()).build();
            this.name = name;
            this.leaseMs = leaseMs;
            redis.ping();
        }

        boolean tryLock(String caller) {
            String value = UUID.randomUUID().toString();
            held.put(caller, value);
            return redis.set(name, value, SetParams.setParams().nx().px(leaseMs)) != null;
        }

        boolean lock(String caller, long ms) throws InterruptedException { // waits at most that long
            for (long end = System.currentTimeMillis() + ms; !tryLock(caller); Thread.sleep(50)) {
                if (System.currentTimeMillis() > end) return false;
            }
            return true;
        }

        boolean unlock(String caller) {
            String value = held.getOrDefault(caller, "");
            return redis.eval(FREE, List.of(name), List.of(value)).equals(1L);
        }

        void close() { redis.close(); }
    }

    // ---- the rest is the same for any lock
    static final Map<String, MyLock> locks = new ConcurrentHashMap<>(); // process → lock

    static synchronized void say(String line) { System.out.println(line.replaceAll("\\s+", " ")); }

    static String answer(String[] w) throws Exception { // number, op, process[/caller], …
        if (w[1].equals("open")) {
            String[] at = w[3].split(":");
            int port = Integer.parseInt(at[1]);
            locks.put(w[2], new MyLock(at[0], port, w[4], Long.parseLong(w[5])));
            return "yes";
        }
        if (w[1].equals("cancel")) return "unsupported";
        MyLock lock = locks.get(w[2].split("/")[0]);
        long ms = Long.parseLong(w[3]);
        switch (w[1]) {
            case "lock": return lock.lock(w[2], ms == 0 ? 1L << 40 : ms) ? "yes" : "timeout";
            case "try": return lock.tryLock(w[2]) ? "yes" : "no";
            case "unlock": return lock.unlock(w[2]) ? "yes" : "refused it is not held";
            case "close": lock.close(); return "yes";
        }
        return "unsupported";
    }

    public static void main(String[] args) {
        ExecutorService calls = Executors.newCachedThreadPool();
        say("ready 1 shared");
        for (Scanner in = new Scanner(System.in); in.hasNextLine(); ) {
            String[] words = in.nextLine().split(" ");
            calls.submit(() -> {
                try {
                    say(words[0] + " " + answer(words));
                } catch (Exception error) { // what became of the command is not known
                    say(words[0] + " unknown " + error);
                }
            });
        }
        System.exit(0);
    }
}
