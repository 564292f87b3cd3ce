package timeline

import (
	"strings"

	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

var (
	onItsWay   = texts.New("{request} of {client} is on its way")
	asksLedger = texts.New("{client} asks the ledger to {op} order {order}")
)

// Moment tells, in a sentence, what the last of so many events of a trace was.
func Moment(trace *world.Trace, events int, language texts.Language) string {
	part := *trace
	part.Events = trace.Events[:events]
	if told := Sentences(&part, events-1, language); len(told) > 0 {
		return told[0]
	}
	s, e := &Story{Trace: &part, Key: trace.LockKey(), language: language}, part.Events[events-1]
	if len(e.Command) == 0 { // a call of the ledger
		return s.ended(asksLedger.In(language, "client", e.Client, "op", texts.Text(strings.ToLower(e.Op)), "order", quote(e.Text)))
	}
	return s.ended(s.say(onItsWay, &Label{Event: e})) // a command has left
}
