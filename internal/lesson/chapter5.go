package lesson

import (
	"strconv"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var chapter5 = Chapter{
	Title: "When does A learn of it?",
	Lead:  "Stage 5 renews the lease every 10 s. A works under its lock. At second 4 its network dies, and no renewal gets through.",
	Parts: []Part{
		learns("5", "B asks at second 31. At second 41 the network is back, and A unlocks.", map[string]i18n.Text{
			"4":  "At second 4 nobody knows: a lost network looks like a slow one.",
			"10": "At second 10 the first renewal gets no answer. The watchdog tells nobody.",
			"30": "Redis removes the key at second 30. It tells nobody, and A does not look at its own clock.",
			"31": "B gets in at second 31. Redis does not tell A, and stage 5 does not either.",
			"41": "Yes. The watchdog fails in silence. Nothing tells A, and it works beside B until its Unlock finds B's value.",
		}),
		learns("6", "The same with stage 6. Its Lock returns a hold with a context, which ends when the hold does.", map[string]i18n.Text{
			"4":  "At second 4 nobody knows: a lost network looks like a slow one.",
			"10": "At second 10 the first renewal gets no answer. Two thirds of the lease are left, so there is no reason to stop yet.",
			"30": "Yes. A counts the lease from when it sent the command, and its context ends with it, before B asks.",
			"31": "That would be too late: B is inside then. A counts the lease itself.",
			"41": "Not here. A counts the lease from when it sent the command, and its context ends with it.",
		}),
		stuck("5", "A's code is stuck and never calls Unlock. Its process lives. Its lock is stage 5.", "No: the process lives, and so does its watchdog. It renews for nobody, for ever. That is the price."),
		stuck("4", "The same, and its lock is stage 4.", "Yes. Without a watchdog the lease ends, whatever A does."),
	},
	Remember: "A watchdog that cannot renew has to tell the holder, and a holder has to look at its own clock.",
	Entry:    "watchdog-fails",
	Next:     "The one who waits has asked every 100 ms. Can it sleep instead?",
}

// learns asks when A learns that it has lost the lock. Its answers say that, each with what is said then.
func learns(stage string, fact i18n.Text, then map[string]i18n.Text) Part {
	p := Part{
		Stage: stage, Facts: []i18n.Text{fact}, Ask: "When does A learn that the lock is lost?",
		Known: func(e trace.Event) bool { return e.Kind == trace.Cut },
		Value: func(tr *trace.Trace) string {
			for _, e := range tr.Events {
				if e.Kind == trace.Lost || e.Kind == trace.Returned && e.Op == trace.OpUnlock && e.Result.Error != "" {
					return strconv.Itoa(int(e.At.Round(time.Second).Seconds()))
				}
			}
			return "never"
		},
		Run: losesNetwork,
	}
	words := map[string]i18n.Text{"4": "at second 4", "10": "at second 10", "30": "at second 30", "31": "at second 31", "41": "at second 41, when it unlocks"}
	for _, at := range []string{"4", "10", "30", "31", "41"} {
		p.Answers = append(p.Answers, Answer{Words: words[at], Claim: at, Then: then[at]})
	}
	return p
}

// losesNetwork cuts A off from second 4 to second 41, when it unlocks. B asks at second 31.
func losesNetwork(w *world.World) {
	a, b := w.Client("A"), w.Client("B")
	a.Lock()
	w.Sleep(4 * time.Second)
	a.Cut()
	w.Sleep(w.Lease + time.Second - w.Now())
	b.Lock()
	w.Sleep(10 * time.Second)
	a.Heal()
	a.Unlock()
}

// stuck asks whether B gets in when A never unlocks.
func stuck(stage string, fact, then i18n.Text) Part {
	p := Part{
		Stage: stage, Facts: []i18n.Text{fact},
		Ask:   "Ten leases later B tries. Does it get in?",
		Known: func(e trace.Event) bool { return e.Acquires() && e.Client == "A" },
		Value: func(tr *trace.Trace) string {
			if neverAgain(tr) {
				return "no"
			}
			return "yes"
		},
		Run: func(w *world.World) {
			a, b := w.Client("A"), w.Client("B")
			a.Lock()
			w.Sleep(10*w.Lease + time.Second)
			b.TryLock()
		},
	}
	for _, claim := range []string{"yes", "no"} {
		p.Answers = append(p.Answers, Answer{Words: i18n.Text(claim), Claim: claim, Then: then})
	}
	return p
}
