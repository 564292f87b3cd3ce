// Package redisson tests that stage 6, with WithRedissonNames, and a real Redisson 4.7.0 can
// share one RLock. It needs a redis-server, Java 17 and Maven, and skips the tests without them:
//
//	go test -v -tags live ./failures_test/live/redisson
//
// The checks (exclusion, contention, wake-up, counts, renewal, expiry, force, odd names, slots of
// a Cluster) run with Go first and, where that differs, with Redisson first. -v prints a line for
// each. Another test shows that the checks fail for a stage 6 with a mistake.
//
// In a Cluster, call ClusterServersConfig.setShardedSubscriptionMode(OFF): Redisson's default
// on Redis 7 is sharded pub/sub, which stage 6 does not use. Without that they still exclude each
// other, but no message arrives, so a Redisson waits until the lease that it saw ends, and stage 6
// until its next look. And a name
// with an incomplete hash tag, such as a{b, cannot be used in a Cluster: Redisson locks it and
// cannot unlock it (CROSSSLOT); stage 6 refuses each Lock.
//
// What a shared lock does not have:
//   - Tokens for Java. An RLock neither reads nor writes stage 6's fencing token. A resource that
//     checks tokens cannot tell a late Java writer from the holder, and refuses a late Go writer
//     only after a later Go holder has written. RFencedLock counts in another key.
//   - Another kind of lock of the same name: fair, read-write, fenced and spin locks use other keys
//     or messages.
//   - A notice of a lost lock in Java: a holder can ask isHeldByCurrentThread. Stage 6 ends the
//     hold's context. And Redisson's partial unlock sets the lease to the watchdog's timeout, while
//     stage 6 never shortens a lease.
package redisson
