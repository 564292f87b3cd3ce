package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

// phrase is the words for a kind of event, in texts and in pictures.
type phrase struct {
	style    string    // in a picture
	lane     i18n.Text // in its client's lane
	sentence i18n.Text // a whole sentence; "" = the client, and the words of its lane
	picture  i18n.Text // in a picture, if shorter; "" = as in the lane
}

func words(style, lane string, more ...string) phrase {
	more = append(more, "", "")
	return phrase{style, i18n.New(lane), i18n.New(more[0]), i18n.New(more[1])}
}

// phrases has a row for each kind of event, and for its variants. [Story.row] chooses it.
var phrases = map[string]phrase{
	"called":               words("h", "{call}()", "{client} calls {call}()"),
	"called, bounded":      words("h", "{call}(), for {time} at most", "{client} calls {call}(), and waits {time} at most"),
	"called, context over": words("h", "{call}(), with a cancelled context", "{client} calls {call}() with a cancelled context"),
	"called, to ledger":    words("", "{op} order {order}", "{client} asks the ledger to {op} order {order}"),
	"cancelled":            words("d", "the caller cancels {call}", "The caller of {client} cancels {call}"),
	"deadline":             words("r", "the deadline of {call} passes", "The deadline of {client}'s {call} passes"),
	"ended":                words("r", "the context of its hold ends", "The context of {client}'s hold ends, though the lock is not lost"),

	"sent":            words("m", "{command}", "{client} sends {request}{how}"),
	"sent, no answer": words("m", "{command}: no answer", "{client} sends {request}{how}, and gets no answer", "{command}"),

	"executed": words("m", "{command} → {reply}", "{client} sends {request}{how}, and Redis answers {reply}"),
	"executed, unread": words("m", "{command} → {reply} (not read yet)",
		"Redis executes {request}{how} for {client}, and answers {reply}; {client} has not read it yet", "{command}"),
	"executed, again": words("m", "again: {command} → {reply}", "{client} sends {request}{how} again, and Redis answers {reply}"),
	"executed, again, unread": words("m", "again: {command} → {reply} (not read yet)",
		"{client} sends {request}{how} again, and Redis answers {reply}; {client} has not read it yet", "again: {command}"),
	"executed, late": words("m", "{command} arrives → {reply}", "{request}{how} of {client} arrives, and Redis answers {reply}"),
	"executed, late, unread": words("m", "{command} arrives → {reply} (not read yet)",
		"{request}{how} of {client} arrives, and Redis answers {reply}; {client} has not read it yet", "{command} arrives"),
	"executed, waited": words("m", "{command} → {reply}, after {time}", "{client} sends {request}{how}, and Redis answers {reply} after {time}"),
	"executed, alone":  words("m", "{command} → {reply}", "Redis executes {request}{how} for {client}, and answers {reply}"),
	"executed, many": words("m", "{command} → {reply}, {n} times in {time}",
		"{client} sends {request}{how}, {n} times in {time}, and Redis answers {reply} each time"),
	"executed, many at once": words("m", "{command} → {reply}, {n} times",
		"{client} sends {request}{how}, {n} times, and Redis answers {reply} each time"),
	"refused":           words("m", "{command} → {reply}", "{client} sends {request}{how}, and gets an error: {error}"),
	"delivered":         words("m", "reads {reply}", "{client} reads the reply: {reply}"),
	"delivered, pushed": words("m", "hears the message", "{client} hears the message"),
	"stored":            words("", "{op} order {order}: {reply}", "{client} asks the ledger to {op} order {order}: {reply}"),
	"stored, begin":     words("", "begin a transaction", "{client} begins a transaction in the ledger"),
	"stored, commit":    words("", "commit: {reply}", "{client} commits its transaction: {reply}"),

	"returned":        words("d", "= {result}", "{call}() of {client} returns: {result}"),
	"returned, error": words("r", "= {result}", "{call}() of {client} returns: {result}", "= error: {cause}"),
	"returned, held":  words("h", "= has the lock", "{client} has the lock and is inside", "{client} is inside"),
	"returned, held again": words("h", "= has the lock",
		"{client} has the lock again: it holds it {nth} times", "{client} is inside, {nth} times"),
	"returned, held too": words("h", "= has the lock",
		"{client} has the lock and is inside, while another client is inside: two are inside", "{client} is inside, too"),
	"returned, held, excused": words("h", "= has the lock",
		"{client} has the lock and is inside; the other client cannot know yet that it has lost the lock", "{client} is inside, too"),
	"lost":    words("g", "is told: the hold is lost"),
	"blocked": words("r", "still waiting after {time}"),

	"frozen":         words("h y", "stands still", "The process of {client} stands still"),
	"frozen, before": words("h y", "stands still before {command}", "The process of {client} stands still before {command}", "stands still"),
	"frozen, after": words("h y", "stands still after {command}, before the reply",
		"The process of {client} stands still after {command}, before the reply", "stands still"),
	"thawed":          words("h y", "goes on", "The process of {client} goes on"),
	"crashed":         words("h", "† dies", "The process of {client} dies"),
	"crashed, before": words("h", "† dies before {command}", "The process of {client} dies before {command}", "† dies"),
	"crashed, after": words("h", "† dies after {command}, before the reply",
		"The process of {client} dies after {command}, before the reply", "† dies"),
	"cut":                 words("r", "loses its network"),
	"healed":              words("d", "has its network back"),
	"delayed, before":     words("d", "… the command is on its way for {time}", "The command of {client} is on its way for {time}"),
	"delayed, after":      words("d", "… the reply is on its way for {time}", "The reply to {client} is on its way for {time}"),
	"dropped, before":     words("r", "↯ the command is lost: the connection breaks", "The connection of {client} breaks: the command is lost"),
	"dropped, after":      words("r", "↯ the reply is lost: the connection breaks", "The connection of {client} breaks: the reply is lost"),
	"published":           always("PUBLISH → {listeners}"),
	"published to nobody": always("PUBLISH → nobody listens"),
	"dropped, pushed":     words("r", "↯ what was pushed is lost: the connection breaks", "The connection of {client} breaks: what was pushed is lost"),
	"dropped, gone":       words("r", "↯ Redis is gone: the connection breaks", "The connection of {client} breaks: Redis is gone"),

	"slept":           words("", "{time} later", "Time passes: {time}"),
	"expired":         words("", "", "The lease ends, and Redis removes the key"),
	"expired on some": always("the lease ends"),

	"server, memory-full":       always("the memory of Redis is full"),
	"server, evicted":           always("Redis evicts the key"),
	"server, flushed":           always("FLUSHALL: Redis is empty"),
	"server, scripts-flushed":   always("SCRIPT FLUSH: Redis forgets every script"),
	"server, restarted":         always("Redis restarts without persistence: connections closed, keys and scripts gone"),
	"server, failed-over":       always("failover: the replica that takes over never saw the lock"),
	"server, stopped":           always("Redis stops, and loses its keys"),
	"server, started":           always("Redis is back, and empty"),
	"server, clock-jumped":      always("the clock of Redis jumps by {time}"),
	"server, replica-delayed":   always("{replicas}: from now on, a write takes {time} to arrive"),
	"server, replica-cut":       always("{replicas}: the link to the master is down"),
	"server, replica-healed":    always("{replicas}: the link to the master is repaired"),
	"server, promoted":          always("failover: the master dies, and {replicas} takes over with the keys that it has"),
	"arrived":                   words("", "{replicas}: the writes of the master arrive", "{replicas}: the writes of the master arrive"),
	"server, subscription-lost": always("Redis drops the subscription, but the connection stays open"),
}

// always returns a phrase with the same words in texts, pictures and sentences.
func always(text string) phrase { return words("h", text, text) }

func init() { // the ledger
	i18n.Register("check", "insert")
	for _, answer := range []trace.AnswerKind{trace.Free, trace.Taken, trace.Inserted, trace.Pending, trace.Committed, trace.NameTaken, trace.NoneLeft} {
		i18n.Register(i18n.Text(answer))
	}
}

// row returns the key of a label in [phrases]: the kind of its event, and the variant.
func (s *Story) row(l *Label) string {
	e := l.Event
	switch e.Kind {
	case trace.Called:
		return "called" + cmp.Or(
			when(e.Order != "", ", to ledger"), when(e.CtxDone && !trace.IsAcquire(e.Op), ", context over"), when(e.Bound > 0, ", bounded"))
	case trace.Sent:
		follows := s.Events[min(l.First+1, len(s.Events)-1)]
		answered := l.Request.Lost >= 0 || l.Request.Executed >= 0 || follows.Kind == trace.Delayed && follows.Request == e.Request
		return "sent" + when(!answered, ", no answer")
	case trace.Executed, trace.Refused:
		switch {
		case l.times() > 1:
			return "executed, many" + when(l.Until == l.At, " at once")
		case e.Kind == trace.Refused:
			return "refused"
		case s.oneLabelPerEvent:
			return "executed, alone"
		}
		again := l.Request.Sent >= 0 && s.LostBefore(l.Request.Sent) >= 0
		if s.waited(l) > 0 {
			return "executed, waited"
		}
		return "executed" + cmp.Or(when(s.isOnItsWay(l.Request), ", late"), when(again, ", again")) + when(!l.Answered, ", unread")
	case trace.Stored:
		return "stored" + when(e.Op == trace.OpBegin, ", begin") + when(e.Op == trace.OpCommit, ", commit")
	case trace.Delivered:
		return "delivered" + when(len(e.Command) == 0, ", pushed")
	case trace.Returned:
		if !e.Result.Held {
			return "returned" + when(e.Result.Error != "", ", error")
		}
		return "returned, held" + cmp.Or(when(l.After.has(Together), " too"),
			when(l.After.has(Excused), ", excused"), when(l.before > 0, " again"))
	case trace.Dropped:
		if e.Fault == "" && e.Moment == "" {
			return "dropped, pushed"
		}
		return "dropped, " + string(e.Fault) + string(e.Moment)
	case published:
		return "published" + when(len(e.Listeners) == 0, " to nobody")
	case trace.Expired:
		return "expired" + when(len(s.Bars) > 0, " on some")
	case trace.Server:
		return "server, " + string(e.Fault)
	}
	return string(e.Kind) + when(e.Moment != "", ", "+string(e.Moment))
}

// waited returns how long Redis has taken to answer a WAIT; 0 for other commands.
func (s *Story) waited(l *Label) time.Duration {
	if r := l.Request; r != nil && r.Sent >= 0 && l.Event.Kind == trace.Executed && l.Event.Command[0] == "WAIT" {
		return l.Event.At - s.Events[r.Sent].At
	}
	return 0
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// say fills in a text with the facts of a label's event.
func (s *Story) say(t i18n.Text, l *Label) string {
	e := l.Event
	lasts := e.Bound
	switch waited := s.waited(l); {
	case l.times() > 1:
		lasts = l.Until - l.At
	case waited > 0:
		lasts = waited
	}
	if lasts > 10*time.Second && e.Kind != trace.Slept {
		lasts = lasts.Round(time.Second)
	}
	order := e.Order
	if e.Kind == trace.Stored {
		order = e.Command[1]
	}
	pairs := []any{
		"client", e.Client, "call", e.Op, "op", i18n.Text(strings.ToLower(e.Op)), "order", strconv.Quote(order),
		"time", tick(lasts), "n", l.times(), "nth", l.before + 1, "replicas", s.several(e.Replicas),
		"listeners", strings.Join(e.Listeners, ", "),
	}
	if len(e.Command) > 0 {
		reply := s.reply(e)
		named := e
		if r := l.Request; r != nil && l.First < r.Executed { // then its value has a name
			named.Command = s.Events[r.Executed].Command
		}
		command, request, how := s.command(named)
		pairs = append(pairs, "command", command, "request", request, "how", how, "reply", reply, "error", strings.TrimPrefix(reply, "(error) "))
	}
	if e.Result != nil {
		causes := strings.Split(e.Result.Error, ": ")
		pairs = append(pairs, "result", s.Shorten(Result(e, s.language)), "cause", causes[len(causes)-1])
	}
	said := t.Localize(s.language, pairs...)
	if e.Server != "" {
		said = e.Server + ": " + said
	}
	return said
}

// Text returns the words of a label in its lane.
func (s *Story) Text(l *Label) string {
	if l.isToLedger() { // the answer has a label too
		return ""
	}
	return s.say(phrases[s.row(l)].lane, l)
}

// isToLedger reports whether the label is a call to the ledger whose request is not on its way.
func (l *Label) isToLedger() bool {
	return l.Event.Kind == trace.Called && trace.IsStore(l.Event.Op) && !l.Leaves
}

// Picture returns the words of a label in a picture, and their style.
func (s *Story) Picture(l *Label) (text, style string) {
	p := phrases[s.row(l)]
	switch {
	case l.Event.Kind == trace.Slept || l.isToLedger():
		return "", ""
	case p.picture != "":
		text = s.say(p.picture, l)
	default:
		text = s.Text(l)
	}
	if l.Event.Kind == trace.Server || l.Event.Kind == trace.Arrived || l.Event.Kind == published {
		text = "▸ " + text
	}
	if p.style == "h" && slices.ContainsFunc(l.Found, func(f oracle.Finding) bool { return f.Rule == oracle.Exclusion && !f.Given }) {
		p.style = "r"
	}
	return s.Shorten(text), p.style
}

var itDoes = i18n.New("{client} {does}")

// sentence returns a label as a whole sentence, for screen readers and lists.
func (s *Story) sentence(l *Label) string {
	var text string
	if told := phrases[s.row(l)].sentence; told != "" {
		text = s.say(told, l)
	} else {
		text = itDoes.Localize(s.language, "client", l.Event.Client, "does", s.Text(l))
	}
	stop := "."
	if s.language == i18n.Chinese {
		stop = "。"
	}
	return strings.TrimRight(s.Shorten(text), ".。") + stop
}

// Sentences returns the events of a trace, beginning with event from, in one sentence each. A
// command that leaves has none: its execution has one.
func Sentences(tr *trace.Trace, from int, language i18n.Language) (all []string) {
	s := makeLabels(&Story{Trace: tr, language: language, oneLabelPerEvent: true}, nil)
	for l := range s.visible {
		if l.First >= from {
			all = append(all, s.sentence(l))
		}
	}
	return all
}

// fromOutside are the kinds of events that no lock causes.
var fromOutside = []trace.Kind{
	trace.Called, trace.Refused, trace.Dropped, trace.Frozen, trace.Thawed, trace.Crashed, trace.Cut, trace.Healed, trace.Delayed, trace.Cancelled,
	trace.Server, trace.Slept,
}

// longestScenario is the number of steps that Scenario returns at most.
const longestScenario = 14

// Scenario returns the events that the lock did not cause: the calls, the faults, and the time that
// passed.
func Scenario(tr *trace.Trace, language i18n.Language) (steps []string) {
	s := NewStory(tr, nil, language)
	for l := range s.visible {
		if !l.Event.Background && slices.Contains(fromOutside, l.Event.Kind) {
			steps = append(steps, strings.TrimRight(s.sentence(l), ".。"))
		}
	}
	if len(steps) > longestScenario {
		steps = append(steps[:longestScenario], "…")
	}
	return steps
}
