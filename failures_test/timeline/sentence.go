package timeline

import (
	"strings"

	"lockkata/failures_test/world"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

// What happens, in sentences.
var (
	sendsError   = texts.New("{client} sends {command}, and gets an error: {reply}")
	executesIt   = texts.New("Redis executes {command} for {client}, and answers {reply}")
	isExecuted   = texts.New("Redis executes {command} for {client}, and answers {reply}; {client} has not read it yet")
	sendsOften   = texts.New("{client} sends {command}, {n} times in {time}, and Redis answers {reply} each time")
	sendsOnce    = texts.New("{client} sends {command}, and Redis answers {reply}")
	readsReply   = texts.New("{client} reads the reply: {reply}")
	hearsMessage = texts.New("{client} hears the message")
	asksLedger   = texts.New("{client} asks the ledger to {call} order {order}: {reply}")
	timePasses   = texts.New("Time passes: {time}")
	leaseIsOver  = texts.New("The lease ends, and Redis removes the key")
	comesBack    = texts.New("{call}() comes back to {client}: {result}")
	isIn         = texts.New("{client} has the lock, and is inside")
	isInAgainst  = texts.New("{client} has the lock, and is inside beside another: two are inside")
	isInExcused  = texts.New("{client} has the lock, and is inside; the other one cannot know yet that it has lost it")
	isInAgain    = texts.New("{client} has the lock, for time number {n}")
	itCalls      = texts.New("{client} calls {call}()")
	itCallsFor   = texts.New("{client} calls {call}(), and waits {time} at most")
	breaks       = texts.New("The connection of {client} breaks: {what}")
	onItsWay     = texts.New("{what} of {client} is on its way for {time}")
	processStops = texts.New("The process of {client} stands still")
	processGoes  = texts.New("The process of {client} goes on")
	processDies  = texts.New("The process of {client} dies")
	callerLeaves = texts.New("The caller of {client} cancels {call}")
	itDoes       = texts.New("{client} {does}")
	inBackground = texts.New("{command} in the background")
	theScript    = texts.New("the script {name}")
)

// Sentences tells what happened in a trace from an event on, a sentence for each. A command
// that leaves has none: its execution has one.
func Sentences(trace *world.Trace, from int, language texts.Language) (all []string) {
	s := &story{Trace: trace, key: trace.LockKey(), language: language, apart: true}
	s.tellAll(nil, Code{})
	for _, l := range s.labels {
		if l.first >= from && !s.isEmpty(l) {
			all = append(all, s.sentence(l))
		}
	}
	return all
}

// sentence tells a label in words, for readers who hear it or see only this one.
func (s *story) sentence(l *label) string {
	stop := "."
	if s.language == texts.Chinese {
		stop = "。"
	}
	return strings.TrimRight(s.shorten(s.telling(l)), ".。") + stop
}

func (s *story) telling(l *label) string {
	e, in := l.event, s.language
	with := func(t texts.Text, pairs ...any) string {
		return t.In(in, append([]any{"client", e.Client}, pairs...)...)
	}
	switch e.Kind {
	case world.Executed, world.Refused:
		return s.commandSentence(l, with)
	case world.Delivered:
		if len(e.Command) == 0 {
			return with(hearsMessage)
		}
		return with(readsReply, "reply", s.reply(e))
	case world.Stored:
		return with(asksLedger, "call", texts.Text(strings.ToLower(e.Op)), "order", quote(e.Command[1]), "reply", s.reply(e))
	case world.Returned:
		return s.resultSentence(l, with)
	case world.Slept:
		return timePasses.In(in, "time", term.Short(e.Bound))
	case world.Expired:
		return leaseIsOver.In(in)
	case world.Server:
		return s.text(l)
	case world.Called:
		if e.Bound > 0 {
			return with(itCallsFor, "call", e.Op, "time", roughly(e.Bound))
		}
		return with(itCalls, "call", e.Op)
	case world.Dropped:
		return with(breaks, "what", texts.Text(e.Text))
	case world.Delayed:
		return with(onItsWay, "what", texts.Text(e.Text), "time", term.Short(e.Bound))
	case world.Frozen:
		return s.stops(texts.Text(with(processStops)), e)
	case world.Thawed:
		return with(processGoes)
	case world.Crashed:
		return s.stops(texts.Text(with(processDies)), e)
	case world.Cancelled:
		return with(callerLeaves, "call", e.Op)
	}
	return with(itDoes, "does", s.text(l))
}

// sayer says a text about a label's client.
type sayer func(t texts.Text, pairs ...any) string

func (s *story) commandSentence(l *label, with sayer) string {
	e, in := l.event, s.language
	foreground := e
	foreground.Background = false
	command := s.command(foreground)
	if _, name, isScript := strings.Cut(command, " "); isScript && strings.HasPrefix(command, "EVAL") {
		command = theScript.In(in, "name", name)
	}
	if e.Background {
		command = inBackground.In(in, "command", command)
	}
	reply := s.reply(e)
	switch {
	case e.Kind == world.Refused:
		return with(sendsError, "command", command, "reply", strings.TrimPrefix(reply, "(error) "))
	case l.times > 1:
		return with(sendsOften, "command", command, "n", l.times, "time", roughly(l.until-l.at), "reply", reply)
	case s.apart:
		return with(executesIt, "command", command, "reply", reply)
	case !l.answered:
		return with(isExecuted, "command", command, "reply", reply)
	}
	return with(sendsOnce, "command", command, "reply", reply)
}

func (s *story) resultSentence(l *label, with sayer) string {
	switch {
	case !l.event.Result.Held:
		return with(comesBack, "call", l.event.Op, "result", s.result(l.event))
	case strings.Contains(l.after.inside, "x"):
		return with(isInAgainst)
	case strings.Contains(l.after.inside, "e"):
		return with(isInExcused)
	case l.before > 0:
		return with(isInAgain, "n", l.before+1)
	}
	return with(isIn)
}
