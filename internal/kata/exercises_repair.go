package kata

import (
	"slices"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// repairExercises are locks of stages, of steps and of documents with a mistake each. They
// are to be found by reading; the failure that shows is the proof.
var repairExercises = []Exercise{
	{
		ID: "r1", Title: "repair this lock: the lease", Base: "2",
		Story: "A lock of stage 2, with one mistake. It excludes, it waits, it unlocks. In the staging environment nobody has ever seen a lease end. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start: Material{Column: "2", Edits: []Edit{{"mutex.go", `"PX", m.ttl.Milliseconds()`, `"EX", m.ttl.Milliseconds()`}}},
		Fixes: []string{
			"crash-before-expire", "crash-while-holding", "renewed-for-ever", "hold-dropped",
			"second-client", "check-then-set", "try-while-holding", "last-millisecond", "two-at-once", "cancel-in-flight", "lease-between-seconds", "waiter-gives-up",
			"network-gone", "two-names-nested", "each-grant-late", // the lease is not what was asked for
		},
		Hints: [3]i18n.Text{
			"Read how the lease gets into Redis, and in which unit.",
			"EX counts seconds. A lease of 30 s is 30000 milliseconds.",
			"In TryLock: PX, not EX.",
		},
		Fixed:  "The lease is given in the unit that the option counts in. A lease that is a thousand times too long shows only when somebody dies.",
		Search: Sought{Blind: "A search lasts for three leases, and this lease does end, hours after that. No property is about a lease that is too long."},
		Predict: Prediction{
			Failure: "double-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Question: "A has unlocked twice, and B took the lock in between. Now C calls TryLock. What is C told?",
			Choices:  []Choice{{"That somebody else has the lock", "refused"}, {"It has the lock", "held"}, {"An error", "error"}},
			Answer:   1, Asks: quiz.Told("C"),
		},
		Question: "How would you test a lease without waiting for it?",
		Read:     "stage2_set_nx_ex/README.md",
	},
	{
		ID: "r2", Title: "repair this lock: the refusal", Base: "2",
		Story: "A lock of stage 2, with one mistake. When Redis is in trouble, all clients wait politely for a lock that nobody has. Read it first and say what is wrong; then let kata explore look; then mend it.",
		Start: Material{Column: "2", Edits: []Edit{{"mutex.go", `if errors.Is(err, redis.Nil) {`, `if err != nil {`}}},
		Fixes: []string{"oom", "network-gone"},
		Hints: [3]i18n.Text{
			"Read what becomes of each answer that SET can get.",
			"A refusal by NX is one particular error of go-redis. All others say that something is wrong.",
			"In TryLock: errors.Is(err, redis.Nil) is the refusal; return every other error.",
		},
		Fixed:  "Only Redis's own no is a no. An error goes to the caller, who can tell a lock that is held from a Redis that is full.",
		Search: Sought{Property: "truth", Env: "refusal", Bound: 2},
		Predict: Prediction{
			Failure: "stranger-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Question: "A holds the lock. B, which never had it, has called Unlock. C calls TryLock. What is C told?",
			Choices:  []Choice{{"At once, that somebody else has the lock", "refused"}, {"It has the lock, beside A", "held"}, {"An error", "error"}},
			Answer:   1, Asks: quiz.Told("C"),
		},
		Question: "Which answers can SET NX get, and what does each one mean to a caller?",
		Read:     "stage2_set_nx_ex/README.md",
	},
	{
		ID: "r3", Title: "repair this lock: the second try", Base: "3",
		Story: "A lock of stage 3, with one mistake. Once in a while an Unlock says that the lock is not held, although the work has only just begun. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start: Material{Column: "3", Edits: []Edit{{"mutex.go", "	value := uuid.NewString()\n", "	value := uuid.NewString()\n	m.value = value\n"}}},
		Fixes: []string{"try-while-holding", "two-at-once"},
		Hints: [3]i18n.Text{
			"Follow what the field named value holds through a TryLock that is refused.",
			"A holder that tries once more is refused, and has forgotten its own value by then.",
			"In TryLock: remember the value after Redis has said OK, not before.",
		},
		Fixed:  "The value is remembered only when the lock was taken. A try that is refused changes nothing about the hold there is.",
		Search: Sought{Blind: "The clients of a search ask for the lock, work and unlock. None asks again while it holds the lock, and this mistake needs that."},
		Predict: Prediction{
			Failure: "late-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Question: "A's first Unlock was stuck between GET and DEL, and A has taken the lock again. Now the old DEL has arrived. C calls TryLock. What is C told?",
			Choices:  []Choice{{"It has the lock, beside A", "held"}, {"That somebody else has the lock", "refused"}, {"An error", "error"}},
			Answer:   0, Asks: quiz.Told("C"),
		},
		Question: "May two goroutines share one Mutex of this kind?",
		Read:     "stage3_owner_value/README.md",
	},
	{
		ID: "r4", Title: "repair this lock: the value", Base: "4",
		Story: "A lock of stage 4, with one mistake. It compares in Redis, and yet, after a network problem, a client has removed its own new hold. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start: Material{Column: "4", Edits: []Edit{{
			"mutex.go", "	value := uuid.NewString()\n", "	value := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, \"%p\", m)).String()\n",
		}}},
		Fixes: []string{"late-unlock"},
		Hints: [3]i18n.Text{
			"What tells one hold from the next hold of the same client?",
			"The value is made from the object, so all holds of one object have the same. A command that was stuck in the network fits them all.",
			"In TryLock: a fresh uuid.NewString() for each attempt.",
		},
		Fixed:  "Each hold has a value of its own, so an Unlock that was on its way for long fits no later hold. A comparison is only as good as the value that is compared.",
		Search: Sought{Blind: "It takes a client whose Unlock times out, and that takes the lock again while the old command is on its way. In a search a client waits for the answer of its Unlock, however late that is."},
		Predict: Prediction{
			Failure: "self-deadlock", Until: quiz.Moment{Kind: world.Called, Client: "A", Op: world.OpLock, Nth: 2},
			Question: "A holds the lock and calls a function that locks as well, with ten seconds to wait. What is it told?",
			Choices:  []Choice{{"It has the lock: it is its own", "held"}, {"A timeout: it waits for itself", "error"}, {"At once, that somebody else has the lock", "refused"}},
			Answer:   1, Asks: quiz.Told("A"),
		},
		Question: "Why a random value, and not the host's name and the process's number?",
		Read:     "stage4_lua_unlock/README.md",
	},
	{
		ID: "r5", Title: "repair this lock: the nervous watchdog", Base: "5",
		Story: "A lock of stage 5, with one mistake. After the network has failed for a moment, long jobs lose their locks half a minute later. Read it first and say what is wrong; then let kata explore look; then mend it.",
		Start: Material{Column: "5", Edits: []Edit{{"watchdog.go", `if err == nil && renewed == 0 {`, `if err != nil || renewed == 0 {`}}},
		Fixes: []string{"renew-blip", "renew-blips"},
		Hints: [3]i18n.Text{
			"Read when the watchdog gives up.",
			"An error says nothing about the lock; the next renewal may get through, and the lease has room for one that does not.",
			"In renew: return only if err == nil && renewed == 0.",
		},
		Fixed:  "Only Redis's word that the lock is gone ends the watchdog. An error is a reason to try again while the lease lasts.",
		Search: Sought{Property: "watchdog", Env: "async", Bound: 2},
		Predict: Prediction{
			Failure: "key-gone", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "Redis has evicted A's key, and B calls Lock. A's next renewal will find nothing. Who believes in the end to hold the lock?",
			Choices:  []Choice{{"B: A's renewal tells A", "B"}, {"A and B", "A and B"}, {"A", "A"}},
			Answer:   1, Asks: quiz.Insiders,
		},
		Question: "How many renewals may fail before the holder has to stop?",
		Read:     "stage5_watchdog/README.md",
	},
	{
		ID: "r6", Title: "repair this lock: the late watchdog", Base: "5",
		Story: "A lock of stage 5, with one mistake. It renews, and still two clients have been inside at once, again and again. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start: Material{Column: "5", Edits: []Edit{{"watchdog.go", `time.NewTicker(w.ttl / 3)`, `time.NewTicker(w.ttl)`}}},
		Fixes: []string{
			"work-outlives-ttl", "renew-blip", "renew-blips", "second-hold-renewed", "short-lease-renewed", "renew-foreign", "unlock-at-once", "dog-unlock-race",
			"unlock-while-renewal-hangs", "acquire-context-ends", "renewals-unanswered", "renewals-in-two-slots",
		},
		Hints: [3]i18n.Text{
			"Read when the first renewal is sent, and when the lease ends.",
			"A renewal that leaves when the lease is over arrives after it.",
			"In renew: a ticker of w.ttl / 3, so that one renewal may fail.",
		},
		Fixed:  "The watchdog renews after each third of the lease, so it is early enough even when a renewal is lost. A lease is a promise with a date: a renewal that comes on that date is late.",
		Search: Sought{Blind: "Where everything may be late by any time, so may a renewal, and a healthy watchdog loses the lock with the same few steps. Where nothing is late, nobody in a search works for long enough to be renewed."},
		Predict: Prediction{
			Failure: "renewed-for-ever", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "A's business hangs in a loop, and its watchdog is well. B calls Lock and waits for longer than a lease. What is B told?",
			Choices:  []Choice{{"It has the lock: A has had it for long enough", "held"}, {"A timeout: A is renewed for ever", "error"}, {"At once, that somebody else has the lock", "refused"}},
			Answer:   1, Asks: quiz.Told("B"),
		},
		Question: "A watchdog cannot tell long work from stuck work. What would you do about it?",
		Read:     "stage5_watchdog/README.md",
	},
	{
		ID: "r7", Title: "repair this lock: the second unlock", Base: "6.2",
		Story: "A lock of step 6.2, with one mistake. Since the network became bad, the log is full of lost locks, and nobody else was ever inside. Read it first and say what is wrong; then let kata explore look; then mend it.",
		Start: Material{Column: "6.2", Edits: []Edit{
			{"hold.go", "			if !deleted && !(h.unknown && time.Now().Before(w.until)) { // else it was the unlock before that deleted it\n", "			if !deleted {\n"},
			{"hold.go", "	unknown  bool // an unlock was sent, and nobody knows what became of it\n", ""},
			{"hold.go", "		h.unknown = h.unknown || isUnknown(err)\n", ""},
		}},
		Fixes: []string{"retry-unlock"},
		Hints: [3]i18n.Text{
			"Read what the answer 0 of the unlock script can mean.",
			"An Unlock whose reply was lost may have deleted the key. Then the next one finds nothing, and all is well.",
			"In Unlock: remember in the hold that an unlock got no answer; from then on 0 is no loss.",
		},
		Fixed:  "An answer means something else after a question that was never answered. The hold remembers what it does not know.",
		Search: Sought{Property: "truth", Env: "reply-loss", Bound: 2},
		Predict: Prediction{
			Failure: "self-deadlock", Until: quiz.Moment{Kind: world.Called, Client: "A", Op: world.OpLock, Nth: 2},
			Question: "A holds the lock and calls a function that locks as well, with ten seconds to wait. What is it told?",
			Choices:  []Choice{{"It has the lock: it is its own", "held"}, {"A timeout: it waits for itself", "error"}, {"At once, that somebody else has the lock", "refused"}},
			Answer:   1, Asks: quiz.Told("A"),
		},
		Question: "An operator sees \"hold is lost\" in the log. How can the lock tell a loss from an answer that it missed?",
		Read:     "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "r8", Title: "repair this lock: the deaf waiter", Base: "6.4",
		Story: "A lock of step 6.4, with one mistake. Once in a while a waiter sleeps for half a minute although the lock is free. Read it first and say what is wrong; then let kata explore look; then mend it.",
		Start: Material{Column: "6.4", Edits: []Edit{{"wait.go",
			"	// A message says that the lock was freed, and an acknowledgement that it may have been\n	// before: what was published until then was not heard, also after a reconnect. The\n	// channel keeps both until they are taken. Health checks would be commands for nothing.\n	woken := sub.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(0))\n",
			"	woken := sub.Channel(redis.WithChannelHealthCheckInterval(0)) // no commands for nothing\n",
		}}},
		Fixes: []string{"wake-lost", "pubsub-cut"},
		Hints: [3]i18n.Text{
			"From which moment on does the waiter hear anything? What may have happened before?",
			"Redis acknowledges each SUBSCRIBE, and go-redis subscribes again after a broken connection. What was published until then nobody has heard.",
			"In Lock: sub.ChannelWithSubscriptions delivers acknowledgements too, and each is a reason to try.",
		},
		Fixed:  "A waiter looks once more when Redis has said that it is listened to, at the beginning and after each reconnect. Whoever only waits for messages believes that none was sent before.",
		Search: Sought{Property: "wake-up", Env: "short-pauses", Bound: 2},
		Predict: Prediction{
			Failure: "unlock-wakes", Until: quiz.Moment{Kind: world.Called, Client: "A", Op: world.OpUnlock},
			Question: "B waits and listens, and A calls Unlock. What is B told?",
			Choices:  []Choice{{"It has the lock", "held"}, {"A timeout", "error"}, {"Nothing", "nothing"}},
			Answer:   0, Asks: quiz.Told("B"),
		},
		Question: "Messages of Redis are not kept. Which other ways to wake a waiter are there, and what do they cost?",
		Read:     "docs/final-lock.md",
	},
	{
		ID: "r9", Title: "repair this lock: the counter", Base: "6.5",
		Story: "A lock of step 6.5, with one mistake. After a failover the ledger refused every order for a week. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start: Material{Column: "6.5", Edits: []Edit{
			{"mutex.go", "local time = redis.call(\"TIME\")\nlocal clock = tonumber(time[1]) * 1000000 + tonumber(time[2])\nlocal token = math.max(clock, tonumber(last) + 1)\n", "local token = tonumber(last) + 1\n"},
			{"mutex.go", " The\n// counter may be lost, in a failover or a flush, so a token is not lower than the\n// clock of the server in microseconds.\n", "\n"},
		}},
		Fixes: []string{"token-after-flush", "token-after-failover", "failover-async-fenced"},
		Hints: [3]i18n.Text{
			"Read where the token comes from, and ask what Redis may forget.",
			"After a flush or a failover a counter begins again, and the new holder's token is lower than the old one's. What else rises all by itself?",
			"In the acquire script: math.max of the counter plus one and the server's TIME in microseconds.",
		},
		Fixed:  "The token rises with every hold, also where Redis has forgotten the last one: it is never lower than the server's clock.",
		Search: Sought{Blind: "In a search Redis forgets nothing but keys whose lease is over: no step of it is a flush or a failover."},
		Predict: Prediction{
			Failure: "failover-async-fenced", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "The master died before the replica had A's key, and A still believes that it holds the lock. B calls Lock. Who believes in the end to hold it?",
			Choices:  []Choice{{"A", "A"}, {"B", "B"}, {"A and B", "A and B"}},
			Answer:   2, Asks: quiz.Insiders,
		},
		Question: "What would you do if the resource cannot compare tokens?",
		Read:     "docs/final-lock.md",
	},
	{
		ID: "r10", Title: "repair a document's lock: the stranger", Base: "doc1",
		Story: "The lock of a document, as written, but for the constructor's name. It has many mistakes; one of them shows when a client calls Unlock once too often. Read it first and say which you see; docs/documents.md has them all. Then mend this one.",
		Start: Material{Column: "doc1", Edits: called1},
		Solution: Material{Column: "doc1", Edits: slices.Concat(called1, []Edit{
			{"lock.go", "	own := l.local(ctx)\n	if own.count--; own.count > 0 {\n", "	own := l.local(ctx)\n	if own.count == 0 {\n		return errors.New(\"mylock: this thread does not hold the lock\")\n	}\n	if own.count--; own.count > 0 {\n"},
		})},
		Fixes: []string{"stranger-unlock", "double-unlock", "hold-released-twice"},
		Hints: [3]i18n.Text{
			"Call Unlock, in your head, for a thread that never locked. What is its count after that, and what does its next TryLock do?",
			"A count below zero is a debt: the next holds of this thread pay for it. And a thread that unlocks without a hold stops the watchdog of the holder.",
			"At the beginning of Unlock: return an error if own.count is 0.",
		},
		Fixed:  "Whoever holds nothing can free nothing, and is told so. A count in the process must never fall below zero.",
		Search: Sought{Blind: "The clients of a search unlock what they have locked, once each."},
		Predict: Prediction{
			Failure: "renew-partition", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "A has lost its network, and no renewal got through. The lease is over, and B calls Lock. Who believes in the end to hold the lock?",
			Choices:  []Choice{{"B: A is told", "B"}, {"A and B", "A and B"}, {"A", "A"}},
			Answer:   1, Asks: quiz.Insiders,
		},
		Question: "The document keeps the count in the process. When is that wrong, and when is it enough?",
		Read:     "docs/documents.md",
	},
	{
		ID: "r11", Title: "repair a document's lock: the waiter who leaves", Base: "doc2",
		Story: "The lock of a wiki page with its subscription, as written, but for the constructor's name. It has many mistakes; one of them is in subscribe.go: when one of two waiters has left, the other one is not woken any more. Read it first and say why; docs/documents.md has the others. Then mend this one.",
		Start: Material{Column: "doc2", Edits: called2},
		Solution: Material{Column: "doc2", Edits: slices.Concat(called2, []Edit{
			{"subscribe.go", "	semaphore *semaphore // what the MAP has for the channel\n", "	semaphore *semaphore // what the MAP has for the channel\n	waiters   int        // who need it\n"},
			{"subscribe.go", "	if s.semaphore == nil {\n", "	if s.waiters++; s.semaphore == nil {\n"},
			{"subscribe.go", "	s.semaphore = nil\n", "	if s.waiters--; s.waiters == 0 {\n		s.semaphore = nil\n	}\n"},
		})},
		Fixes: []string{"waiter-leaves"},
		Hints: [3]i18n.Text{
			"Two threads of a process wait for one lock. What do they share, and what does the first one do with it when it has had enough?",
			"The map has one semaphore for the channel. unsubscribe takes it out, whoever else waits for it: wait finds none and comes back at once, and release finds nobody.",
			"Count those who need the semaphore: up in subscribe, down in unsubscribe, which takes it out when nobody is left.",
		},
		Fixed:  "What several waiters share goes only when the last of them has left. The message finds whoever still waits, and nobody spins meanwhile.",
		Search: Sought{Blind: "In a search of two clients each has a process of its own, and shares nothing with the other."},
		Predict: Prediction{
			Failure: "expiry-wakes", Until: quiz.Moment{Kind: world.Crashed, Client: "A"},
			Question: "B waits and listens. A dies, and publishes nothing. What is B told, sooner or later?",
			Choices:  []Choice{{"It has the lock, when A's lease is over", "held"}, {"Nothing: no message ever comes", "nothing"}, {"A timeout", "error"}},
			Answer:   0, Asks: quiz.Told("B"),
		},
		Question: "What else do the threads of a process share in this lock, and what goes wrong with it?",
		Read:     "docs/documents.md",
	},
}

// called1 and called2 give the documents' locks the constructor that the failures look for.
var (
	called1 = []Edit{{"lock.go", "func GetLock(", "func NewMutex("}, {"lock.go", "// GetLock is", "// NewMutex is"}}
	called2 = []Edit{{"lock.go", "func New(", "func NewMutex("}, {"lock.go", "// New is", "// NewMutex is"}}
)
