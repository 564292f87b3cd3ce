package timeline

import (
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// wording is how an event is told.
type wording struct {
	lane     i18n.Text // where its client has a lane, and a drawing beside it
	sentence i18n.Text // for readers who hear it or see only this one; "" = the client, and what its lane says
	style    string    // of the lane in a picture
}

func words(lane, sentence, style string) wording {
	return wording{i18n.New(lane), i18n.New(sentence), style}
}

// wordings has one wording for each kind of event. Those of some events follow it.
var wordings = map[world.Kind]wording{
	world.Called:    words("{call}()", "{client} calls {call}()", "h"),
	world.Executed:  words("{command} → {reply}", "{client} sends {request}, and Redis answers {reply}", "m"),
	world.Refused:   words("{command} → {reply}", "{client} sends {request}, and gets an error: {error}", "m"),
	world.Delivered: words("reads {reply}", "{client} reads the reply: {reply}", "m"),
	world.Dropped:   words("↯ {what}: the connection breaks", "The connection of {client} breaks: {what}", "r"),
	world.Stored:    words("{op} order {order}: {reply}", "{client} asks the ledger to {op} order {order}: {reply}", ""),
	world.Returned:  words("= {result}", "{call}() comes back to {client}: {result}", "d"),
	world.Lost:      words("is told that its hold is lost", "", "g"),
	world.Blocked:   words("still waiting after {time}", "", "r"),
	world.Frozen:    words("stands still", "The process of {client} stands still", "h y"),
	world.Thawed:    words("goes on", "The process of {client} goes on", "h y"),
	world.Crashed:   words("† dies", "The process of {client} dies", "h"),
	world.Cut:       words("loses its network", "", "r"),
	world.Healed:    words("has its network back", "", "d"),
	world.Delayed:   words("… {what} is on its way for {time}", "{what} of {client} is on its way for {time}", "d"),
	world.Cancelled: words("the caller cancels {call}", "The caller of {client} cancels {call}", "d"),
	world.Slept:     words("{time} later", "Time passes: {time}", ""),
	world.Expired:   words("", "The lease ends, and Redis removes the key", ""),
	world.Server:    words("{what}", "{what}", "h"),
}

var (
	callsWithin = words("{call}(), for {time} at most", "{client} calls {call}(), and waits {time} at most", "h")
	notRead     = words("{command} → {reply} (not read yet)",
		"Redis executes {request} for {client}, and answers {reply}; {client} has not read it yet", "m")
	manyTimes = words("{command} → {reply}, {n} times in {time}",
		"{client} sends {request}, {n} times in {time}, and Redis answers {reply} each time", "m")
	executed = i18n.New("Redis executes {request} for {client}, and answers {reply}")
	hears    = words("hears the message", "{client} hears the message", "m")

	isIn        = i18n.New("{client} has the lock, and is inside")
	isInAgainst = i18n.New("{client} has the lock, and is inside beside another: two are inside")
	isInExcused = i18n.New("{client} has the lock, and is inside; the other one cannot know yet that it has lost it")
	isInAgain   = i18n.New("{client} has the lock again: it holds it {nth} times")

	itDoes       = i18n.New("{client} {does}")
	inBackground = i18n.New("{command} in the background")
	theScript    = i18n.New("the script {name}")
	stopsBefore  = i18n.New("{stops} before {command}")
	stopsAfter   = i18n.New("{stops} after {command}, before the reply")
)

// serverFaults say what happens to Redis itself.
var serverFaults = map[world.ServerFault]i18n.Text{
	world.MemoryFull:       i18n.New("the memory of Redis is full"),
	world.Evicted:          i18n.New("Redis evicts the key"),
	world.Flushed:          i18n.New("FLUSHALL: Redis is empty"),
	world.ScriptsFlushed:   i18n.New("SCRIPT FLUSH: Redis forgets every script"),
	world.Restarted:        i18n.New("Redis restarts without persistence: connections broken, keys and scripts gone"),
	world.FailedOver:       i18n.New("failover: the replica that takes over never saw the lock"),
	world.ClockJumped:      i18n.New("the clock of Redis jumps by {time}"),
	world.SubscriptionLost: i18n.New("Redis forgets who listens, on a connection that stays open"),
	world.Gone:             i18n.New("Redis is gone"),
}

// What is lost, and what is late, by where the command was.
var (
	lost = map[world.Moment]i18n.Text{
		world.BeforeCommand: i18n.New("the command is lost"),
		world.AfterCommand:  i18n.New("the reply is lost"),
		"":                  i18n.New("what was pushed is lost"),
	}
	late = map[world.Moment]i18n.Text{
		world.BeforeCommand: i18n.New("the command"),
		world.AfterCommand:  i18n.New("the reply"),
	}
)

func init() { i18n.Register("check", "insert", "free", "taken", "inserted") } // the ledger

// wording is how a label's event is told.
func (s *Story) wording(l *Label) wording {
	e := l.Event
	w := wordings[e.Kind]
	if l.times > 1 {
		return manyTimes
	}
	switch e.Kind {
	case world.Called:
		switch {
		case e.Op == world.OpCheck || e.Op == world.OpInsert: // the answer is told
			return wording{}
		case e.Bound > 0:
			return callsWithin
		}
	case world.Executed:
		switch {
		case s.apart:
			w.sentence = executed
		case !l.Answered:
			return notRead
		}
	case world.Delivered:
		if len(e.Command) == 0 {
			return hears
		}
	case world.Returned:
		switch {
		case !e.Result.Held:
		case strings.Contains(l.After.Inside, "x"):
			w.sentence = isInAgainst
		case strings.Contains(l.After.Inside, "e"):
			w.sentence = isInExcused
		case l.before > 0:
			w.sentence = isInAgain
		default:
			w.sentence = isIn
		}
	}
	return w
}

// say says a text about a label's event.
func (s *Story) say(t i18n.Text, l *Label) string {
	e := l.Event
	time := term.Short(e.Bound)
	switch {
	case l.times > 1:
		time = roughly(l.Until - l.At)
	case e.Kind == world.Called:
		time = roughly(e.Bound)
	}
	parts := []any{
		"client", e.Client, "call", e.Op, "op", i18n.Text(strings.ToLower(e.Op)), "what", what(e),
		"time", time, "n", l.times, "nth", l.before + 1,
	}
	if len(e.Command) > 0 {
		reply := s.reply(e)
		parts = append(parts, "command", s.command(e), "request", s.request(e), "reply", reply, "error", strings.TrimPrefix(reply, "(error) "))
	}
	if e.Kind == world.Stored {
		parts = append(parts, "order", quote(e.Command[1]))
	}
	if e.Kind == world.Returned {
		parts = append(parts, "result", s.result(e))
	}
	return t.Localize(s.language, parts...)
}

// what is what a fault strikes, or does to Redis.
func what(e world.Event) i18n.Message {
	switch {
	case e.Fault != "":
		return serverFaults[e.Fault].Args("time", term.Short(e.Bound))
	case e.Kind == world.Delayed:
		return late[e.Moment].Args()
	}
	return lost[e.Moment].Args()
}

// text is what a label says in its lane.
func (s *Story) text(l *Label) string { return s.stops(s.say(s.wording(l).lane, l), l.Event) }

// Sentences tells what happened in a trace from an event on, a sentence for each. A command
// that leaves has none: its execution has one.
func Sentences(trace *world.Trace, from int, language i18n.Language) (all []string) {
	s := &Story{Trace: trace, Key: trace.LockKey(), language: language, apart: true}
	s.tellAll(nil)
	for l := range s.told {
		if l.First >= from {
			all = append(all, s.sentence(l))
		}
	}
	return all
}

// fromOutside are the kinds of events that no lock brings about.
var fromOutside = []world.Kind{
	world.Called, world.Refused, world.Dropped, world.Frozen, world.Thawed, world.Crashed, world.Cut, world.Healed, world.Delayed, world.Cancelled,
	world.Slept, world.Server,
}

// longestScenario is how many steps of a scenario are told.
const longestScenario = 14

// Scenario tells what was done to a lock, and not what the lock did: the calls, the faults, and
// the time that passed.
func Scenario(trace *world.Trace, language i18n.Language) (steps []string) {
	s := NewStory(trace, nil, language)
	for l := range s.told {
		if l.Event.Background || !slices.Contains(fromOutside, l.Event.Kind) {
			continue
		}
		text := s.sentence(l)
		if l.Event.Kind == world.Slept {
			text = s.text(l)
		}
		if steps = append(steps, strings.TrimRight(text, ".。")); len(steps) == longestScenario {
			return append(steps, "…")
		}
	}
	return steps
}

// sentence tells a label in words, for readers who hear it or see only this one.
func (s *Story) sentence(l *Label) string {
	text := itDoes.Localize(s.language, "client", l.Event.Client, "does", s.text(l))
	if told := s.wording(l).sentence; told != "" {
		text = s.stops(s.say(told, l), l.Event)
	}
	stop := "."
	if s.language == i18n.Chinese {
		stop = "。"
	}
	return strings.TrimRight(s.Shorten(text), ".。") + stop
}

// request is a command in a sentence.
func (s *Story) request(e world.Event) string {
	foreground := e
	foreground.Background = false
	command := s.command(foreground)
	if _, name, isScript := strings.Cut(command, " "); isScript && strings.HasPrefix(command, "EVAL") {
		command = theScript.Localize(s.language, "name", name)
	}
	if e.Background {
		return inBackground.Localize(s.language, "command", command)
	}
	return command
}

// stops says where a process stops.
func (s *Story) stops(how string, e world.Event) string {
	switch {
	case e.Kind != world.Frozen && e.Kind != world.Crashed:
	case e.Moment == world.BeforeCommand:
		return stopsBefore.Localize(s.language, "stops", how, "command", s.command(e))
	case e.Moment == world.AfterCommand:
		return stopsAfter.Localize(s.language, "stops", how, "command", s.command(e))
	}
	return how
}

var (
	isInside     = i18n.New("{client} is inside")
	isInsideToo  = i18n.New("{client} is inside, too")
	isInsideMore = i18n.New("{client} is inside, {n} times")
	lossTold     = i18n.New("is told: the hold is lost")
	leaseOver    = i18n.New("lease over")
	sendsOrder   = i18n.New("{call} order {order}")
	arrives      = i18n.New("{command} arrives")
)

// Says is what a label says in a picture, and in which style: in fewer words than in a
// terminal, where there is no drawing.
func (s *Story) Says(l *Label) (text, style string) {
	e, w := l.Event, s.wording(l)
	text = s.say(w.lane, l)
	switch e.Kind {
	case world.Slept, world.Expired:
		return "", ""
	case world.Called:
		if l.Leaves {
			return sendsOrder.Localize(s.language, "call", i18n.Text(strings.ToLower(e.Op)), "order", quote(e.Order)), ""
		}
	case world.Sent:
		return s.command(e), "m"
	case world.Executed, world.Refused:
		text = s.command(e)
		switch {
		case l.times > 1:
			return fmt.Sprintf("%s → %s, %d×", text, s.reply(e), l.times), "m"
		case l.Answered:
			text = s.say(wordings[world.Executed].lane, l)
		}
		if l.Request.Delivered < 0 && s.isLate(l.Request) {
			text = arrives.Localize(s.language, "command", text)
		}
	case world.Lost:
		text = lossTold.Localize(s.language)
	case world.Server:
		text = "▸ " + text
	case world.Returned:
		return s.returns(l)
	}
	return s.Shorten(text), w.style
}

// returns is what the picture says of a call that comes back.
func (s *Story) returns(l *Label) (text, style string) {
	e, in := l.Event, s.language
	switch {
	case e.Result.Error != "":
		parts := strings.Split(e.Result.Error, ": ")
		return failsWith.Localize(in, "error", parts[len(parts)-1]), "r"
	case !e.Result.Held:
		return s.result(e), "d"
	}
	text, style = isInside.Localize(in, "client", e.Client), "h"
	switch {
	case l.before > 0:
		text = isInsideMore.Localize(in, "client", e.Client, "n", l.before+1)
	case strings.ContainsAny(l.After.Inside, "xe"):
		text = isInsideToo.Localize(in, "client", e.Client)
	}
	if slices.ContainsFunc(l.Found, func(f oracle.Finding) bool { return f.Monitor == oracle.Exclusion }) {
		style = "r"
	}
	return text, style
}

// News is what a label changed in Redis, "" for nothing.
func (s *Story) News(l *Label) string {
	e := l.Event
	if len(e.Effects) == 0 || !l.IsRedis() {
		return ""
	}
	for _, k := range e.Keys {
		if k.Name == s.Key || s.Key == "" {
			return s.Shorten(s.keyText(k, Holder(k), 0))
		}
	}
	if e.Kind == world.Expired {
		return leaseOver.Localize(s.language)
	}
	return noKey.Localize(s.language)
}
