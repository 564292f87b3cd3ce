package judge

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Cause is why a lock cannot be judged any further: it ruins the run, or does not
// do the first thing that a lock is for.
type Cause struct {
	Kind   string       `json:"kind"` // one of the kinds below
	Text   i18n.Message `json:"text"` // one or two sentences
	Next   i18n.Message `json:"next"` // what to change
	During string       `json:"during,omitempty"`
	Trace  *world.Trace `json:"trace,omitempty"`
	// Optional says that everything that is required had been judged by then.
	Optional bool `json:"optional,omitempty"`
}

// The kinds of causes.
const (
	EndlessLoop    = "loops without end"
	BlocksForEver  = "blocks for ever"
	Panics         = "panics"
	Sleeps         = "sleeps"
	Leaks          = "leaks a goroutine"
	HoldsMutex     = "holds a sync.Mutex across a Redis call"
	Floods         = "floods Redis"
	ClosesClient   = "closes the client"
	KeepsOpen      = "keeps connections open"
	SameValue      = "writes the same value twice"
	OtherKeys      = "uses other keys"
	Nonsense       = "answers nonsense"
	Exits          = "ends the process"
	NoDay          = "does not lock" // an ordinary day goes wrong in another way
	IgnoresContext = "ignores its context"
	WaitsInTry     = "waits in TryLock"
	TooMuchMemory  = "takes too much memory"
	TooSlow        = "takes too long"
	Unsearchable   = "cannot be searched"
	Elsewhere      = "needs another Redis" // the embedded one lacks a command
	OtherRun       = "keeps a channel or a timer of another run"
)

// IsLeft tells of something that a run left behind: nothing was ruined by it.
func (c *Cause) IsLeft() bool { return c.Kind == Leaks || c.Kind == KeepsOpen }

func init() {
	for _, kind := range []i18n.Text{
		EndlessLoop, BlocksForEver, Panics, Sleeps, Leaks, HoldsMutex, Floods, ClosesClient, KeepsOpen, SameValue, OtherKeys, Nonsense, Exits, NoDay,
		IgnoresContext, WaitsInTry, TooMuchMemory, TooSlow, Unsearchable, Elsewhere, OtherRun,
	} {
		i18n.Register(kind)
	}
}

// Because is a cause: its kind, what to change, and what is so.
func Because(kind string, next i18n.Text, text i18n.Message) *Cause {
	return &Cause{Kind: kind, Next: next.Args(), Text: text}
}

var (
	giveMillis  = i18n.New("Look at the unit: PX and PEXPIRE take milliseconds, EX and EXPIRE seconds.")
	leaveTheirs = i18n.New("Write and delete the key only while it is nobody's, or your own.")
	lacks       = i18n.New("The failures are played on an embedded Redis, and that has no {command}, which {client} sends: {error}")
	noNotices   = i18n.New("{client} subscribes to {channel}. The failures are played on an embedded Redis, and that sends no keyspace notifications.")
	passOver    = i18n.New("Pass over what is said of waiters that nobody has woken; or let Unlock publish a message of its own.")
	onePID      = i18n.New("{client} sends the number of its process. All clients of a run are in one process, so that two of them may write the same value.")
	addRandom   = i18n.New("Pass over what is said of two clients with the same value; or add something random: in two containers the numbers may be the same too.")
	another     = i18n.New("Nothing is said about the lock. Grade it with another command in place of that one, such as a Lua script.")
	mendScript  = i18n.New("Mend the Lua script: Redis cannot read it. The error has the line in the script.")
	spellIt     = i18n.New("See how the script spells that command, in the line that the error has. If it is right, the embedded Redis on which the failures are played lacks it, and nothing is said about the lock.")
	giveBack    = i18n.New("Give back the connection that a Lock or a TryLock has taken from the client, also when the answer is no.")
)

// blame says why the day went wrong, where the trace shows it: a command that the embedded Redis
// lacks, a script that it cannot read, a pool of connections that is empty, a lease that ends long
// before its time, or never, a key that somebody else has taken away.
func (c *Cause) blame(trace *world.Trace, l i18n.Language) {
	for _, e := range trace.Events {
		said, is := strings.CutPrefix(e.Reply, "(error) ")
		if is && strings.HasPrefix(said, "ERR unknown command") {
			c.Kind, c.Text, c.Next = Elsewhere, lacks.Args("command", e.Command[0], "client", e.Client, "error", said), another.Args()
			return
		}
		if is && strings.HasPrefix(said, "ERR Error compiling script") {
			c.Next = mendScript.Args()
			if strings.Contains(said, "Unknown Redis command") {
				c.Next = spellIt.Args()
			}
			return
		}
		if e.Kind == world.Returned && strings.Contains(e.Result.Error, redis.ErrPoolTimeout.Error()) {
			c.Next = giveBack.Args()
			return
		}
	}
	found := oracle.Ask(without(trace, failures.AuxKeys(trace)), oracle.Lease, oracle.WrongDelete)
	if len(found) == 0 {
		return
	}
	c.Text, c.Next = i18n.Text(found[0].Localize(l)).Args(), giveMillis.Args()
	if found[0].Monitor == oracle.WrongDelete {
		c.Next = leaveTheirs.Args()
	}
}

// without is the trace without what was done to these keys.
func without(trace *world.Trace, keys []string) *world.Trace {
	part := *trace
	part.Events = slices.Clone(trace.Events)
	for i, e := range part.Events {
		part.Events[i].Effects = slices.DeleteFunc(slices.Clone(e.Effects), func(x world.Effect) bool { return slices.Contains(keys, x.Key) })
	}
	return &part
}

// unheard says that the lock listens for what the embedded Redis never sends; nil if it does not.
func unheard(trace *world.Trace) *Cause {
	for _, e := range trace.Events {
		if e.Kind == world.Sent && strings.HasSuffix(e.Command[0], "SUBSCRIBE") && strings.HasPrefix(e.Command[1], "__key") {
			return Because(Elsewhere, passOver, noNotices.Args("client", e.Client, "channel", e.Command[1]))
		}
	}
	return nil
}

// numbered says that the lock's values have the number of the process in them, which is the same for
// all clients of a run; nil if they have not.
func numbered(trace *world.Trace) *Cause {
	pid := strconv.Itoa(os.Getpid())
	noDigit := func(r rune) bool { return !unicode.IsDigit(r) }
	for _, e := range trace.Events {
		for _, arg := range e.Command {
			if arg != pid && !strings.Contains(arg, trace.Lock) && slices.Contains(strings.FieldsFunc(arg, noDigit), pid) {
				return Because(SameValue, addRandom, onePID.Args("client", e.Client))
			}
		}
	}
	return nil
}

// at says at which line of the lock; nothing where nobody knows.
func (f frame) at() i18n.Message {
	if f.file == "" {
		return i18n.Message{}
	}
	return At(f.place())
}

// At says at which line something is.
func At(line string) i18n.Message { return atLine.Args("line", line) }

var atLine = i18n.New(" at {line}")

var (
	hoards     = i18n.New("Your lock takes more than half a gigabyte of memory{where}.")
	hoardsNext = i18n.New("Look for a slice, a map or a channel that only grows, or for a loop without a wait.")
)

// Hoards is the verdict on a lock that takes memory and gives none back; where
// says at which line, or is empty.
func Hoards(where i18n.Message) *Cause {
	return Because(TooMuchMemory, hoardsNext, hoards.Args("where", where))
}

var (
	sleepsAt  = i18n.New("{call} sleeps at {line}: {time} after it was called it has not come back, though its context ended long ago.")
	sleepNext = i18n.New("Wait with a select on ctx.Done() and a timer, not with time.Sleep; and not for hours.")
	notBack   = i18n.New("{call} has not come back {time} after it was called, though its context ended long ago.")
	blocksAt  = i18n.New("{call} blocks for ever at {line} ({state}): {time} after it was called it has not " +
		"come back, though its context ended long ago.")
	blockNext = i18n.New("End every wait when ctx.Done() is closed.")
)

// stuck is the verdict on a call that has not come back, by where it stands.
func stuck(op, bound string, g goroutine) *Cause {
	switch g.state {
	case "sleep":
		return Because(Sleeps, sleepNext, sleepsAt.Args("call", op, "line", g.inner.place(), "time", bound))
	case "":
		return Because(BlocksForEver, blockNext, notBack.Args("call", op, "time", bound))
	}
	return Because(BlocksForEver, blockNext, blocksAt.Args("call", op, "line", g.inner.place(), "state", g.state, "time", bound))
}

var (
	leaks      = i18n.New("A goroutine of your lock still runs{where} when every hold is over and the client is closed.{started}")
	leakBegins = i18n.New(" It was started at {line}.")
	leakNext   = i18n.New("Stop it in Unlock and wait until it has ended; let it end by itself when the lock is gone.")
)

// leaking is the verdict on a goroutine that outlives its lock.
func leaking(g goroutine) *Cause {
	started := i18n.Message{}
	if g.created.file != "" {
		started = leakBegins.Args("line", g.created.place())
	}
	return Because(Leaks, leakNext, leaks.Args("where", g.inner.at(), "started", started))
}

var (
	mutexWaits     = i18n.New("{call} waits at {line} for a sync.Mutex: nobody can cancel that wait.")
	mutexWaitsLong = i18n.New("{call} waits at {line} for a sync.Mutex that another call holds while it " +
		"waits for Redis at {other}: nobody can cancel that wait.")
	mutexNext = i18n.New("Hold a sync.Mutex for fields only; let go of it before you ask Redis.")
)

// mutexHeld is the verdict on calls that wait for a sync.Mutex.
func mutexHeld(waiting goroutine, all []goroutine) *Cause {
	say, other := mutexWaits, ""
	for _, g := range all {
		if g.redis && g.inner.file != "" {
			say, other = mutexWaitsLong, g.inner.place()
			break
		}
	}
	return Because(HoldsMutex, mutexNext, say.Args("call", waiting.inner.function, "line", waiting.inner.place(), "other", other))
}

var (
	endsIn    = i18n.New("{call} ends in a {panic}{where}.")
	panicNext = i18n.New("Look at the line that the panic names; a nil map or a nil pointer is the usual reason.")
)

func panics(op, text string, at frame) *Cause {
	return Because(Panics, panicNext, endsIn.Args("call", op, "panic", text, "where", at.at()))
}
