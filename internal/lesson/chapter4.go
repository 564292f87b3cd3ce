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
		works("4", 29*time.Second, "A works for 29 s. Its lock is stage 4.", [...]i18n.Text{
			"One. A had the lock for as long as it worked, and wrote. B got the lock afterwards, and found the order there.",
			"One. A's lease was longer than its work, by a second: B got the lock afterwards, and found the order there.",
			"One. A's lease was longer than its work, so B had to wait until A had unlocked. Then it found the order there.",
		}),
		works("4", 31*time.Second, "A works for 31 s. Its lock is stage 4.", [...]i18n.Text{
			"Two. Nobody got an error before the write: A asks its lock at Unlock, and its order is written by then.",
			"Two. The script of stage 4 protects the key, and not the work. A is told that it lost the lock, but at Unlock, after its write.",
			"Two. At second 30 the lease was over, B got the lock and wrote. A wrote at second 31, and nobody stopped it.",
		}),
		works("5", 41*time.Second, "A works for 41 s. Its lock is stage 5: every 10 s its watchdog gives the key a new lease.", [...]i18n.Text{
			"One. A had the lock for as long as it worked, and wrote. B got the lock afterwards, and found the order there.",
			"One. The key was renewed until A unlocked: B got the lock afterwards, and found the order there.",
			"One. 30 s is the time after the last renewal, not the lock's whole life. A renewed it until it unlocked, and B found the order there.",
		}),
	},
	Remember: "A lease is a guess about the work. A watchdog renews it while the process lives.",
	Entry:    "watchdog-why",
	Next:     "A watchdog renews as long as it can. And if it cannot?",
}

// works asks how many teas are sold if A works that long: none, one or two, each with what is said then.
func works(stage string, work time.Duration, fact i18n.Text, then [3]i18n.Text) Part {
	p := Part{
		Stage: stage, Facts: []i18n.Text{fact, "B acts as soon as it has the lock, and writes only if the tea is free."},
		Ask:   "How many teas are sold?",
		Known: func(e trace.Event) bool { return e.Kind == trace.Called && e.Client == "B" && e.Op == trace.OpLock },
		Value: func(tr *trace.Trace) string { return strconv.Itoa(len(tr.End().Orders)) },
		Run:   worksFor(work),
	}
	words := [3]i18n.Text{"no tea", "one tea", "two teas"}
	for _, n := range []int{1, 2, 0} { // so that answer 1 is one tea
		p.Answers = append(p.Answers, Answer{Words: words[n], Claim: strconv.Itoa(n), Then: then[n]})
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
