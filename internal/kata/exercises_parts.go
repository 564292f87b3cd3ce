package kata

import (
	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/quiz"
)

// Texts of stage 4's lock that the exercises change.
const (
	tryBefore  = "	value := uuid.NewString()\n"
	granted    = "	m.value = value\n	return true, nil\n"
	freed      = "	m.value = \"\"\n	if deleted == 0 {\n"
	valueField = "	value string // what this owner wrote into the key; \"\" while not held\n"
	runUnlock  = "	deleted, err := unlockScript.Run(ctx, m.rdb, []string{m.key}, m.value).Int()\n"
	setKey     = `	err := m.rdb.Do(ctx, "SET", m.key, value, "NX", "PX", m.ttl.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("mylock: lock %s: %w", m.key, err)
	}
`
	pollingLock = `// Lock tries every 100 ms until it holds the lock. It returns the context's
// error when ctx ends between two attempts, and the first error of an attempt as
// it comes: that of one that was on its way when ctx ended is a timeout.
func (m *Mutex) Lock(ctx context.Context) error {
	for {
		held, err := m.TryLock(ctx)
		if err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("mylock: wait for %s: %w", m.key, ctx.Err())
		case <-time.After(pollInterval):
		}
	}
}

`
	deleteOnly = "	return redis.call(\"DEL\", KEYS[1])\n"
)

// publishing makes stage 4's Unlock publish, and leaves Lock to a file of its own.
var publishing = []Edit{
	{"mutex.go", pollingLock, ""},
	{"mutex.go", "const (\n	keyPrefix    = \"lock:\"\n	pollInterval = 100 * time.Millisecond\n)\n", "const keyPrefix = \"lock:\"\n"},
	{"mutex.go", deleteOnly, "	redis.call(\"PUBLISH\", ARGV[2], \"free\")\n" + deleteOnly},
	{"mutex.go", "// ARGV[1] the owner's value\n//\n// Returns 1", "// ARGV[1] the owner's value\n// ARGV[2] the channel on which waiters listen\n//\n// Returns 1"},
	{"mutex.go", "[]string{m.key}, m.value)", "[]string{m.key}, m.value, m.channel())"},
	{"mutex.go", "// TryLock makes", "// channel is where an Unlock says that the lock is free.\nfunc (m *Mutex) channel() string { return m.key + \":free\" }\n\n// TryLock makes"},
}

// fencing gives stage 4's holds a token, which a script in a file of its own makes.
var fencing = []Edit{
	{"mutex.go", valueField, valueField + "	token int64  // the fencing token of the present hold\n"},
	{"mutex.go", setKey, `	keys := []string{m.key, m.key + ":token"}
	token, err := acquireScript.Run(ctx, m.rdb, keys, value, m.ttl.Milliseconds()).Int64()
	if err != nil {
		return false, fmt.Errorf("mylock: lock %s: %w", m.key, err)
	}
	if token == 0 {
		return false, nil
	}
`},
	{"mutex.go", granted, "	m.value, m.token = value, token\n	return true, nil\n"},
	{"mutex.go", freed, "	m.value, m.token = \"\", 0\n	if deleted == 0 {\n"},
}

// giving frees, after an attempt of unknown outcome, what it may have taken.
var giving = []Edit{
	{
		"mutex.go", "		return false, fmt.Errorf(\"mylock: lock %s: %w\", m.key, err)\n",
		"		m.giveBack(ctx, value)\n		return false, fmt.Errorf(\"mylock: lock %s: %w\", m.key, err)\n",
	},
	{"mutex.go", "// Lock tries every", `// giveBack frees what an attempt of unknown outcome may have taken, with a context
// of its own: the caller's may be over.
func (m *Mutex) giveBack(ctx context.Context, value string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.ttl/3)
	defer cancel()
	_ = unlockScript.Run(ctx, m.rdb, []string{m.key}, value).Err() // else its lease ends it
}

// Lock tries every`},
}

// partExercises are parts of the last stage, each alone on top of stage 4.
var partExercises = []Exercise{
	{
		Number: 7, Title: "a lost-lock signal, without a watchdog", Base: 4, Own: 4,
		Story: "Not every lock is renewed. If the lease may end during the work, the holder has to know when: give each hold a channel that is closed when the lease is over, and refuse a grant that comes too late to be one. The failures look for Lost(ctx) (<-chan struct{}, func() bool).",
		Start: Material{Stage: 4},
		Solution: Material{Stage: 4, Folder: "07_lost_signal", Edits: []Edit{
			{"mutex.go", valueField, valueField + "	hold  *hold  // the present one, or the last\n"},
			{"mutex.go", tryBefore, tryBefore + "	sent := time.Now() // Redis counts the lease from no earlier than this\n"},
			{"mutex.go", granted, `	left := m.ttl - time.Since(sent)
	if left <= 0 {
		return false, fmt.Errorf("mylock: lock %s: granted after its lease", m.key)
	}
	m.value, m.hold = value, newHold(left)
	return true, nil
`},
			{"mutex.go", runUnlock, "	m.hold.timer.Stop()\n	m.hold.end(false)\n" + runUnlock},
		}},
		Fixes: []string{"work-outlives-fixed-lease", "slow-grant"},
		Hints: [3]string{
			"The client has a clock too. From which moment on can it be sure that Redis has not begun to count earlier?",
			"From just before the command is sent. What is left of the lease when the answer is there is all there is: nothing left means no lock, and otherwise a timer closes the channel.",
			"sent := time.Now() before SET. After OK: left := m.ttl - time.Since(sent); if left <= 0 return an error; else a hold {ended chan struct{}, lost bool} with time.AfterFunc(left, …) that sets lost and closes ended, once. Unlock stops the timer and ends the hold without lost. Lost returns the channel and a function that reads lost.",
		},
		Fixed: "The holder counts its own lease, from before the command was sent, and is told the moment it is over. A grant that was on its way for longer than the lease is no grant.",
		Predict: Prediction{
			Failure: "work-outlives-fixed-lease", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "A's lease is over while A still works. B calls Lock. Who believes in the end to hold the lock?",
			Choices: []Choice{
				{"A and B", "A and B"},
				{"B: A has been told", "B"},
				{"A", "A"},
			},
			Answer: 1, Asks: quiz.Insiders,
		},
		Question: "The signal has come, and a write is already on its way to the database. What now?",
		Read:     "docs/final-lock.md",
	},
	{
		Number: 8, Title: "unlock in a cancelled request", Base: 4, Own: 4,
		Story: "A request is cancelled while it holds the lock, and its deferred Unlock(ctx) gets the dead context. go-redis sends nothing, and everybody waits for the whole lease. Unlock has to do its work all the same.",
		Start: Material{Stage: 4},
		Solution: Material{Stage: 4, Edits: []Edit{
			{"mutex.go", runUnlock, "	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.ttl/3)\n	defer cancel()\n" + runUnlock},
		}},
		Fixes: []string{"unlock-cancelled-ctx"},
		Hints: [3]string{
			"Whether the caller still wants an answer and whether the lock has to be freed are two questions.",
			"The command to free needs a context that the caller's end does not end, and a bound of its own, so that Unlock comes back.",
			"ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.ttl/3); defer cancel(); and then the script as before.",
		},
		Fixed: "Unlock frees the lock also for a caller who has gone, with a context of its own that keeps the values of the old one. It is bounded, so a Redis that does not answer holds nobody up for long.",
		Predict: Prediction{
			Failure: "deadline-in-flight", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpLock},
			Question: "Redis granted A the lock, but A's deadline passed before the reply came. A has its error, and never calls Unlock. B calls Lock and waits for ten seconds. What is B told?",
			Choices: []Choice{
				{"It has the lock: A's Lock failed", "held"},
				{"A timeout: A's key is there", "error"},
				{"At once, that somebody else has the lock", "refused"},
			},
			Answer: 1, Asks: quiz.Told("B"),
		},
		Question: "Should Unlock take a context at all?",
		Read:     "docs/final-lock.md",
	},
	{
		Number: 9, Title: "the lost reply", Base: 4, Own: 4,
		Story:    "Redis grants the lock, and the reply is lost: the connection breaks, or the deadline passes. The caller gets an error and goes away, and a key stays that nobody knows of. An acquire of unknown outcome has to clean up.",
		Start:    Material{Stage: 4},
		Solution: Material{Stage: 4, Edits: giving},
		Fixes:    []string{"grant-reply-lost", "deadline-in-flight"},
		Hints: [3]string{
			"After an error that is not an answer of Redis, you do not know whether you hold the lock. Which command is right in both cases?",
			"Your unlock script: it deletes the key only if it has the value of this very attempt, so it does no harm if the attempt never arrived.",
			"In TryLock, where err is neither nil nor redis.Nil: run unlockScript with this attempt's value, under context.WithTimeout(context.WithoutCancel(ctx), m.ttl/3), ignore what it says, and return the first error.",
		},
		Fixed: "An attempt whose outcome is unknown frees what it may have got, with the value that only this attempt has. If even that does not get through, the lease ends it.",
		Predict: Prediction{
			Failure: "retry-nx-false", Until: quiz.Moment{Kind: world.Dropped, Client: "A"},
			Question: "Here go-redis is as it comes: it sends a command again when the connection breaks. Redis has set A's key, and the reply is about to be lost. What is A told?",
			Choices: []Choice{
				{"It has the lock", "held"},
				{"That somebody else has the lock", "refused"},
				{"An error", "error"},
			},
			Answer: 1, Asks: quiz.Told("A"),
		},
		Question: "Which commands of your lock may be sent twice, and which may not?",
		Read:     "docs/final-lock.md",
	},
	{
		Number: 10, Title: "waiters without polling", Base: 4,
		Has:      []failures.Feature{failures.PubSub},
		Story:    "Unlock publishes a message, and waiters listen: Redis is left in peace while nothing happens. A first attempt is there, in wait.go, and it loses wake-ups in three ways. Find them; do not go back to polling.",
		Start:    Material{Stage: 4, Edits: publishing, Folder: "10_listens"},
		Solution: Material{Stage: 4, Edits: publishing, Folder: "10_waiters"},
		Fixes:    []string{"wake-lost", "expiry-wakes", "pubsub-cut", "crash-while-holding"},
		Also:     []string{"unlock-wakes", "wake-early", "waiter-leaves", "idle-waiters"},
		Hints: [3]string{
			"A message is heard by those who listen at that moment. Between your attempt and the moment when Redis has your subscription, whatever is published is lost. And some ends of a hold publish nothing at all.",
			"Subscribe once for the whole of Lock. Every acknowledgement of the subscription, the first and those after a reconnect, is a reason to try again; so is every message; so is the end of the holder's lease.",
			"subscription.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(0)) delivers acknowledgements and messages. Loop: select on ctx.Done(), that channel and a timer; then TryLock; if refused, set the timer to PTTL of the key, and to a millisecond if there is no key any more.",
		},
		Fixed: "A waiter tries again after everything that may have freed the lock: a message, an acknowledgement, the end of the lease. In between it sends nothing.",
		Predict: Prediction{
			Failure: "expiry-wakes", Until: quiz.Moment{Kind: world.Crashed, Client: "A"},
			Question: "B waits and listens. A dies, and publishes nothing. What is B told, sooner or later?",
			Choices: []Choice{
				{"It has the lock, when A's lease is over", "held"},
				{"Nothing: no message ever comes", "nothing"},
				{"A timeout", "error"},
			},
			Answer: 0, Asks: quiz.Told("B"),
		},
		Question: "A hundred waiters hear one message. What happens in Redis, and what would you change?",
		Read:     "docs/final-lock.md",
	},
	{
		Number: 11, Title: "the fenced write", Base: 4,
		Has:      []failures.Feature{failures.Fencing},
		Story:    "No lease keeps out a client that stood still and wakes up later. A fencing token does: a number that rises with each hold, written with each order; the ledger refuses a lower one. Here the token comes from a counter in Redis, in token.go, and Redis can lose it.",
		Start:    Material{Stage: 4, Edits: fencing, Folder: "11_counter"},
		Solution: Material{Stage: 4, Edits: fencing, Folder: "11_fenced"},
		Fixes:    []string{"token-after-flush", "token-after-failover"},
		Also:     []string{"process-pause-fenced", "write-delayed-fenced", "evicted-or-flushed-fenced", "failover-async-fenced", "clock-jump-fenced"},
		Hints: [3]string{
			"After a flush or a failover the counter begins again, and the new holder's token is lower than the old one's. What else rises all by itself?",
			"The clock of the server, which a script can read: TIME gives seconds and microseconds. Two holds may fall on one microsecond, and a clock may go back a little, so keep the counter too.",
			"In the script: local time = redis.call(\"TIME\"); token = math.max(last + 1, tonumber(time[1]) * 1000000 + tonumber(time[2])), where last is GET of the counter or 0; SET the counter to string.format(\"%.0f\", token), and return it.",
		},
		Fixed: "The token rises with every hold, also where Redis has forgotten the last one. With a resource that refuses lower tokens, a pause, a late write or a lost key does no damage any more.",
		Predict: Prediction{
			Failure: "process-pause-fenced", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Question: "A stood still beyond its lease, and B has created the order. A wakes up and writes with its own token. Who has written into the fenced ledger in the end?",
			Choices: []Choice{
				{"B", "B"},
				{"B and then A", "B and A"},
				{"A: its token is older", "A"},
			},
			Answer: 0, Asks: quiz.Orders,
		},
		Question: "What does a database need so that it can refuse an old token, and what if there are two databases?",
		Read:     "docs/final-lock.md",
	},
}
