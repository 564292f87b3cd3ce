package lesson

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var chapter9 = Chapter{
	Title: "Five more questions",
	Lead:  "Replies, functions, and more servers: what interviewers ask next. There are four answers each time.",
	Parts: []Part{
		{
			Stage: "5", Story: "retry-nx-false",
			Facts: []i18n.Text{"Redis gives A the lock, and the connection breaks before the reply. A's go-redis has its default settings."},
			Ask:   "What does A's TryLock return?",
			Known: isFirstCall, Value: ended(1),
			Answers: []Answer{
				{Words: "true: go-redis sends the command again", Claim: "yes", Then: "It does send it again, up to three times. But the key exists by then: it is A's own, and NX refuses."},
				{Words: "false, as if another client had it", Claim: "no", Then: "Yes, and no client has it. go-redis sent SET NX again, A's own key refused it, and nobody unlocks until the lease ends."},
				{Words: "an error: the connection broke", Claim: "error", Then: "With MaxRetries: -1 it would. By default go-redis sends the command again, and nobody sees that error."},
				{Words: "nothing: it waits until the lease ends", Claim: "no, late", Then: "It does not wait: go-redis sends the command again at once, and A's own key refuses it."},
			},
		},
		{
			Stage: "5", Story: "self-deadlock",
			Facts: []i18n.Text{"A has the lock, and calls a function that takes the same lock. That waits for ten seconds at most."},
			Ask:   "What happens to the function?",
			Known: func(e trace.Event) bool { return e.Kind == trace.Called && e.Call == 2 }, Value: ended(2),
			Answers: []Answer{
				{Words: "it gets the lock: it is the same process", Claim: "yes", Then: "The lock knows values and no processes. The function draws a new value, and its SET NX is refused."},
				{Words: "it gets the lock when the lease has ended", Claim: "yes, late", Then: "Ten seconds are too short, and here A's watchdog keeps the lease alive while A waits for itself."},
				{Words: "it is refused at once", Claim: "error", Then: "TryLock would be. Lock asks until its time is up, and A waits for A."},
				{Words: "it waits in vain", Claim: "error, late", Then: "Yes: A waits for A. Stage 6 counts its holds instead: the context of the call tells it that it is the same caller."},
			},
		},
		{
			Stage: "6", Story: "failover-async",
			Facts: []i18n.Text{"Redis has two replicas, which are two seconds behind. It gives A the lock, and dies a second later. R2 takes over.", "B calls Lock there. Each that gets the lock writes its order; the ledger compares no tokens."},
			Ask:   whoWrites,
			Known: isFirstCall, Value: writers,
			Answers: []Answer{
				{Words: "A", Claim: "A", Then: "A does, and so does B: R2 has never heard of A's key."},
				{Words: "A and B", Claim: "A B", Then: "Yes. Redis answers before its replicas have the key, and R2 has never heard of it. WAIT makes this rarer. A majority of five servers with a vote to spare helps, or a ledger that refuses A."},
				{Words: "B", Claim: "B", Then: "B does, and so does A: nobody has told it that the key is gone. Its next renewal would."},
				{Words: "nobody, until A's lease ends", Claim: "", Then: "R2 knows of no lease: its data is two seconds old."},
			},
		},
		{
			Stage: "redlock", Story: "redlock-restart-empty",
			Facts: []i18n.Text{"RedLock: five servers, and the lock is A's if three of them say yes. A has its key on R1, R2 and R3. R3 restarts at once, without its keys.", "B asks all five. Each that gets the lock writes its order."},
			Ask:   whoWrites,
			Known: isFirstCall, Value: writers,
			Answers: []Answer{
				{Words: "A: it has a majority", Claim: "A", Then: "It had one. A vote is a key, and R3 has lost it: R3 votes a second time, for B."},
				{Words: "B: A has only two left", Claim: "B", Then: "B does, and so does A: nobody asks the servers while A works."},
				{Words: "A and B: each has had a majority", Claim: "A B", Then: "Yes. B gets R3, R4 and R5. Any two majorities share a server, and the shared one has said yes twice. If R3 stayed away for a lease, B would be refused."},
				{Words: "nobody: two votes each", Claim: "", Then: "R3 votes a second time: with R4 and R5 B has three."},
			},
		},
		{
			Stage: "1", Story: "process-pause-unique",
			Facts: []i18n.Text{"The weakest lock, and a table with a unique key on the order. A has the lock and stands still for longer than its lease.", "B gets the lock and writes its order. Then A wakes up and writes."},
			Ask:   "Whose order is in the table?",
			Known: isFirstCall, Value: writers,
			Answers: []Answer{
				{Words: "A's: B is refused", Claim: "A", Then: "B was first. Its lock and its insert were in order, and A's is refused."},
				{Words: "both: stage 1 can do less than stage 6", Claim: "A B", Then: "The lock fails, as stage 6 did. The table does not: it refuses A's insert."},
				{Words: "B's: A is refused", Claim: "B", Then: "Yes, once. A's insert is refused, and for A that means: somebody has done it already. The lock saves work, and the resource keeps the truth."},
				{Words: "none: both are refused", Claim: "", Then: "The table refuses only the second one, and that is A's."},
			},
		},
	},
	Remember: "An answer is true when it is given. Ask how long you may rely on it, and who may have another one.",
	Entry:    "redis-redlock",
	Next:     "Write your own: go run . kata",
}

const whoWrites i18n.Text = "Who writes an order?"

// ended returns how the nth call ended: yes, no, or an error, and whether it took longer than a second.
func ended(n int) func(*trace.Trace) string {
	return func(tr *trace.Trace) (how string) {
		var called time.Duration
		for _, e := range tr.Events {
			switch {
			case e.Call == n && e.Kind == trace.Called:
				called = e.At
			case e.Call == n && e.Kind == trace.Returned:
				how = map[bool]string{true: "yes", false: "no"}[e.Result.Held]
				if e.Result.Error != "" {
					how = "error"
				}
				if e.At > called+time.Second {
					how += ", late"
				}
			}
		}
		return how
	}
}

// writers returns the clients whose orders are in the ledger.
func writers(tr *trace.Trace) string {
	var clients []string
	for _, o := range tr.End().Orders {
		clients = append(clients, o.Client)
	}
	slices.Sort(clients)
	return strings.Join(clients, " ")
}
