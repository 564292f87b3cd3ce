package lesson

import (
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var chapter1 = Chapter{
	Title: "The owner dies",
	Lead:  "Stage 1 takes the lock with SETNX, which creates a key only if there is none. A second command gives the key a lease of 30 s, after which Redis deletes it.",
	Parts: []Part{
		{
			Stage: "1",
			Code:  []string{"created, err := m.rdb.Do", "if !created", "return false, nil", `if err := m.rdb.Do(ctx, "PEXPIRE"`, "return true, nil"},
			Facts: dies,
			Ask:   whereMustItDie,
			Known: isFirstCall, Is: neverAgain,
			Answers: []Answer{
				{Words: "Redis has not seen SETNX", Before: "created, err := m.rdb.Do", Run: diesAt(1, false), Then: "B gets in. A has left nothing behind."},
				{Words: "Redis has created the key", Before: `if err := m.rdb.Do(ctx, "PEXPIRE"`, Run: diesAt(1, true), Then: "There. The key has no lease yet, and the only one who would delete it is dead. It stays for ever."},
				{Words: "Redis has set the lease", Before: "return true, nil", Run: diesAt(2, true), Then: "B gets in, when the lease has ended. That is what a lease is for."},
				{Words: "nowhere: the key has a lease", None: true, Run: diesAt(0, true), Then: "Nobody died, and A unlocked when its work was done. That is one run. When does the key get its lease?"},
			},
		},
		{
			Stage: "2",
			Code:  []string{`err := m.rdb.Do(ctx, "SET"`, "if errors.Is(err, redis.Nil)", "return false, nil", "return true, nil"},
			Facts: dies,
			Ask:   whereMustItDie,
			Known: isFirstCall, Is: neverAgain,
			Answers: []Answer{
				{Words: "Redis has not seen SET", Before: `err := m.rdb.Do(ctx, "SET"`, Run: diesAt(1, false), Then: "B gets in. A has left nothing behind."},
				{Words: "Redis has executed SET", Before: "return true, nil", Run: diesAt(1, true), Then: "B gets in, when the lease has ended: the key never was without one."},
				{Words: "nowhere: the key has a lease", None: true, Run: diesAt(0, true), Then: "Right. One command creates the key and gives it its lease: there is no place in between."},
			},
		},
	},
	Remember: "A key without a lease outlives its owner. Create it and give it its lease in one command.",
	Entry:    "lease-set",
	Next:     "Now every key ends. Who may end it before?",
}

const whereMustItDie i18n.Text = "Where must A die, so that nobody gets in again?"

var dies = []i18n.Text{
	"In a run K is the lock's key, A1 the first value that A writes, and A? a value that is not in Redis.",
	"A calls TryLock, and its process dies in it. Two leases later B tries.",
}

// isFirstCall reports whether an event is the first call of a lock.
func isFirstCall(e trace.Event) bool { return e.Kind == trace.Called && e.Call == 1 }

// neverAgain reports whether the last client did not get the lock.
func neverAgain(tr *trace.Trace) bool { return tr.End().Holds("B") == 0 }

// diesAt lets A die at the nth command of its TryLock, before it or when it has been executed; n = 0: not
// at all, and A unlocks. B tries two leases later.
func diesAt(n int, executed bool) func(*world.World) {
	return func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		at := a.Before(world.Nth(n, world.Any))
		if executed {
			at = a.After(world.Nth(n, world.Any))
		}
		if n > 0 {
			at.Crash()
		}
		a.StartTryLock()
		if n == 0 {
			w.Sleep(time.Second)
			a.Unlock()
		}
		w.Sleep(2*w.Lease + time.Second)
		b.TryLock()
	}
}
