package judge

import (
	"fmt"

	"lockkata/failures_test/world"
)

// Cause is why a lock cannot be judged any further: it ruins the run, or does not
// do the first thing that a lock is for.
type Cause struct {
	Kind   string       `json:"kind"` // one of the kinds below
	Text   string       `json:"text"` // one or two sentences
	Next   string       `json:"next"` // what to change
	During string       `json:"during,omitempty"`
	Trace  *world.Trace `json:"trace,omitempty"`
	// Optional says that everything that is required had been judged by then.
	Optional bool `json:"optional,omitempty"`
}

// The kinds of causes.
const (
	EndlessLoop   = "loops without end"
	BlocksForEver = "blocks for ever"
	Panics        = "panics"
	Sleeps        = "sleeps"
	Leaks         = "leaks a goroutine"
	HoldsMutex    = "holds a sync.Mutex across a Redis call"
	Floods        = "floods Redis"
	ClosesClient  = "closes the client"
	SameValue     = "writes the same value twice"
	OtherKeys     = "uses other keys"
	Nonsense      = "answers nonsense"
	Exits         = "ends the process"
	NoDay         = "does not lock" // an ordinary day goes wrong in another way
	TooMuchMemory = "takes too much memory"
	TooSlow       = "takes too long"
	Unsearchable  = "cannot be searched"
)

// Because is a cause: its kind, what to change, and what is so, as a format.
func Because(kind, next, format string, args ...any) *Cause {
	return &Cause{Kind: kind, Next: next, Text: fmt.Sprintf(format, args...)}
}

// Hoards is the verdict on a lock that takes memory and gives none back; where
// says at which line, or is empty.
func Hoards(where string) *Cause {
	return Because(TooMuchMemory, "Look for a slice, a map or a channel that only grows, or for a loop without a wait.",
		"Your lock takes more than half a gigabyte of memory%s.", where)
}

// stuck is the verdict on a call that has not come back, by where it stands.
func stuck(op, bound string, g goroutine) *Cause {
	late := bound + " after it was called it has not come back, though its context ended long ago."
	switch g.state {
	case "sleep":
		return Because(Sleeps, "Wait with a select on ctx.Done() and a timer, not with time.Sleep; and not for hours.",
			"%s sleeps at %s: %s", op, g.inner.place(), late)
	case "":
		return Because(BlocksForEver, "End every wait when ctx.Done() is closed.",
			"%s has not come back %s after it was called, though its context ended long ago.", op, bound)
	}
	return Because(BlocksForEver, "End every wait when ctx.Done() is closed.", "%s blocks for ever at %s (%s): %s", op, g.inner.place(), g.state, late)
}

// leaking is the verdict on a goroutine that outlives its lock.
func leaking(g goroutine) *Cause {
	at, started := "", ""
	if g.inner.file != "" {
		at = " at " + g.inner.place()
	}
	if g.created.file != "" {
		started = fmt.Sprintf(" It was started at %s.", g.created.place())
	}
	return Because(Leaks, "Stop it in Unlock and wait until it has ended; let it end by itself when the lock is gone.",
		"A goroutine of your lock still runs%s when every hold is over and the client is closed.%s", at, started)
}

// mutexHeld is the verdict on calls that wait for a sync.Mutex.
func mutexHeld(waiting goroutine, all []goroutine) *Cause {
	held := ""
	for _, g := range all {
		if g.redis && g.inner.file != "" {
			held = " that another call holds while it waits for Redis at " + g.inner.place()
			break
		}
	}
	return Because(HoldsMutex, "Hold a sync.Mutex for fields only; let go of it before you ask Redis.",
		"%s waits at %s for a sync.Mutex%s: nobody can cancel that wait.", waiting.inner.function, waiting.inner.place(), held)
}

func panics(op, text string) *Cause {
	return Because(Panics, "Look at the line that the panic names; a nil map or a nil pointer is the usual reason.", "%s ends in a %s.", op, text)
}
