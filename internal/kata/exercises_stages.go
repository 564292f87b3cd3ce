package kata

import (
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// stageExercises lead from an empty lock to a watchdog.
var stageExercises = []Exercise{
	{
		ID: "1", Title: "a lock at all", Base: "1",
		Story: "Two processes create the same order. Write the lock that lets one of them in: TryLock, Lock and Unlock over one key in Redis. It needs a lease; how that is set is your choice.",
		Start: Material{Folder: "01_skeleton"},
		Hints: [3]i18n.Text{
			"Asking whether the lock is free and taking it must be one command, or two clients find it free at the same moment. Redis has one that creates a key only if it does not exist.",
			"SETNX key value answers 1 to the one who made the key, and 0 to all others. DEL gives the key back. A holder that dies never does, so the key needs a lease: PEXPIRE key milliseconds.",
			"TryLock: created, err := m.rdb.Do(ctx, \"SETNX\", m.key, \"locked\").Bool(); if created, Do(ctx, \"PEXPIRE\", m.key, m.ttl.Milliseconds()). Lock: TryLock in a loop, with a select on ctx.Done() and time.After(100*time.Millisecond) between. Unlock: Do(ctx, \"DEL\", m.key). Return every error that is not nil.",
		},
		Fixed: "Of all the clients that try, one gets the lock: Redis creates the key for one of them only. A holder that dies at work keeps the others out for one lease, and no longer.",
		Predict: Prediction{
			Failure: "crash-before-expire", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "A is dead, and an hour has passed. Now B calls Lock and waits for ten seconds. What is B told?",
			Choices: []Choice{
				{"It has the lock: the lease was over long ago", "held"},
				{"A timeout: the key is still there", "error"},
				{"At once, that somebody else has the lock", "refused"},
			},
			Answer: 1, Asks: quiz.Told("B"),
		},
		Question: "A client may die between any two of your commands. Which pair of them hurts everybody else, and for how long?",
		Read:     "stage1_setnx_expire/README.md",
	},
	{
		ID: "2", Title: "one command", Base: "2", Before: "1",
		Story: "The key and its lease come in two commands, and a client can die, or be cancelled, between them. Then the key stays for ever and nobody gets the lock again. Make them one.",
		Hints: [3]i18n.Text{
			"There must be no moment at which the key exists without a lease. Which command creates a key and gives it a time to live?",
			"SET takes options: NX creates only, PX sets milliseconds. When NX refuses, the answer is nil, which go-redis gives you as the error redis.Nil.",
			"err := m.rdb.Do(ctx, \"SET\", m.key, \"locked\", \"NX\", \"PX\", m.ttl.Milliseconds()).Err(). If errors.Is(err, redis.Nil), return false, nil; any other error goes to the caller; nil means that you hold the lock.",
		},
		Fixed: "The key and its lease come in one command, so a client that dies or is cancelled leaves a lease behind, or nothing. Everybody else waits for one lease at the most.",
		Predict: Prediction{
			Failure: "delete-foreign", Until: quiz.Moment{Kind: world.Called, Client: "C", Op: world.OpTryLock},
			Question: "A's lease ended, B took the lock, and A has just unlocked. Now C calls TryLock. What is C told?",
			Choices: []Choice{
				{"That somebody else has the lock: B does", "refused"},
				{"It has the lock, beside B", "held"},
				{"An error", "error"},
			},
			Answer: 1, Asks: quiz.Told("C"),
		},
		Question: "Unlock deletes a key. Whose?",
		Read:     "stage2_set_nx_ex/README.md",
	},
	{
		ID: "3", Title: "the owner's value", Base: "3", Before: "2",
		Fresh: true,
		Story: "Unlock deletes the key, whoever holds it. A client whose lease ran out removes the lock of the next one, and a third walks in. Write the owner into the key, and let Unlock look.",
		Hints: [3]i18n.Text{
			"All clients write the same word into the key, so nobody can tell whose it is. What could each write instead, and when must it be a new one?",
			"A fresh random value for each hold, kept in the Mutex once the lock was taken. Unlock reads the key and deletes it only if it still has that value; otherwise it returns an error of its own, ErrNotHeld.",
			"TryLock: value := uuid.NewString(), SET it, and m.value = value only after OK. Unlock: if m.value == \"\" return ErrNotHeld; GET the key (redis.Nil is no error here); if it is not m.value, m.value = \"\" and return ErrNotHeld; else DEL and m.value = \"\".",
		},
		Fixed: "Unlock looks whose key it is before it deletes, so a late one leaves the next client's lock alone. It also says that the hold was gone: the caller learns that its work was not protected to the end.",
		Predict: Prediction{
			Failure: "check-then-delete", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Question: "A has read its own value and then stood still beyond its lease; B has the lock. A goes on. Whose key does Redis hold after A's next command?",
			Choices: []Choice{
				{"B's: A sees that it is not its own", "B1"},
				{"Nobody's: A deletes it", "no key"},
				{"A's", "A1"},
			},
			Answer: 1, Asks: quiz.KeyAfter("A"),
		},
		Question: "You compare before you delete. Where is the race, and would a second GET close it?",
		Read:     "stage3_owner_value/README.md",
	},
	{
		ID: "4", Title: "compare and delete in one step", Base: "4", Before: "3",
		Story: "GET and DEL are two commands, and the lock can change hands between them. Only Redis can compare and delete without anybody coming in between: let it.",
		Hints: [3]i18n.Text{
			"No look at the key is late enough, as long as the delete is another command. What does Redis run as one step?",
			"A Lua script: redis.NewScript, and its Run, which sends EVALSHA and falls back to EVAL when Redis does not know the script. KEYS[1] is the key, ARGV[1] your value; return whether anything was deleted.",
			"if redis.call(\"GET\", KEYS[1]) == ARGV[1] then return redis.call(\"DEL\", KEYS[1]) end return 0. In Go: deleted, err := unlockScript.Run(ctx, m.rdb, []string{m.key}, m.value).Int(); after an error keep the value; 0 is ErrNotHeld.",
		},
		Fixed: "Redis compares and deletes in one step, so an Unlock removes its own hold or nothing, however late it arrives. A fresh value for each hold keeps an old command from removing a new hold of the same client.",
		Predict: Prediction{
			Failure: "work-outlives-ttl", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "A still works, and its lease is over. B calls Lock. Who believes in the end to hold the lock?",
			Choices: []Choice{
				{"A: it has not unlocked", "A"},
				{"B: A's lease is over", "B"},
				{"Both", "A and B"},
			},
			Answer: 2, Asks: quiz.Insiders,
		},
		Question: "How long should the lease be, if nobody knows how long the work takes?",
		Read:     "stage4_lua_unlock/README.md",
	},
	{
		ID: "5", Title: "a watchdog", Base: "5", Before: "4",
		Story: "The lease does not grow with the work. Start a goroutine that renews it for as long as the lock is held, that renews nobody else's, that survives one failed renewal, and that has ended when Unlock deletes.",
		Hints: [3]i18n.Text{
			"Renew well before the lease is over, so that a renewal may fail. A renewal that arrives late must not prolong the lock of somebody else: it has to compare as Unlock does.",
			"A goroutine with a time.Ticker of a third of the lease, started when the lock was taken, before TryLock returns. A script: if GET is your value, PEXPIRE. An error does not end it; the answer 0 does. Unlock cancels it and waits until it has ended, then deletes.",
			"start(value): ctx, cancel := context.WithCancel(context.Background()); ended := make(chan struct{}); go renew. renew: defer close(ended); loop on ctx.Done() and ticker.C; each attempt under context.WithTimeout(ctx, ttl/3); return if err == nil && renewed == 0. stop: cancel(); <-ended; forget both, so that the next hold starts its own. With func WithoutWatchdog() Option and NewMutex(…, opts ...Option) the failures can also ask for a lease that ends.",
		},
		Fixed: "The lease grows with the work, renewed after each third of it, and one lost renewal does no harm. The watchdog compares before it renews and is gone before Unlock deletes, so it can prolong nobody else's lock.",
		Predict: Prediction{
			Failure: "renew-partition", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "A has lost its network, and no renewal got through. The lease is over, and B calls Lock. Who believes in the end to hold the lock?",
			Choices: []Choice{
				{"B: A's watchdog has told A", "B"},
				{"Both: nobody has told A", "A and B"},
				{"A: its watchdog still renews", "A"},
			},
			Answer: 1, Asks: quiz.Insiders,
		},
		Question: "Your watchdog finds that the lock is gone. Whom does it tell, and what can they do?",
		Read:     "stage5_watchdog/README.md",
	},
}
