package guard

import (
	"slices"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Cause is why a run did not end, or what it left running or open.
type Cause struct {
	Kind i18n.Text    `json:"kind"` // one of the kinds below
	Text i18n.Message `json:"text"` // one or two sentences
	Next i18n.Message `json:"next"` // advice
}

// The kinds of causes.
var (
	EndlessLoop   = i18n.New("loops without end")
	BlocksForever = i18n.New("blocks forever")
	Panics        = i18n.New("panics")
	Sleeps        = i18n.New("sleeps")
	Leaks         = i18n.New("leaks a goroutine")
	OldChannel    = i18n.New("waits for a channel of the package")
	HoldsMutex    = i18n.New("holds a sync.Mutex across a Redis call")
	Floods        = i18n.New("floods Redis")
	KeepsOpen     = i18n.New("keeps a subscription open")
	Exits         = i18n.New("ends the process")
	NoUse         = i18n.New("cannot be used")
	Lacks         = i18n.New("lacks a method")
	TooMuchMemory = i18n.New("takes too much memory")
	TooSlow       = i18n.New("takes too long")
	TimeUp        = i18n.New("was cut off by the clock")
	Outside       = i18n.New("waits for something outside of the run")
	Unsearchable  = i18n.New("cannot be searched")
	OwnTokens     = i18n.New("counts its tokens without Redis")
	Shares        = i18n.New("shares a variable between processes")
)

// IsNotPlayed reports whether the lock may be right, but cannot be played in fake time, in one process, or on a
// machine as busy as this one.
func (c *Cause) IsNotPlayed() bool {
	return c != nil && slices.Contains([]i18n.Text{HoldsMutex, OldChannel, Shares, Outside, TimeUp}, c.Kind)
}

// IsLeft reports whether the run ended, but left a goroutine or a connection.
func (c *Cause) IsLeft() bool { return c != nil && (c.Kind == Leaks || c.Kind == KeepsOpen) }

// Because returns a cause.
func Because(kind, next i18n.Text, text i18n.Message) *Cause {
	return &Cause{Kind: kind, Next: next.Args(), Text: text}
}

var (
	loopsAt      = i18n.New("{call} loops without end at {line}: it neither waits nor asks Redis.")
	loopNext     = i18n.New("Let the loop wait: for a timer, for a message, or for ctx.Done().")
	noLineRuns   = i18n.New("The run does not end, and no line of your lock is running.")
	tryAgain     = i18n.New("Look for what your lock waits for: the failures give it only a Redis client and a context.")
	slow         = i18n.New("The run has taken {limit} of a processor, and your lock still asks Redis.")
	slowNext     = i18n.New("Other locks take some milliseconds: wait longer between two attempts, or for a message.")
	cutOff       = i18n.New("The run was cut off after {wall} by the clock. It had taken {used} of a processor, so this says nothing about your lock.")
	quieter      = i18n.New("Try again when the machine is less busy.")
	outsideAt    = i18n.New("{call} waits at {line} for a connection or a file of its own. That takes real time, which the failures do not have.")
	outsideNext  = i18n.New("Ask Redis through the client that NewMutex gets; leave out everything else while the failures run.")
	yourMethod   = i18n.New("This method is yours to write: {method}.")
	nextMethod   = i18n.New("Add it to the type that your constructor returns; the task says what it does.")
	comeBack     = i18n.New("Let NewMutex return a lock, and let Lock, TryLock and Unlock return.")
	stillListens = i18n.New("Your lock still has a subscription when every hold has ended and the client is closed.")
	endListening = i18n.New("Close the subscription when the wait ends: defer sub.Close().")
	floodsAt     = i18n.New("{call} floods Redis at {line}: more than 2,000 commands in a second.")
	floodNext    = i18n.New("Wait between two attempts: some milliseconds at least, or for a message.")

	hoards     = i18n.New("Your lock takes more than half a gigabyte of memory.")
	hoardsAt   = i18n.New("Your lock takes more than half a gigabyte of memory, at {line}.")
	hoardsNext = i18n.New("Look for a slice, a map or a channel that only grows, or for a loop that does not wait.")

	sleepsAt  = i18n.New("{call} sleeps at {line} and does not return, although its context has ended.")
	sleepNext = i18n.New("Wait with a select on ctx.Done() and a timer, not with time.Sleep.")
	blocksAt  = i18n.New("{call} blocks forever at {line} ({state}), although its context has ended.")
	blockNext = i18n.New("End every wait when ctx.Done() is closed.")

	leaks      = i18n.New("A goroutine of your lock is still running when every hold has ended and the client is closed. It was started at {started}.")
	leaksAt    = i18n.New("A goroutine of your lock is still running at {line} when every hold has ended and the client is closed.")
	leaksFrom  = i18n.New("A goroutine of your lock is still running at {line} when every hold has ended and the client is closed. It was started at {started}.")
	leakNext   = i18n.New("Stop it in Unlock and wait until it has ended; let it end by itself when the lock is lost.")
	oldChannel = i18n.New("{call} waits at {line} for a channel that was made before the run began, so the run cannot tell that it waits.")
	oldNext    = i18n.New("Make the channel in NewMutex, or when it is first used: each run has its own clock.")
	mutexWaits = i18n.New("{call} waits at {line} for a sync.Mutex: a context cannot end that wait.")
	mutexHeldA = i18n.New("{call} waits at {line} for a sync.Mutex that another call holds while it waits for Redis at {other}. No time can pass here in the meantime; and a context cannot end such a wait.")
	mutexNext  = i18n.New("Use a channel of capacity 1, or hold a sync.Mutex for fields only, and release it before you ask Redis.")
	mutexAlso  = i18n.New("{call} waits at {line} for a sync.Mutex, and {holder} waits at {other} ({state}): each may have what the other needs.")
	alsoNext   = i18n.New("Release a sync.Mutex before you wait for another goroutine.")
)

// Hoards returns the cause of a lock that takes too much memory; line may be empty.
func Hoards(line string) *Cause {
	if line == "" {
		return Because(TooMuchMemory, hoardsNext, hoards.Args())
	}
	return Because(TooMuchMemory, hoardsNext, hoardsAt.Args("line", line))
}

// CutOff returns the cause of a run that the clock has ended. wall is the limit of its real time, and used is the
// processor time that it has had.
func CutOff(wall, used time.Duration) *Cause {
	return Because(TimeUp, quieter, cutOff.Args("wall", wall, "used", used.Round(100*time.Millisecond)))
}

// stuck returns the cause of a call that does not return.
func stuck(g world.Goroutine) *Cause {
	if g.State == "sleep" {
		return Because(Sleeps, sleepNext, sleepsAt.Args("call", g.Function, "line", g.Line))
	}
	return Because(BlocksForever, blockNext, blocksAt.Args("call", g.Function, "line", g.Line, "state", g.State))
}

// leaking returns the cause of a leaked goroutine.
func leaking(g world.Goroutine) *Cause {
	say := leaksFrom
	switch {
	case g.Line == "":
		say = leaks
	case g.Started == "":
		say = leaksAt
	}
	return Because(Leaks, leakNext, say.Args("line", g.Line, "started", g.Started))
}

// mutexHeld returns the cause of calls that wait for a sync.Mutex. The runtime does not know who holds it: it is the
// call that waits for Redis, unless another goroutine waits for something else than time. If that call is in a library
// that the lock uses, the others may wait for it.
func mutexHeld(waiting world.Goroutine, ofLock, all []world.Goroutine) *Cause {
	inRedis := ""
	for _, g := range all {
		isOfLock := func(own world.Goroutine) bool { return own.Line == g.Line }
		if g.InRedis && g.Line != "" && !slices.ContainsFunc(ofLock, isOfLock) {
			return Because(HoldsMutex, mutexNext, mutexHeldA.Args("call", waiting.Function, "line", waiting.Line, "other", g.Line))
		}
	}
	for _, g := range ofLock {
		switch {
		case g.Line == "" || g.Line == waiting.Line:
		case g.InRedis:
			inRedis = g.Line
		case g.State != "select" && g.State != "sleep":
			return Because(BlocksForever, alsoNext, mutexAlso.Args("call", waiting.Function, "line", waiting.Line, "holder", g.Function, "other", g.Line, "state", g.State))
		}
	}
	if inRedis != "" {
		return Because(HoldsMutex, mutexNext, mutexHeldA.Args("call", waiting.Function, "line", waiting.Line, "other", inRedis))
	}
	return Because(BlocksForever, mutexNext, mutexWaits.Args("call", waiting.Function, "line", waiting.Line))
}
