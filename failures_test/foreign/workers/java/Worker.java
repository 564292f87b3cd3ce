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
            var patient = DefaultJedisClientConfig.builder().timeoutMillis((int) (3 * leaseMs));
            redis = RedisClient.builder().hostAndPort(host, port)
                .clientConfig(patient.build()).build();
            redis.ping();
            this.name = name;
            this.leaseMs = leaseMs;
        }

        boolean tryLock(String caller) {
            String value = UUID.randomUUID().toString();
            held.put(caller, value);
            return redis.set(name, value, SetParams.setParams().nx().px(leaseMs)) != null;
        }

        boolean lock(String caller, long ms) throws Exception { // waits at most that long
            for (long end = System.currentTimeMillis() + ms; !tryLock(caller); Thread.sleep(50))
                if (System.currentTimeMillis() > end) return false;
            return true;
        }

        boolean unlock(String caller) {
            String value = held.getOrDefault(caller, "");
            return redis.eval(FREE, List.of(name), List.of(value)).equals(1L);
        }
    }

    // ---- the rest is the same for any lock
    static final Map<String, MyLock> locks = new ConcurrentHashMap<>(); // process → lock

    static String answer(String op, String[] w) throws Exception { // number, op, process/caller, …
        if (op.equals("open")) {
            String[] at = w[3].split(":");
            locks.put(w[2], new MyLock(at[0], Integer.parseInt(at[1]), w[4], Long.parseLong(w[5])));
            return "yes";
        }
        MyLock lock = locks.get(w[2].split("/")[0]);
        long ms = w.length > 3 ? Long.parseLong(w[3]) : 0;
        if (op.equals("lock")) return lock.lock(w[2], ms == 0 ? 1L << 40 : ms) ? "yes" : "timeout";
        if (op.equals("try")) return lock.tryLock(w[2]) ? "yes" : "no";
        if (op.equals("unlock")) return lock.unlock(w[2]) ? "yes" : "refused it is not held";
        return "unsupported";
    }

    static void say(String line) { System.out.println(line.replaceAll("\\s+", " ")); }

    public static void main(String[] args) {
        Map<String, ExecutorService> threads = new HashMap<>(); // each caller has a thread of its own
        say("ready 1 shared");
        for (Scanner in = new Scanner(System.in); in.hasNextLine(); ) {
            String[] words = in.nextLine().split(" ");
            String thread = words[1].equals("close") ? "close" : words[2];
            threads.computeIfAbsent(thread, t -> Executors.newSingleThreadExecutor()).submit(() -> {
                try {
                    say(words[0] + " " + answer(words[1], words));
                } catch (Exception error) { // what became of the command is not known
                    say(words[0] + " unknown " + error);
                }
            });
        }
        System.exit(0);
    }
}
