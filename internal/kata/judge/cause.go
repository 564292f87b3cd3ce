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
	OtherKeys     = "uses other keys"
	Nonsense      = "answers nonsense"
	Exits         = "ends the process"
	NoDay         = "does not lock" // an ordinary day goes wrong in another way
	TooMuchMemory = "takes too much memory"
	TooSlow       = "takes too long"
	Unsearchable  = "cannot be searched"
)

// endless is the verdict on goroutines that never rest.
func endless(at frame) Cause {
	return Cause{
		Kind: EndlessLoop, Text: fmt.Sprintf("%s runs without end at %s: it neither waits nor asks Redis.", at.function, at.place()),
		Next: "Let the loop wait: for a timer, for a message, or for ctx.Done().",
	}
}

// stuck is the verdict on a call that has not come back, by where it stands.
func stuck(op, bound string, g goroutine) Cause {
	at := g.inner
	switch g.state {
	case "sleep":
		return Cause{
			Kind: Sleeps, Text: fmt.Sprintf("%s sleeps at %s: %s after it was called it has not come back, though its context ended long ago.", op, at.place(), bound),
			Next: "Wait with a select on ctx.Done() and a timer, not with time.Sleep; and not for hours.",
		}
	case "":
		return Cause{
			Kind: BlocksForEver, Text: fmt.Sprintf("%s has not come back %s after it was called, though its context ended long ago.", op, bound),
			Next: "End every wait when ctx.Done() is closed.",
		}
	}
	return Cause{
		Kind: BlocksForEver, Text: fmt.Sprintf("%s blocks for ever at %s (%s): %s after it was called it has not come back, though its context ended long ago.", op, at.place(), g.state, bound),
		Next: "End every wait when ctx.Done() is closed.",
	}
}

// Hoards is the verdict on a lock that takes memory and gives none back; where
// says at which line, or is empty.
func Hoards(where string) Cause {
	return Cause{
		Kind: TooMuchMemory, Text: "Your lock takes more than half a gigabyte of memory" + where + ".",
		Next: "Look for a slice, a map or a channel that only grows, or for a loop without a wait.",
	}
}

// leaking is the verdict on a goroutine that outlives its lock.
func leaking(g goroutine) Cause {
	text := "A goroutine of your lock still runs when every hold is over and the client is closed."
	if g.inner.file != "" {
		text = fmt.Sprintf("A goroutine of your lock still runs at %s when every hold is over and the client is closed.", g.inner.place())
	}
	if g.created.file != "" {
		text += fmt.Sprintf(" It was started at %s.", g.created.place())
	}
	return Cause{Kind: Leaks, Text: text, Next: "Stop it in Unlock and wait until it has ended; let it end by itself when the lock is gone."}
}

// mutexHeld is the verdict on calls that wait for a sync.Mutex.
func mutexHeld(waiting goroutine, holding *goroutine) Cause {
	text := fmt.Sprintf("%s waits at %s for a sync.Mutex", waiting.inner.function, waiting.inner.place())
	if holding != nil {
		text += fmt.Sprintf(" that another call holds while it waits for Redis at %s", holding.inner.place())
	}
	return Cause{
		Kind: HoldsMutex, Text: text + ": nobody can cancel that wait.",
		Next: "Hold a sync.Mutex for fields only; let go of it before you ask Redis.",
	}
}
