package kata

import (
	"lockkata/failures_test/world"
	"lockkata/internal/quiz"
)

// repairExercises are stages with one mistake each. They are to be found by
// reading; the failure that shows is the proof.
var repairExercises = []Exercise{
	{
		Number: 12, Title: "repair this lock: the lease", Base: 2,
		Story:    "A lock of stage 2, with one mistake. It excludes, it waits, it unlocks. In the staging environment nobody has ever seen a lease end. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start:    Material{Stage: 2, Edits: []Edit{{"mutex.go", `"PX", m.ttl.Milliseconds()`, `"EX", m.ttl.Milliseconds()`}}},
		Solution: Material{Stage: 2},
		Fixes: []string{
			"crash-before-expire", "crash-while-holding", "renewed-for-ever", "hold-dropped",
			"second-client", "check-then-set", "try-while-holding", "last-millisecond", "two-at-once", "cancel-in-flight", "lease-between-seconds", // the lease is not what was asked for
		},
		Hints: [3]string{
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
		Number: 13, Title: "repair this lock: the refusal", Base: 2,
		Story:    "A lock of stage 2, with one mistake. When Redis is in trouble, all clients wait politely for a lock that nobody has. Read it first and say what is wrong; then let kata explore look; then mend it.",
		Start:    Material{Stage: 2, Edits: []Edit{{"mutex.go", `if errors.Is(err, redis.Nil) {`, `if err != nil {`}}},
		Solution: Material{Stage: 2},
		Fixes:    []string{"oom"},
		Hints: [3]string{
			"Read what becomes of each answer that SET can get.",
			"A refusal by NX is one particular error of go-redis. All others say that something is wrong.",
			"In TryLock: errors.Is(err, redis.Nil) is the refusal; return every other error.",
		},
		Fixed:  "Only Redis's own no is a no. An error goes to the caller, who can tell a lock that is held from a Redis that is full.",
		Search: Sought{Property: "truth", Env: "refusal", Bound: 2},
		Predict: Prediction{
			Failure: "stranger-unlock", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Question: "A holds the lock. B, which never had it, has called Unlock. C calls TryLock. Who believes in the end to hold the lock?",
			Choices:  []Choice{{"A", "A"}, {"C", "C"}, {"A and C", "A and C"}},
			Answer:   2, Asks: quiz.Insiders,
		},
		Question: "Which answers can SET NX get, and what does each one mean to a caller?",
		Read:     "stage2_set_nx_ex/README.md",
	},
	{
		Number: 14, Title: "repair this lock: the second try", Base: 3,
		Story:    "A lock of stage 3, with one mistake. Once in a while an Unlock says that the lock is not held, although the work has only just begun. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start:    Material{Stage: 3, Edits: []Edit{{"mutex.go", "	value := uuid.NewString()\n", "	value := uuid.NewString()\n	m.value = value\n"}}},
		Solution: Material{Stage: 3},
		Fixes:    []string{"try-while-holding", "two-at-once"},
		Hints: [3]string{
			"Follow the field value through a TryLock that is refused.",
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
		Number: 15, Title: "repair this lock: the value", Base: 4,
		Story: "A lock of stage 4, with one mistake. It compares in Redis, and yet, after a network problem, a client has removed its own new hold. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start: Material{Stage: 4, Edits: []Edit{{
			"mutex.go", "	value := uuid.NewString()\n", "	value := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Appendf(nil, \"%p\", m)).String()\n",
		}}},
		Solution: Material{Stage: 4},
		Fixes:    []string{"late-unlock"},
		Hints: [3]string{
			"What tells one hold from the next hold of the same client?",
			"The value is made from the object, so all holds of one object have the same. A command that was stuck in the network fits them all.",
			"In TryLock: a fresh uuid.NewString() for each attempt.",
		},
		Fixed:  "Each hold has a value of its own, so an Unlock that was on its way for long fits no later hold. Comparing is worth as much as what is compared.",
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
		Number: 16, Title: "repair this lock: the nervous watchdog", Base: 5,
		Story:    "A lock of stage 5, with one mistake. After a hiccup of the network, long jobs lose their locks half a minute later. Read it first and say what is wrong; then let kata explore look; then mend it.",
		Start:    Material{Stage: 5, Edits: []Edit{{"watchdog.go", `if err == nil && renewed == 0 {`, `if err != nil || renewed == 0 {`}}},
		Solution: Material{Stage: 5},
		Fixes:    []string{"renew-blip", "renew-blips"},
		Hints: [3]string{
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
		Number: 17, Title: "repair this lock: the late watchdog", Base: 5,
		Story:    "A lock of stage 5, with one mistake. It renews, and still two clients have been inside at once, again and again. Read it first and say what is wrong; then let kata explore look, which is blind to this one; then mend it, and say why no search saw it.",
		Start:    Material{Stage: 5, Edits: []Edit{{"watchdog.go", `time.NewTicker(w.ttl / 3)`, `time.NewTicker(w.ttl)`}}},
		Solution: Material{Stage: 5},
		Fixes: []string{
			"work-outlives-ttl", "renew-blip", "renew-blips", "second-hold-renewed", "renew-foreign", "unlock-at-once", "dog-unlock-race",
			"unlock-while-renewal-hangs", "acquire-context-ends",
		},
		Hints: [3]string{
			"Read when the first renewal is sent, and when the lease ends.",
			"A renewal that leaves when the lease is over arrives after it.",
			"In renew: a ticker of w.ttl / 3, so that two renewals may fail.",
		},
		Fixed:  "The watchdog renews three times in each lease, so it is early enough even when a renewal is lost. A lease is a promise with a date: who comes on the date is late.",
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
}
