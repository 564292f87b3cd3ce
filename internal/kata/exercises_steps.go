package kata

import (
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
)

// stepExercises go on with the same lock, from the watchdog to the last step, and to what
// the whole lock adds.
var stepExercises = []Exercise{
	{
		ID: "6.1", Title: "the holder is told of a loss", Base: "6.1", Before: "5",
		Story: "Nobody tells the holder that its lock is gone, so it works on beside the next one. Let Lock and TryLock return a hold, (*Hold, error), which is unlocked by itself: Unlock(ctx). Its Context() ends with the hold, and with the cause ErrLost before anybody else can come in. TryLock returns ErrLocked when somebody else has the lock.",
		Hints: [3]i18n.Text{
			"The client has a clock too. From which moment on can it be sure that Redis has not begun to count earlier? And who finds out first that no renewal gets through?",
			"A lease counts from just before its command is sent, that of a renewal too. Beside the watchdog a timer ends the hold's context when the last lease is over that Redis has confirmed; the answer 0 to a renewal ends it at once. A tick that finds that lease over sends nothing. Each hold has its own value and its own watchdog, so two goroutines may share a Mutex. A grant that comes after its lease is no grant. Redis may have renewed a hold that is lost: its Unlock sends the command too.",
			"h.ctx, h.end = context.WithCancelCause(ctx). sent := time.Now() before SET; after OK, if time.Since(sent) >= m.ttl return ErrLost. time.AfterFunc(time.Until(sent.Add(m.ttl)), lose): lose calls end(ErrLost) and ends the renewals. A renewal that is confirmed resets the timer, to its own sent plus ttl; keep that time as until, and let a tick with time.Until(until) <= 0 end the watchdog. Unlock: ErrNotHeld when released; when lost, run the script, and return ErrLost; else end(ErrNotHeld), stop the watchdog and the timer, and run the script; its 0 is ErrLost.",
		},
		Fixed: "The holder counts its own lease, from before the command was sent, and is told before the next client comes in. Each hold is an owner of its own, and says so when it is unlocked too late.",
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
		Question: "The hold's context has ended, and a write is already on its way to the database. What now?",
		Read:     "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "6.2", Title: "commands of unknown outcome", Base: "6.2", Before: "6.1",
		Story: "The connection breaks, a deadline passes, or a proxy answers for Redis, and nobody knows whether Redis has run the command. An acquire leaves a key that nobody knows of. An Unlock says that a lock is lost which it has just freed, and with a context that is over it sends nothing. Deal with all three. Unlock needs no context any more: Unlock() error.",
		Hints: [3]i18n.Text{
			"After an error that is not an answer of Redis you do not know whether you hold the lock. Which command is right in both cases? And who sends your SET a second time without asking you?",
			"Free what the attempt may have got, with the value that only this attempt has: in the background, again and again until something was freed or the lease would be over, since the command may still be on its way. A grant that came after its lease is freed before TryLock returns. go-redis repeats a command when the connection breaks, unless the command has a method NoRetry that returns true. Unlock asks again until Redis answers; where an earlier one got no answer, a 0 may be its work.",
			"redis.HasErrorPrefix(err, \"OOM\") is true for one refusal of Redis: list them all. Any other answer may be that of a proxy, which knows as little as you do, and may begin with ERR too. type once struct{ *redis.Cmd } has NoRetry() bool; type sender struct{ redis.UniversalClient } has Do: redis.NewCmd, then s.Process(ctx, once{cmd}); EvalSha and Eval go through Do. free(owner) runs the unlock script under context.WithTimeout(context.Background(), m.ttl/6). cleanUp: free, return if it found something, sleep for wait, which begins with m.ttl / 60 and doubles; no try begins after five sixths of the lease. Lock looks at ctx.Deadline() before it asks again: two timers of one moment end in any order.",
		},
		Fixed: "What an attempt of unknown outcome has got is freed, with the value that only this attempt has. The lock decides what is sent twice, and Unlock does its work for a caller who has gone.",
		Predict: Prediction{
			Failure: "retry-unlock", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Question: "A's Unlock has deleted the key, and its reply was lost. Meanwhile B has taken the lock. A goes on and sends its unlock again. Whose key does Redis hold after that command?",
			Choices: []Choice{
				{"Nobody's: the command deletes it once more", "no key"},
				{"A's", "A1"},
				{"B's: it does not have A's value", "B1"},
			},
			Answer: 2, Asks: quiz.KeyAfter("A"),
		},
		Question: "Which commands of your lock may be sent twice, and which may not?",
		Read:     "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "6.3", Title: "re-entry, counted in Redis", Base: "6.3", Before: "6.2",
		Story: "A holder calls a function that takes the same lock, and waits for itself. Let a Lock with the hold's context re-enter. Redis counts how often, only the last Unlock frees, and all holds of an owner share one lease and one watchdog. HoldCount(ctx) (int, error) of the Mutex says what Redis has counted.",
		Hints: [3]i18n.Text{
			"Goroutines have no numbers, but something is passed on from function to function. And where must the count be, if the process cannot be sure of its lock?",
			"The hold's context carries the hold: context.WithValue, with a key of a type of your own. The key in Redis becomes a hash {owner: count}. Send the new count itself, not \"one more\": then a command that is sent twice does no harm. A re-entry without an answer asks again, as Unlock does: else Redis may count more than there are holds. A Lock with any other context is another owner, and waits. A re-entry and an Unlock may come at once, so they take turns; do not hold a sync.Mutex while you wait for Redis.",
			"acquire: if EXISTS, return 0; HSET key owner 1; return PEXPIRE. count: if HEXISTS is 0, return 0; if ARGV[2] == \"0\", return DEL; HSET key owner ARGV[2]; return 1. The clean-up is count 0, and renew asks HEXISTS. All holds of an owner share a struct with the watchdog, the count, and turn, a chan struct{} of capacity 1. TryLock looks for a hold in ctx.Value first: it sets count+1 and returns a new hold, whose context is made from ctx. Where Redis answers 0 the lock is lost: tell it.",
		},
		Fixed: "A holder may call itself, because its context says who it is. Redis counts, in absolute numbers, so a lost reply makes no wrong count, and the last Unlock frees.",
		Predict: Prediction{
			Failure: "inner-unlock-frees", Until: quiz.Moment{Kind: world.Called, Client: "B", Op: world.OpTryLock},
			Question: "A has taken the lock twice and unlocked once. B calls TryLock. What is B told?",
			Choices: []Choice{
				{"It has the lock: A has unlocked", "held"},
				{"That somebody else has the lock", "refused"},
				{"An error", "error"},
			},
			Answer: 1, Asks: quiz.Told("B"),
		},
		Question: "Another goroutine of the process gets the hold's context. May it unlock? Should it be let in?",
		Read:     "stage6_reentrant_pubsub/README.md",
	},
	{
		ID: "6.4", Title: "waiters are woken by messages", Base: "6.4", Before: "6.3",
		Story: "Waiters ask every 100 ms. While nobody unlocks they keep Redis busy for nothing, and when somebody does they come late. Let the script that frees the lock publish a message, and let Lock listen. No wake-up may be lost on the way, and nobody polls any more.",
		Hints: [3]i18n.Text{
			"A message is heard by those who listen at that moment. What is published between your attempt and the moment at which Redis has your subscription is lost. And some ends of a hold publish nothing at all.",
			"Subscribe once for the whole of Lock. Every acknowledgement of the subscription, the first and those after a reconnect, is a reason to try again; so is every message; so is the end of the holder's lease, which a refused attempt can tell you.",
			"acquire, when refused: return minus PTTL, and minus ARGV[2] for a key without a lease, or you would ask without a pause. count, at 0: DEL first, then PUBLISH on the key's own name. Lock: try; if refused, sub := rdb.Subscribe(ctx, key), defer sub.Close(), woken := sub.ChannelWithSubscriptions(redis.WithChannelHealthCheckInterval(0)). Loop: select on ctx.Done(), woken and time.After(left + time.Millisecond); return if ctx is over; try again.",
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
		ID: "6.5", Title: "fencing tokens", Base: "6.5", Before: "6.4",
		Story: "No lease keeps out a client that stood still and wakes up later. A fencing token does: a number that rises with each hold and is written with each order; the ledger refuses a lower one. Give the hold Token() int64, which rises also where Redis has forgotten the last one. And an administrator wants ForceUnlock(ctx) (bool, error) of the Mutex, which frees the lock whoever holds it.",
		Hints: [3]i18n.Text{
			"Only the script that takes the lock knows the order of the holds. After a flush or a failover a counter begins again, and the new holder's token is lower than the old one's. What else rises all by itself?",
			"The clock of the server, which a script can read: TIME gives seconds and microseconds. Two holds may fall on one microsecond, and a clock may go back a little, so keep the counter too. A forced unlock is a script as well: it deletes, and wakes those who wait; the holder learns of it from its next renewal.",
			"KEYS[2] is the lock's key with \":token\" behind it. local time = redis.call(\"TIME\"); token = math.max(tonumber(time[1]) * 1000000 + tonumber(time[2]), (GET KEYS[2] or 0) + 1); SET KEYS[2] string.format(\"%.0f\", token) EX 86400; return token where it returned 1. A re-entry keeps the token of the first hold. force: if DEL KEYS[1] == 0, return 0; PUBLISH; return 1.",
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
	{
		ID: "6", Title: "the whole lock (optional)", Base: "6", Before: "6.5",
		Story:    "This one is optional: the exercises r1 to r11 do not need it. Your watchdog renews as long as its process lives, even for work that hangs and for a hold that somebody forgot. Limit a hold: an option WithMaxHold(d time.Duration) of NewMutex, after which the hold is lost and its owner told. And when Redis refuses an Unlock for a moment, as after a failover, yours gives up: let it ask again, for a third of the lease. Redis may also refuse a subscription when go-redis has connected anew, and your waiter sleeps beside a free lock: let it look now and then. Our whole lock is a service for many locks besides; docs/final-lock.md is its design. An API such as that needs func Subject() failures.Subject beside it: docs/kata.md has two.",
		Solution: Material{Column: "6", Adapter: "internal/stages/subject6/subject6.go"},
		Hints: [3]i18n.Text{
			"A watchdog cannot tell long work from stuck work. Who can, and when would it have to say so?",
			"A hold has a latest end from its beginning on. No renewal is sent whose lease would outlast it. What ends the hold then is there already: the timer that counts the lease.",
			"The option sets a field of the Mutex. watch: w.latest = sent.Add(m.maxHold). renew, before each attempt: if w.maxHold > 0 && time.Until(w.latest) < w.ttl, return. The timer tells the holder when the last lease is over: ErrLost. Unlock: READONLY and MOVED are not the final answer. Wait a moment and send again, until a third of the lease is over. Lock: wait for a third of the lease at most, then try, message or not. A re-entry waits for its turn for a sixtieth of the lease, then it returns ErrLocked.",
		},
		Fixed: "No hold lasts for ever, whatever its owner does or forgets. What remains is what no lock with a lease can prevent, and the token is the answer to that.",
		Predict: Prediction{
			Failure: "process-pause", Until: quiz.Moment{Kind: world.Thawed, Client: "A"},
			Question: "A looked, saw that the order was free, and stood still beyond its lease. B has created the order. A wakes up and creates it too; this ledger looks at no token. Who has written into the ledger in the end?",
			Choices: []Choice{
				{"B: the lock keeps A out", "B"},
				{"B and then A", "B and A"},
				{"A", "A"},
			},
			Answer: 1, Asks: quiz.Orders,
		},
		Question: "Which failures does no lock with a lease prevent, and what does the resource have to do about them?",
		Read:     "docs/final-lock.md",
	},
}
