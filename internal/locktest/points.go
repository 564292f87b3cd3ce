package locktest

import "cmp"

// point is what the summary of a stage does not compute.
type point struct {
	stage    string
	is       string // what the first stage is
	asks     string // the failure that the question is about: it breaks this stage, and the next one fixes it
	question string
	chapter  int    // of the lesson, which asks it too
	notes    []note // in the order of the rows
}

// note is what the stage before does instead of a row of the summary. A test compares it with a run.
type note struct {
	on   string // how the row begins
	says string // part of a row of the other run, or of its findings, and when it is not at the same time; "": no such row
}

func (n note) text(stage string) string {
	return "(stage " + stage + ": " + cmp.Or(n.says, "never") + ")"
}

var points = []point{
	{
		stage: "1", asks: "crash-before-expire", chapter: 1,
		is:       "a key in Redis. SETNX creates it if it is not there, PEXPIRE gives it a lease, and DEL frees the lock.",
		question: "A's Lock sends SETNX, then PEXPIRE. You may kill A once. Where, so that nobody ever gets in again?",
	},
	{
		stage: "2", asks: "delete-foreign", chapter: 2,
		question: "A works longer than its lease, and B gets the lock. Then A calls Unlock, which sends DEL, and C calls TryLock. Who is inside now?",
		notes:    []note{{"A SET K", "no lease"}, {"lease over", "forever"}, {"B SET K", "in vain"}},
	},
	{
		stage: "3", asks: "check-then-delete", chapter: 3,
		question: "Unlock reads the value, compares it, and then deletes the key. A may stand still once, for 31 s. B asks at 31 s, and C when A's Unlock has returned. Where must A stop, so that C gets in while B is at work?",
		notes:    []note{{"A GET K", "wrong delete"}, {"C SET K", "C is inside"}},
	},
	{
		stage: "4", asks: "work-outlives-ttl", chapter: 4,
		question: "The lease is 30 s. A has seen that no tea is ordered; it works 32 s and then orders one. B asks at 31 s, looks, and orders one if there is none. How many teas? And if A works 29 s?",
		notes:    []note{{"A stands still", "before DEL K"}, {"A EVALSHA", "wrong delete"}, {"C SET K", "C is inside"}},
	},
	{
		stage: "5", asks: "renew-partition", chapter: 5,
		question: "A works. At 4 s its network dies, and no renewal gets through. B asks at 31 s. When does A learn of it?",
		notes:    []note{{"A background", "lease over at 30s"}, {"B SET K", "B is inside"}, {"A insert", `"tea" twice`}},
	},
	{
		stage: "6", asks: "write-delayed", chapter: 7,
		question: "A has the lock and sends a write, which is on its way for longer than the lease. B gets the lock and writes. Who can still stop A's write?",
		notes:    []note{{"A is told", ""}, {"B EVALSHA", "B is inside"}},
	},
}
