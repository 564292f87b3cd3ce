package lesson

import (
	"strconv"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var chapter4 = Chapter{
	Title: "How long is the work?",
	Lead:  "The lease is 30 s. A has the lock, sees that the tea is free, and works before it writes its order. B waits for the lock.",
	Parts: []Part{
		works("4", 29*time.Second, "A works for 29 s. Its lock is stage 4.",
			"One. A's lease was longer than its work, by a second: B got the lock afterwards, and found the order there."),
		works("4", 31*time.Second, "A works for 31 s. Its lock is stage 4.",
			"Two. At second 30 the lease was over, B got the lock and wrote. A wrote at second 31, and nobody stopped it."),
		works("5", 41*time.Second, "A works for 41 s. Its lock is stage 5: every 10 s it gives the key a new lease.",
			"One. The key was renewed until A unlocked: B got the lock afterwards, and found the order there."),
	},
	Remember: "A lease is a guess about the work. A watchdog renews it while the process lives.",
	Entry:    "watchdog-why",
	Next:     "A watchdog renews as long as it can. And if it cannot?",
}

// works asks how many teas are sold if A works that long.
func works(stage string, work time.Duration, fact, then i18n.Text) Part {
	p := Part{
		Stage: stage, Facts: []i18n.Text{fact, "B acts as soon as it has the lock, and writes only if the tea is free."},
		Ask:   "How many teas are sold?",
		Known: func(e trace.Event) bool { return e.Kind == trace.Called && e.Client == "B" && e.Op == trace.OpLock },
		Value: func(tr *trace.Trace) string { return strconv.Itoa(len(tr.End().Orders)) },
		Run:   worksFor(work),
	}
	for _, n := range []string{"0", "1", "2"} {
		p.Answers = append(p.Answers, Answer{Words: i18n.Text(n), Claim: n, Then: then})
	}
	return p
}

// worksFor lets A write after that time. B waits for the lock.
func worksFor(work time.Duration) func(*world.World) {
	return func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		a.Check(tea)
		lock := b.StartLock()
		acts := func() {
			if b.Check(tea).Answer().Kind == trace.Free {
				b.Insert(tea)
			}
		}
		w.Sleep(min(work, w.Lease+200*time.Millisecond))
		early := lock.Held()
		if early {
			acts()
		}
		w.Sleep(work - w.Now())
		a.Insert(tea)
		a.Unlock()
		if lock.Wait(); !early {
			acts()
		}
	}
}
