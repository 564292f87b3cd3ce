package oracle

import (
	"slices"
	"strconv"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// Rules about normal use. Only stories about it ask for them: see aside.

var (
	needless      = i18n.New("{call} of {client} failed with {error}, but Redis answered each of its commands and its context had not ended")
	unknownScript = i18n.New("{call} of {client} sends EVALSHA, and Redis does not know the script: Run of a redis.NewScript sends it again as EVAL")
	badScript     = i18n.New("the script of {client}'s {call} is not correct Lua: {error}")
	noValue       = i18n.New("the script of {client}'s {call} returns no value, and go-redis makes an error of that: end it with return 1, or with return 0")
	swapped       = i18n.New("the script of {client}'s {call} gets {key} where it expects the key, and {name} where it expects the value: KEYS come first, then ARGV")
	usedTwice     = i18n.New("two holds of {client} wrote the same value: make a new one in each attempt")
	usedByTwo     = i18n.New("{client} and {other} wrote the same value: a clock is not enough, make it of at least 8 random bytes")
	guessable     = i18n.New("{client} wrote the short value {value}, and another client may write the same: make it of at least 8 random bytes")
	comesEarly    = i18n.New("{client}'s Unlock did not wait for a renewal: its {command} arrives last, and changes {key}")
	keepsThem     = i18n.New("{client} has waited {n} times, and {n} of its connections are still subscribed")
)

const (
	shortest = 8 // characters of a value; decimal digits say less, and two more are needed
	waits    = 3 // after that many a lock that keeps its subscriptions has as many
)

// needlessError reports calls that fail although nothing has hindered them. After an error that a fault
// or Redis has caused, and after the end of its context, a call may fail.
func needlessError(f *file) func(*trace.Scene) {
	last := map[int]*trace.Event{} // call → its last command
	excused := map[int]bool{}
	key := f.LockKey()
	return func(s *trace.Scene) {
		e := s.Event
		switch e.Kind {
		case trace.Cancelled, trace.Dropped, trace.Refused:
			excused[e.Call] = true
		case trace.Executed:
			last[e.Call] = e
		case trace.Returned:
			isOver := e.Bound > 0 && e.At-s.Began.At >= e.Bound
			isRefused := trace.IsAcquire(e.Op) && len(s.Others(e.Client)) > 0
			if e.Result.Error == "" || excused[e.Call] || isOver || isRefused {
				return
			}
			text, sent := i18n.Text(""), last[e.Call]
			switch {
			case sent != nil && takesValueForKey(sent, key):
				f.report(e, swapped, "call", e.Op, "key", sent.Command[3], "name", key)
				return
			case e.Result.Claim != trace.ClaimUnknown:
			case sent == nil:
				text = needless
			case strings.Contains(sent.Reply, "Error compiling script"):
				text = badScript
			case isScript(sent) && strings.HasPrefix(sent.Reply, "(error) NOSCRIPT"):
				text = unknownScript
			case isScript(sent) && sent.Reply == "(nil)" && (e.Op == trace.OpUnlock || len(sent.Effects) > 0):
				text = noValue
			case !sent.IsError():
				text = needless
			}
			if text != "" {
				f.report(e, text, "call", e.Op, "error", e.Result.Error)
			}
		}
	}
}

func isScript(e *trace.Event) bool { return strings.HasPrefix(e.Command[0], "EVAL") }

// takesValueForKey reports whether a script gets the name of the lock's key among its arguments, and
// something else as its key.
func takesValueForKey(e *trace.Event, key string) bool {
	if len(e.Command) < 5 || !isScript(e) {
		return false
	}
	n, _ := strconv.Atoi(e.Command[2])
	keys := e.Command[3:min(3+n, len(e.Command))]
	return n > 0 && key != "" && !slices.Contains(keys, key) && slices.Contains(e.Command[3+len(keys):], key)
}

// repeatedValue reports clients that write a value which another hold has too, or may have: each
// client once.
func repeatedValue(f *file) func(*trace.Scene) {
	wrote := map[string]string{} // value → the client that wrote it first
	told := map[string]bool{}
	return func(s *trace.Scene) {
		e := s.Event
		for _, x := range e.Effects {
			value := x.Owner.Value()
			first, again := wrote[value]
			if x.Kind != trace.Installed || e.Op == trace.OpRun || told[e.Client] {
				continue
			}
			wrote[value], told[e.Client] = e.Client, true
			switch id := idOf(s.Keys, x); {
			case again && first == e.Client:
				f.report(e, usedTwice)
			case again:
				f.report(e, usedByTwo, "other", first)
			case id != x.Owner.Label && isShort(id):
				f.report(e, guessable, "value", id)
			default:
				told[e.Client] = false
			}
		}
	}
}

func isShort(value string) bool {
	_, err := strconv.Atoi(value)
	return len(value) < shortest || err == nil && len(value) < shortest+2
}

// earlyUnlock reports a renewal that was under way as an Unlock of its process freed the lock, arrives after that, and
// changes a key. One that compares the owner changes none.
func earlyUnlock(f *file) func(*trace.Scene) {
	overtaken := map[int]bool{} // requests
	return func(s *trace.Scene) {
		e := s.Event
		switch {
		case e.Kind == trace.Executed && e.Op == trace.OpUnlock && e.Effects.Include(trace.Removed):
			for _, r := range s.UnderWay {
				overtaken[r.ID] = overtaken[r.ID] || r.Call == 0 && !r.Ledger && r.Process == e.Process && r.Executed < 0
			}
		case e.Kind == trace.Executed && overtaken[e.Request] && len(e.Effects) > 0:
			f.report(e, comesEarly, "command", e.Command[0], "key", e.Effects[0].Key)
		}
	}
}

// keptSubscription reports processes that keep a subscription for each of their waits.
func keptSubscription(f *file) func(*trace.Scene) {
	waited := map[string]int{}              // process → how many Locks have given up
	subscribed := map[string]*trace.Event{} // process → its last SUBSCRIBE
	return func(s *trace.Scene) {
		e := s.Event
		if e.Kind == trace.Sent && e.Command[0] == "SUBSCRIBE" {
			subscribed[e.Process] = e
		}
		if s.Began.Op != trace.OpLock || e.Result.Held {
			return
		}
		if waited[e.Process]++; waited[e.Process] == waits && e.Result.Subscribed >= waits {
			f.report(subscribed[e.Process], keepsThem, "n", waits)
		}
	}
}
