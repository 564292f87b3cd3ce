package timeline

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/world"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

// verb is what a command is called: its name, and of a script its own.
func verb(e world.Event) string {
	switch {
	case len(e.Command) > 1 && strings.HasPrefix(e.Command[0], "EVAL"):
		return e.Command[0] + " " + e.Command[1]
	case len(e.Command) > 0:
		return e.Command[0]
	}
	return strings.ToUpper(e.Op)
}

var (
	ownerLabel = regexp.MustCompile(`^[A-Z][a-z]*[0-9?]+$`)
	background = texts.New("background: {command}")
)

// command is a command in as few words as tell what it does: of a script its name and the
// owner. K is the lock's key.
func (s *story) command(e world.Event) string {
	text := s.shorten(e.Line())
	switch {
	case strings.HasPrefix(e.Command[0], "EVAL"):
		text = verb(e)
		if i := slices.IndexFunc(e.Command, ownerLabel.MatchString); i >= 0 {
			text += " " + e.Command[i]
		}
	case strings.HasSuffix(e.Command[0], "SUBSCRIBE"):
		text = e.Command[0]
	}
	if e.Background {
		text = background.In(s.language, "command", text)
	}
	return text
}

// shorten writes K for the lock's key.
func (s *story) shorten(text string) string { return shortened(text, s.key) }

func shortened(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "K")
}

// reply is an answer in a word.
func (s *story) reply(e world.Event) string {
	if len(e.Command) > 0 && strings.HasSuffix(e.Command[0], "SUBSCRIBE") {
		return "OK"
	}
	if e.Kind == world.Stored && strings.HasPrefix(e.Reply, "refused") {
		return staleToken.In(s.language)
	}
	return s.shorten(e.Reply)
}

// What a lane says.
var (
	staleToken  = texts.New("refused, stale token")
	asksOrder   = texts.New("{call} order {order}: {reply}")
	sendsOrder  = texts.New("{call} order {order}")
	calls       = texts.New("{call}()")
	callsWithin = texts.New("{call}(), for {time} at most")
	notRead     = texts.New("{command} → {reply} (not read yet)")
	answered    = texts.New("{command} → {reply}")
	arrives     = texts.New("{command} arrives")
	manyTimes   = texts.New("{command} → {reply}, {n} times in {time}")
	hears       = texts.New("hears the message")
	reads       = texts.New("reads {reply}")
	dropped     = texts.New("↯ {what}: the connection breaks")
	toldLoss    = texts.New("is told that its hold is lost")
	stillWaits  = texts.New("still waiting after {time}")
	standsStill = texts.New("stands still")
	goesOn      = texts.New("goes on")
	dies        = texts.New("† dies")
	stopsBefore = texts.New("{stops} before {command}")
	stopsAfter  = texts.New("{stops} after {command}, before the reply")
	losesNet    = texts.New("loses its network")
	hasNet      = texts.New("has its network back")
	isDelayed   = texts.New("… {what} is on its way for {time}")
	cancels     = texts.New("the caller cancels {call}")
	later       = texts.New("{time} later")
	leaseEnds   = texts.New("the lease is over: no key")
)

// What a call comes back with.
var (
	countOf    = texts.New("a count of {n}")
	nobodyHas  = texts.New("nobody holds it")
	isUnlocked = texts.New("unlocked")
	hasLock    = texts.New("has the lock")
	otherHas   = texts.New("no: somebody else has it")
	failsWith  = texts.New("error: {error}")
)

// What the world says of its faults.
func init() {
	texts.Know("the reply is lost", "the command is lost", "what was pushed is lost", "Redis is gone", "the reply", "the command",
		"the memory of Redis is full", "Redis evicts the key", "FLUSHALL: Redis is empty", "SCRIPT FLUSH: Redis forgets every script",
		"Redis restarts without persistence: connections broken, keys and scripts gone",
		"failover: the replica that takes over never saw the lock")
}

// text is what a label says in its lane.
func (s *story) text(l *label) string {
	e, in := l.event, s.language
	switch e.Kind {
	case world.Called:
		switch {
		case e.Op == world.OpCheck || e.Op == world.OpInsert:
			return ""
		case e.Bound > 0:
			return callsWithin.In(in, "call", e.Op, "time", roughly(e.Bound))
		}
		return calls.In(in, "call", e.Op)
	case world.Executed:
		command, reply := s.command(e), s.reply(e)
		switch {
		case l.times > 1:
			return manyTimes.In(in, "command", command, "reply", reply, "n", l.times, "time", roughly(l.until-l.at))
		case !l.answered:
			return notRead.In(in, "command", command, "reply", reply)
		}
		return answered.In(in, "command", command, "reply", reply)
	case world.Refused:
		return answered.In(in, "command", s.command(e), "reply", s.reply(e))
	case world.Delivered:
		if len(e.Command) == 0 {
			return hears.In(in)
		}
		return reads.In(in, "reply", s.reply(e))
	case world.Stored:
		return asksOrder.In(in, "call", texts.Text(strings.ToLower(e.Op)), "order", quote(e.Command[1]), "reply", s.reply(e))
	case world.Returned:
		return "= " + s.result(e)
	}
	return s.fault(e)
}

func quote(order string) string { return `"` + order + `"` }

// fault is what a label says of anything but commands, replies and calls.
func (s *story) fault(e world.Event) string {
	in := s.language
	switch e.Kind {
	case world.Dropped:
		return dropped.In(in, "what", texts.Text(e.Text))
	case world.Lost:
		return toldLoss.In(in)
	case world.Blocked:
		return stillWaits.In(in, "time", term.Short(e.Bound))
	case world.Frozen:
		return s.stops(standsStill, e)
	case world.Thawed:
		return goesOn.In(in)
	case world.Crashed:
		return s.stops(dies, e)
	case world.Cut:
		return losesNet.In(in)
	case world.Healed:
		return hasNet.In(in)
	case world.Delayed:
		return isDelayed.In(in, "what", texts.Text(e.Text), "time", term.Short(e.Bound))
	case world.Cancelled:
		return cancels.In(in, "call", e.Op)
	case world.Slept:
		return later.In(in, "time", term.Short(e.Bound))
	}
	return texts.Text(e.Text).In(in)
}

// stops says where a process stops.
func (s *story) stops(how texts.Text, e world.Event) string {
	switch e.Moment {
	case world.BeforeCommand:
		return stopsBefore.In(s.language, "stops", how, "command", s.command(e))
	case world.AfterCommand:
		return stopsAfter.In(s.language, "stops", how, "command", s.command(e))
	}
	return how.In(s.language)
}

func (s *story) result(e world.Event) string { return s.shorten(Result(e, s.language)) }

// Result is what a call comes back with, in words.
func Result(e world.Event, in texts.Language) string {
	done := e.Result.Claim == world.ClaimDone
	switch {
	case e.Op == world.OpCount && done:
		return countOf.In(in, "n", e.Result.Count)
	case e.Op == world.OpForce && e.Result.Claim == world.ClaimRefused:
		return nobodyHas.In(in)
	case (e.Op == world.OpUnlock || e.Op == world.OpForce) && done:
		return isUnlocked.In(in)
	case e.Result.Held:
		return hasLock.In(in)
	case e.Result.Error == "":
		return otherHas.In(in)
	}
	return failsWith.In(in, "error", e.Result.Error)
}

var (
	noKey    = texts.New("no key")
	noLease  = texts.New("{owner}, no lease")
	timeLeft = texts.New("{owner}, {time} left")
	orderBy  = texts.New("{order} by {client}")
)

// redis is what Redis holds after a label, "" where the label is not about Redis.
func (s *story) redis(l *label) string {
	switch l.event.Kind {
	case world.Executed, world.Expired, world.Server:
	default:
		return ""
	}
	if l.leaves {
		return ""
	}
	if len(l.after.keys) == 0 {
		if l.event.Kind == world.Expired {
			return leaseEnds.In(s.language)
		}
		return noKey.In(s.language)
	}
	var parts []string
	for _, k := range l.after.keys {
		parts = append(parts, s.shorten(s.keyText(k, s.Events[l.last].At-l.after.keysAt)))
	}
	return strings.Join(parts, ", ")
}

// keyText is "A1, 30s left", with the value before it where it does not tell whose it is.
func (s *story) keyText(k world.Key, since time.Duration) string {
	owner := k.Owner.Label
	if k.Value != owner && owner != "" {
		owner = k.Value + " (" + owner + ")"
	}
	if k.TTL == world.NoTTL {
		return noLease.In(s.language, "owner", owner)
	}
	return timeLeft.In(s.language, "owner", owner, "time", term.Short(k.TTL-since))
}

// ledger is what the ledger has after a label that has changed it.
func (s *story) ledgerNews(l *label) string {
	if l.event.Kind != world.Stored || l.event.Op != world.OpInsert || l.event.Reply != "inserted" {
		return ""
	}
	return strings.Join(s.orders(l.after.orders), ", ")
}

func (s *story) orders(orders []world.Order) (names []string) {
	for _, o := range orders {
		names = append(names, orderBy.In(s.language, "order", o.Name, "client", o.Client))
	}
	slices.Sort(names)
	return names
}

// source is the line that sent a command: mutex.go:64.
func source(e world.Event) string {
	if e.Source == nil || e.Source.File == "" || e.Kind != world.Executed {
		return ""
	}
	text := e.Source.String()
	return text[strings.LastIndexByte(text, '/')+1:]
}

// roughly drops the fraction of a second from what is longer than one.
func roughly(d time.Duration) string {
	if d > time.Second {
		d = d.Truncate(time.Second)
	}
	return term.Short(d)
}

// isEmpty tells whether a label says nothing in words: it is not drawn as text.
func (s *story) isEmpty(l *label) bool {
	return l.leaves || s.text(l) == "" && s.redis(l) == "" && len(l.found) == 0
}
