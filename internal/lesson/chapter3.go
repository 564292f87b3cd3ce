package lesson

import (
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson/locks"
)

var chapter3 = Chapter{
	Title: "Look before you delete",
	Lead:  "Stage 2 deleted whatever was there. Stage 3 looks first.",
	Parts: []Part{
		{
			Stage: "3",
			Code:  []string{`value, err := m.rdb.Do(ctx, "GET"`, "if value != m.value", "return ErrNotHeld", `if err := m.rdb.Do(ctx, "DEL"`, "return nil"},
			Facts: stops,
			Ask:   whereMustItStop,
			Known: unlocks, Is: twoAtWork,
			Answers: []Answer{
				{Words: "Redis has not seen GET", Before: `value, err := m.rdb.Do(ctx, "GET"`, Run: stopsAt(beforeGet), Then: "Safe. A looked after the pause, so it saw the truth."},
				{Words: "A has compared: equal", Before: `if err := m.rdb.Do(ctx, "DEL"`, Run: stopsAt(beforeDelete), Then: "There. The comparison was right when it was made. By the time of the DEL the key is B's."},
				{Words: "Redis has executed DEL", Before: "return nil", Run: stopsAt(afterDelete), Then: "Safe. A reply that comes late deletes nothing."},
				{Words: "nowhere: it looks first", None: true, Run: stopsAt(nowhere), Then: "Nobody stopped, and C is refused. That is one run. Who tells A of a change after its look?"},
			},
		},
		{
			New:   locks.LooksTwice,
			Code:  []string{"GET K, compare", "GET K, compare again", "DEL K"},
			Facts: []i18n.Text{"A lock that looks again, just before it deletes. A stops once, for 31 s, as before."},
			Ask:   whereMustItStop,
			Known: unlocks, Is: twoAtWork,
			Answers: []Answer{
				{Words: "between the two looks", Before: "GET K, compare again", Run: stopsAt(beforeSecondGet), Then: "Safe. Here the second look helps: A sees B's key. Now stop behind it."},
				{Words: "after the second look", Before: "DEL K", Run: stopsAt(beforeDelete), Then: "There. There is always a last look, and a place after it."},
				{Words: "nowhere: the second look sees the change", None: true, Run: stopsAt(nowhere), Then: "Nobody stopped, and C is refused. That is one run."},
			},
		},
		{
			Stage: "4",
			Code:  []string{`if redis.call("GET"`, `return redis.call("DEL"`, "deleted, err := unlockScript.Run", "if deleted == 0", "return ErrNotHeld", "return nil"},
			Facts: stops,
			Ask:   whereMustItStop,
			Known: unlocks, Is: twoAtWork,
			Answers: []Answer{
				{Words: "Redis has not seen the script", Before: "deleted, err := unlockScript.Run", Run: stopsAt(beforeGet), Then: "Safe. The script compares when it runs, and it runs after the pause."},
				{Words: "Redis has executed the script", Before: "if deleted == 0", Run: stopsAt(afterDelete), Then: "Safe. A reply that comes late deletes nothing."},
				{Words: "nowhere", None: true, Run: stopsAt(nowhere), Then: "Right. The place between the look and the DEL is gone: nobody stands still in the middle of a script."},
			},
		},
	},
	Remember: "What you have read is already out of date. Only Redis can compare and act in one step.",
	Entry:    "unlock-why-lua",
	Next:     "Stage 4 is right about the key. And about the work?",
}

const whereMustItStop i18n.Text = "Where must A stop, so that C gets in while B is at work?"

var stops = []i18n.Text{
	"A has the lock and calls Unlock. B calls Lock at second 31.",
	"A's process stands still once, for 31 s. C tries when A's Unlock has returned.",
}

// unlocks reports whether an event is the call of A's Unlock.
func unlocks(e trace.Event) bool { return e.Kind == trace.Called && e.Op == trace.OpUnlock }

// twoAtWork reports whether two clients have the lock at the end.
func twoAtWork(tr *trace.Trace) bool { return len(tr.End().Insiders()) == 2 }

// The places at which A's process may stop.
func beforeGet(a *world.Client)    { a.Before(world.Of(trace.OpUnlock, world.Any)).Freeze() }
func beforeDelete(a *world.Client) { a.Before(world.Of(trace.OpUnlock, world.Named("DEL"))).Freeze() }
func afterDelete(a *world.Client)  { a.After(world.Of(trace.OpUnlock, world.Write)).Freeze() }
func nowhere(*world.Client)        {}
func beforeSecondGet(a *world.Client) {
	a.Before(world.Nth(2, world.Of(trace.OpUnlock, world.Named("GET")))).Freeze()
}

// stopsAt lets A stop at a place of its Unlock for 31 s. B locks meanwhile, and C tries afterwards.
func stopsAt(place func(a *world.Client)) func(*world.World) {
	return func(w *world.World) {
		a, b, c := w.Clients("A", "B", "C")
		a.Lock()
		place(a)
		unlock := a.StartUnlock()
		w.Sleep(w.Lease + time.Second)
		b.Lock()
		a.Thaw()
		unlock.Wait()
		c.TryLock()
	}
}
