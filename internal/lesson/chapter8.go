package lesson

import (
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson/locks"
)

var chapter8 = Chapter{
	Title: "Three locks that you have not seen",
	Lead:  "Choose the guilty line, or say that the lock is fine. What can go wrong at that line is played.",
	Parts: []Part{
		{
			Stage: "doc1", File: "lock.go",
			Code:  []string{"for tick := time.NewTicker", "case <-tick.C:", "renewed, err := renewScript.Run", "if err != nil || renewed == 0", "return"},
			Facts: []i18n.Text{"A watchdog. Its script compares the owner, and gives the key 30 s more. A works for more than 30 s, and B tries at second 31."},
			Ask:   whichLine,
			Known: func(e trace.Event) bool { return e.Acquires() && e.Client == "A" }, Is: twoAtWork,
			Answers: []Answer{
				{Line: "for tick := time.NewTicker", Run: worksOn(nil), Then: "Not this one. It renews at 10, 20 and 30 s. One attempt may fail, and the next one still comes in time."},
				{Line: "renewed, err := renewScript.Run", Run: worksOn(late), Then: "Not this one. The script arrives two seconds late, and the lease still lasts: B is refused."},
				{Line: "if err != nil || renewed == 0", Run: worksOn(loading), Then: "Guilty. Redis was loading its data for a moment. One error ends the watchdog, the lease ends at second 30, and B is in while A works. It is the first lock of docs/documents.md; exercise r5 has the same mistake."},
				{Words: fine, None: true, Run: worksOn(nil), Then: "Nothing went wrong, and B is refused. That is one run."},
			},
		},
		{
			New:   locks.Forgets,
			Code:  []string{"m.value = a new UUID", "SET K m.value NX PX 30000", "if it was refused → false", "true"},
			Facts: []i18n.Text{"A TryLock in short. Its Unlock is a script: it deletes K if its value is m.value. B tries last, when nobody is inside."},
			Ask:   whichLine,
			Is:    func(tr *trace.Trace) bool { return len(tr.End().Insiders()) == 0 },
			Answers: []Answer{
				{Line: "m.value = a new UUID", Run: triesAgain, Then: "Guilty. A has the lock and tries once more. It is refused, and has forgotten the value of its hold: its Unlock finds another one, and the key stays until the lease ends."},
				{Line: "SET K m.value NX PX 30000", Run: diesAt(1, true), Then: "Not this one. A dies behind it, and B gets in when the lease is over."},
				{Line: "true", Run: unlocksAndGoes, Then: "Not this one. A got the lock, and its Unlock frees it: B gets in."},
				{Words: fine, None: true, Run: unlocksAndGoes, Then: "Nothing went wrong, and B gets in. That is one run. What does a try that is refused leave behind?"},
			},
		},
		{
			New:   locks.Watches,
			Code:  []string{"WATCH K", "GET K, compare", "MULTI", "DEL K", "EXEC: (nil) → ErrNotHeld"},
			Facts: []i18n.Text{"An Unlock in short. A's process stands still before that line, once, for 31 s. B gets the lock meanwhile, and C tries at the end.", "EXEC executes nothing if K has changed since WATCH."},
			Ask:   whichLine,
			Known: unlocks, Is: twoAtWork,
			Answers: []Answer{
				{Line: "WATCH K", Run: stopsAt(beforeUnlock("WATCH")), Then: "Not this one. A looks after the pause, and sees B's value."},
				{Line: "GET K, compare", Run: stopsAt(beforeUnlock("GET")), Then: "Not this one. A looks after the pause, and sees B's value."},
				{Line: "EXEC: (nil) → ErrNotHeld", Run: stopsAt(beforeUnlock("EXEC")), Then: "Not this one. A had compared its own value, and K is B's now. EXEC answers (nil) and deletes nothing."},
				{Words: fine, None: true, Run: stopsAt(nowhere), Then: "Right. None of the three runs breaks it: EXEC checks that K is unchanged and deletes it in one step, as the script does."},
			},
		},
	},
	Remember: "Read a lock line by line, and ask of each: what if this answer is late, is no, or never comes?",
	Next:     "Eleven locks to repair: go run . kata start r1. And five more questions?",
}

const (
	whichLine i18n.Text = "Which line is guilty?"
	fine      i18n.Text = "none: the lock is fine"
)

// loading lets Redis refuse a command, as it does after a restart.
func loading(f *world.Fault) { f.Fail("LOADING Redis is loading the dataset in memory") }

func late(f *world.Fault) { f.Delay(2 * time.Second) }

// worksOn lets A work for longer than a lease. A fault strikes its first renewal. B tries.
func worksOn(fault func(*world.Fault)) func(*world.World) {
	return func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		if fault != nil {
			fault(a.Before(w.Renews))
		}
		w.Sleep(w.Lease + time.Second)
		b.TryLock()
	}
}

// triesAgain lets A, which has the lock, try once more. Then A unlocks, and B tries.
func triesAgain(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	a.TryLock()
	a.Unlock()
	b.TryLock()
}

// unlocksAndGoes lets A lock and unlock. Then B tries.
func unlocksAndGoes(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	a.Unlock()
	b.TryLock()
}

// beforeUnlock stops a process before a command of its Unlock.
func beforeUnlock(name string) func(*world.Client) {
	return func(a *world.Client) { a.Before(world.Of(trace.OpUnlock, world.Named(name))).Freeze() }
}
