package timeline

import (
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

var onItsWay = texts.New("{request} of {client} is on its way")

// Moment tells, in a sentence, what the last of so many events of a trace was.
func Moment(trace *world.Trace, events int, language texts.Language) string {
	part := *trace
	part.Events = trace.Events[:events]
	if told := Sentences(&part, events-1, language); len(told) > 0 {
		return told[0]
	}
	s := &story{Trace: &part, key: trace.LockKey(), language: language} // a command has left
	return s.ended(s.say(onItsWay, &label{event: part.Events[events-1]}))
}
