// Package incidents lists public reports of the failures: where somebody else met them.
package incidents

import "path"

// Incident is a public report of a failure: where somebody else met it.
type Incident struct {
	Source string // repository and number, or author and title
	Link   string
	What   string // what happened, in one sentence
}

// All are the public reports of each failure that we know of. A report
// stands where its story is that failure's, also when the software is another
// kind of lock.
var All = map[string][]Incident{
	// The lease.
	"crash-before-expire": {
		onGitHub("redis/redis-py", "issues/818", "The lock of the Python client sent SETNX and then PEXPIRE: a client that crashed in between locked out all others for ever."),
		onGitHub("getsentry/sentry", "pull/1509", "SETNX followed by EXPIRE left a stale lock when the second command failed; one SET with NX and EX replaced them."),
		onGitHub("lukas-krecan/ShedLock", "issues/105", "Keys with a TTL of -1 blocked schedulers for good."),
	},
	"work-outlives-ttl": {
		onGitHub("marcoCasamento/Hangfire.Redis.StackExchange", "pull/67", "The lock's key lived as long as the next job waited for it: more often than not that job began while the first was at work."),
	},
	"work-outlives-fixed-lease": {
		onGitHub("redisson/redisson", "issues/4405", "A user asks why a lock with a lease time of its own gets no watchdog: by design, since it expires in any case."),
	},
	"loss-hidden-at-unlock": {
		onGitHub("laravel/framework", "issues/26213", "Releasing a lock whose time was over threw no error, which made the overlap hard to diagnose."),
		onGitHub("spring-projects/spring-integration", "pull/2661", "An unlock after the key had expired said nothing; since this change it throws."),
	},
	// The owner.
	"delete-foreign": {
		onGitHub("laravel/framework", "issues/26213", "Cache locks had no owner: a client that overran its lock deleted the next client's, and a third came in."),
		onGitHub("twentyhq/twenty", "issues/25661", "The lock's value was the constant \"lock\" and the release an unconditional DEL; every caller inherited it."),
		onGitHub("nexspence/nexspence", "issues/223", "A token was written with each lock and never read again: the release deleted whatever was there."),
	},
	"check-then-delete": {
		onGitHub("livekit/livekit", "pull/1044", "UnlockRoom read, compared and deleted in separate commands; a pause between them could delete another client's lock. A script fixed it."),
		onGitHub("BerriAI/litellm", "pull/24466", "GET, compare and DEL were three steps, so that a stale pod could delete the lock of another."),
	},
	"stranger-unlock": {
		onGitHub("etcd-io/etcd", "pull/14704", "An Unlock without a Lock could delete the key of the lock's prefix by mistake; it is refused now."),
		onGitHub("yujiasun/Distributed-Kit", "issues/5", "The example code unlocked in a finally block also when it had not got the lock."),
	},
	"forced-unlock": {
		onGitHub("dapr/proposals", "pull/43", "The proposal warns that the owner of a lock that is freed by force is not told until it renews or releases."),
	},
	// The watchdog.
	"renew-foreign": {
		onGitHub("redisson/redisson", "issues/597", "The renewal was given a check that the lock still belongs to its owner."),
	},
	"renew-blip": {
		onGitHub("hashicorp/consul", "pull/912", "The first failed renewal ended RenewPeriodic, so each leader election cost all locks; now it tries until the TTL is over."),
		onGitHub("linagora/cozy-stack", "pull/4911", "One renewal that fails ends all others; that the lease is then lost although Redis recovers is listed as a known limitation."),
		onGitHub("redisson/redisson", "pull/3334", "A long script made Redis answer BUSY; the watchdog ended, and the next client got the lock."),
	},
	"renew-partition": {
		onGitHub("hashicorp/consul", "issues/18271", "A lock holder that was cut off did not notice for minutes: errors of renewals were logged, and nobody counted."),
		onGitHub("etcd-io/etcd", "issues/10811", "Client A, cut off, writes on in the belief that it holds the lock, while client B has got it and writes too."),
		onGitHub("redisson/redisson", "issues/4698", "When renewals fail, the application is not told; the request for a callback is open since 2022."),
	},
	"deadline-from-reply": {
		onGitHub("mike-marcacci/node-redlock", "pull/167", "A proposal to count the lease from the reply was turned down: a lock must not believe in its lease for longer than Redis does."),
	},
	"key-gone": {
		onGitHub("leandromoreira/redlock-rb", "issues/36", "Extending a lock whose key was gone succeeded as if it had been held all along."),
		onGitHub("linagora/cozy-stack", "pull/4911", "The answer of a renewal was thrown away; the work still is not stopped when the lease is lost."),
	},
	"pool-starved": {
		onGitHub("OptimalBits/bull", "issues/476", "Not a pool but an event loop: a long synchronous task kept it busy, and the job's lock expired before it could be renewed."),
		onGitHub("taskforcesh/bullmq", "issues/3183", "\"Could not renew lock\": the maintainer suspects a blocked event loop, and a second worker that took the job."),
	},
	"second-hold-renewed": {
		onGitHub("redisson/redisson", "issues/2515", "After one timeout of a renewal, no later lock of that name was renewed."),
		onGitHub("redisson/redisson", "issues/3712", "After a lock had expired on the server, the next one of that name was not renewed until the application restarted."),
	},
	"dog-per-reentry": {
		onGitHub("redisson/redisson", "pull/7251", "A read lock that was taken N times left N-1 entries behind when it was freed, and was renewed without end."),
	},
	"unlock-at-once": {
		onGitHub("redisson/redisson", "issues/7272", "Cancelling the renewal could run before it was scheduled: the key of a lock that nobody held was renewed for ever."),
		onGitHub("OptimalBits/bull", "issues/322", "The renewal set its timer again after the job had cleared it, and failed jobs stayed locked."),
	},
	"unlock-error-dog-lives": {
		onGitHub("redisson/redisson", "issues/1966", "After a response timeout the renewal was never taken off: the key was renewed even after the unlock."),
	},
	"dog-unlock-race": {
		onGitHub("OptimalBits/bull", "issues/397", "\"Unable to renew nonexisting lock\": the lock was released first and its renewal cancelled a moment later."),
	},
	"unlock-while-renewal-hangs": {
		onGitHub("harness/harness-core", "pull/45143", "Another cause, the same end: unlock got stuck behind Sentinel, and a job hung for ever."),
	},
	"crash-while-holding": {
		onGitHub("bbangert/beaker", "pull/163", "The lock had no lease: a restart before the release kept it for ever."),
		onGitHub("spring-projects/spring-data-redis", "issues/1146", "A cache lock without an expiry could leave readers waiting in an endless loop."),
		onGitHub("learningequality/kolibri", "issues/7463", "Locks that a shutdown had left kept users from signing in."),
		onGitHub("redis/redis-py", "pull/1303", "extend adds to the time that is left: with each renewal the key would have outlived its owner for longer."),
	},
	"renewed-for-ever": {
		onGitHub("redisson/redisson", "issues/1626", "In production a watchdog was sometimes not cancelled: it renewed until its instance was restarted, and all others waited."),
		onGitHub("madelson/DistributedLock", "issues/169", "Work in an endless loop keeps a lock that renews itself; the author shows how to limit it by hand."),
	},
	"hold-dropped": {
		onGitHub("redisson/redisson", "issues/3521", "A thread died of an exception without unlocking, and its lock was renewed on and on."),
	},
	// Waiters.
	"unlock-wakes": {
		onGitHub("redisson/redisson", "issues/3891", "A waiter was not woken by the unlock and went on half a minute later, when the lease would have ended; the message was missed."),
	},
	"wake-lost": {
		onGitHub("redisson/redisson", "issues/1763", "Under load the unlock was published before the waiter had subscribed, and it slept until it gave up."),
		onGitHub("redisson/redisson", "issues/5761", "Locks of several kinds missed unlock messages and waited for their timeout, or hung."),
		onGitHub("miintto/redis-lock-py", "issues/3", "A waiter subscribed after its attempt had failed and did not try again: it missed the release in between."),
	},
	"waiter-leaves": {
		onGitHub("golang/go", "issues/37852", "A semaphore within one process: when the first waiter cancelled, those behind him were not woken."),
	},
	"waiter-gives-up": {
		onGitHub("redisson/redisson", "issues/2099", "A waiter of the fair lock died, and the others waited for the time up to which its place was kept, hours or days later."),
	},
	"wake-eaten": {
		onGitHub("typelevel/cats-effect", "issues/3554", "A mutex within one process: a waiter that was woken and cancelled at the same moment took the wake-up with it."),
	},
	"pubsub-cut": {
		onGitHub("redisson/redisson", "issues/6026", "After a restart of Redis behind Sentinel, subscriptions were not made anew."),
		onGitHub("redisson/redisson", "issues/2007", "A hosted Redis failed over by itself; the client found the new primary, and its subscriptions did not work any more."),
	},
	"expiry-wakes": {
		onGitHub("redisson/redisson", "issues/3829", "Keys were lost in a switch of nodes; unlock found nothing to delete, published nothing, and waiters slept for up to five minutes."),
	},
	"subscription-silent": {
		onGitHub("redis/ioredis", "pull/1589", "A node of a Cluster died without a word: the subscriber went on listening to it, and missed messages."),
	},
	"fair-in-process": {
		onGitHub("ionelmc/python-redis-lock", "issues/58", "A newcomer can take the lock between the wake-up of a waiter and its attempt."),
	},
	"idle-waiters": {
		onGitHub("redis/rueidis", "issues/602", "A waiter that was to be woken by messages kept a CPU at more than 100%; a race had removed its watcher."),
		onGitHub("redisson/redisson", "issues/1577", "After a failover some ten waiters sent 150,000 attempts in five seconds."),
		onGitHub("discourse/mini_scheduler", "pull/4", "While Redis refused writes, waiters asked every millisecond and kept a CPU busy."),
	},
	"partial-unlock-wakes": {
		onGitHub("redisson/redisson", "issues/3349", "What messages cost: a million locks a minute saturated the network of a Cluster of 20 nodes, since each unlock was sent to all of them."),
	},
	// Lost and late messages.
	"slow-grant": {
		onGitHub("etcd-io/etcd", "issues/11456", "A client that had waited for the lock was told that it held it, although its own lease was over."),
		{"Martin Kleppmann, How to do distributed locking", kleppmann, "The replies to an acquire wait in the client's buffers during a garbage collection, and are read when the locks have expired."},
	},
	"grant-reply-lost": {
		onGitHub("leandromoreira/redlock-rb", "issues/76", "A timeout while reading the reply raised an error, and the resource stayed locked until its TTL was over."),
		onGitHub("etcd-io/etcd", "issues/9715", "An error from Lock left its key behind, and everybody waited for the end of a session that held nothing."),
		onGitHub("redisson/redisson", "issues/4109", "After a response timeout the instance that had failed re-entered its own leaked lock, and the others never got it."),
	},
	"grant-answered-with-error": {
		onGitHub("envoyproxy/envoy", "issues/21352", "SET through the proxy failed with \"upstream failure\" when a replica went down: the proxy says so when Redis has not answered in time or has closed the connection, whatever it has done."),
	},
	"grant-lost-asked-again": {
		onGitHub("mike-marcacci/node-redlock", "pull/369", "The key of a first attempt kept the same client out when it tried again."),
	},
	"retry-nx-false": {
		onGitHub("redis/go-redis", "issues/2985", "SetNX could return false for a key that had not existed: the connection closed, and the client's retry met its own key."),
	},
	"retry-unlock": {
		onGitHub("etcd-io/etcd", "issues/22082", "An Unlock whose reply was lost, called again, can delete a newer lock of the same session."),
	},
	// Contexts.
	"cancel-in-flight": {
		onGitHub("etcd-io/etcd", "issues/10111", "Lock gave the lock back because its context was closed, and could still return no error."),
	},
	"deadline-in-flight": {
		onGitHub("simstudioai/sim", "pull/7680", "A SET that its caller had given up took the lock later, for 30 s, and work for that row was dropped in silence."),
		onGitHub("redisson/redisson", "issues/5358", "A thread was interrupted while the reply to its successful tryLock was on its way: the lock stayed, and was renewed."),
	},
	"acquire-arrives-late": {
		onGitHub("mike-marcacci/node-redlock", "issues/299", "The lease counted from the first of many attempts: after a long wait the lock was over when it was granted."),
	},
	"unlock-cancelled-ctx": {
		onGitHub("blnkfinance/blnk", "issues/354", "Balances stayed locked for five minutes when a request was abandoned, because Unlock used its context."),
		onGitHub("googleforgames/open-match", "issues/1576", "A clean-up was cancelled and left a mutex locked; a game server that needed it got errors until the lock's timeout."),
		onGitHub("kalbasit/ncps", "pull/913", "A request that was cancelled half-way left its locks until the TTL was over."),
		onGitHub("redis/redis-py", "issues/3847", "A release that was cancelled had thrown its token away first: nobody could free the lock any more."),
	},
	// Re-entry and sharing.
	"self-deadlock": {
		onGitHub("kenn/redis-mutex", "issues/39", "In a large code base a mutex was taken inside a mutex of the same key, and waited for its expiry."),
	},
	"shared-object": {
		onGitHub("redis/redis-py", "issues/416", "Two threads shared one lock object; the first one's late release freed the second one's lock."),
	},
	"inner-unlock-frees": {
		onGitHub("python-zk/kazoo", "pull/292", "acquire was re-entrant and release was not: the first inner release gave the whole lock away."),
		onGitHub("redisson/redisson", "issues/891", "Freeing the read lock that was taken inside a write lock freed both."),
	},
	"reentry-after-loss": {
		onGitHub("redisson/redisson", "issues/84", "Re-entry read the owner and then wrote: if the lock expired in between, it overwrote the new owner's."),
	},
	"retry-count-two": {
		onGitHub("redisson/redisson", "issues/7367", "The acquire was sent again after a timeout: one tryLock, a hold count of 2, and one unlock did not free it."),
		onGitHub("redisson/redisson", "issues/4822", "After a failover each retried acquire counted: the count reached 8, and no other node got the lock."),
	},
	// The server.
	"script-flush": {
		onGitHub("leandromoreira/redlock-rb", "pull/29", "A hosted Redis ran SCRIPT FLUSH while the application was up: every call failed with NOSCRIPT."),
		onGitHub("resque/resque-scheduler", "issues/298", "After a change in the cluster the scheduler's lock failed with NOSCRIPT until the application was restarted."),
	},
	"oom": {
		onGitHub("mike-marcacci/node-redlock", "issues/11", "Another refusal, the same lie: a Redis that could not save to its disk refused writes, and unlock failed in silence."),
	},
	"unlock-refused": {
		{"Redisson, changelog of 3.27.1", "https://github.com/redisson/redisson/blob/master/CHANGELOG.md", "Before it a command that met READONLY was not sent again, whatever retryAttempts said."},
		onGitHub("Azure/aspnet-redis-providers", "issues/130", "After a failover the provider that locks sessions was answered with READONLY for minutes, until Redis was restarted."),
		onGitHub("redis/go-redis", "issues/2229", "Scripts met READONLY for a quarter of an hour after a failover: the error stands behind words of the script, and the client did not see it."),
	},
	// What no lease can prevent.
	"process-pause": {
		onGitHub("swarthy/redis-semaphore", "issues/24", "A computer awoke from standby, the mutex was lost, and several instances did the same job."),
		{"Jepsen, etcd 3.4.3", "https://jepsen.io/blog/2020-01-30-etcd-3.4.3", "The locks of etcd did not exclude: no lock in an asynchronous network can, and a bug in the implementation made it worse."},
		onGitHub("OptimalBits/bull", "issues/1416", "A worker that was to wake up after 5 s sometimes did so after minutes, when its job may be another's."),
	},
	"write-delayed": {
		onGitHub("etcd-io/etcd", "issues/11457", "Jepsen showed that etcd's locks do not exclude; messages that are delayed are one of the reasons given."),
		{"GitHub, December 2012", "https://github.blog/2012-12-26-downtime-last-saturday/", "The network stood still for some 90 s, longer than the heartbeats of file servers allowed, and both servers of a pair took themselves for the active one."},
	},
	"evicted-or-flushed": {
		onGitHub("langfuse/langfuse", "issues/15509", "A full Redis evicted the locks of running jobs, and the worker stopped for days without a sign."),
		onGitHub("taskforcesh/bullmq", "issues/2215", "The maintainer explains why eviction must be off: locks have an expiry, so they are among the keys that go first."),
	},
	"failover-async": {
		onGitHub("opsmill/infrahub", "issues/9450", "A failover may lose a lock before it is replicated, and two workers could change the schema at once; the gap was documented."),
		onGitHub("redisson/redisson", "issues/2669", "To narrow that window, every command of a lock waits for replicas."),
	},
	"clock-jump": {
		onGitHub("redis/redis", "issues/416", "ntpdate set a server's clock ahead by days, and what was to time out did so at once."),
		onGitHub("valkey-io/valkey", "issues/2651", "When the wall clock changes all locks may expire: keys keep the time at which they end, not how long they last."),
	},
	// The same with a fenced ledger.
	"process-pause-fenced": {
		onGitHub("etcd-io/etcd", "pull/11490", "A demonstration for the documentation: a holder stands still in an emulated garbage collection, and its lock carries a version."),
	},
	"token-after-flush": {
		{"Martin Kleppmann, How to do distributed locking", kleppmann, "A counter on one Redis node does not do for tokens, since that node may fail."},
	},
}

const kleppmann = "https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html"

// onGitHub is a report in a repository's tracker: "issues/7" or "pull/7".
func onGitHub(repository, thread, what string) Incident {
	return Incident{repository + " #" + path.Base(thread), "https://github.com/" + repository + "/" + thread, what}
}
