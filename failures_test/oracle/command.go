package oracle

import (
	"slices"

	"lockkata/failures_test/trace"
)

// CommandIn returns the event of the finding's command; a zero event if none is known.
func (f Finding) CommandIn(tr *trace.Trace) trace.Event {
	at := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Step == f.Command })
	if f.Command == 0 || at < 0 {
		return trace.Event{}
	}
	return tr.Events[at]
}

// note sets the command of the last finding, by an event of that command. It does nothing if none is known.
func (f *file) note(e *trace.Event) {
	if e != nil {
		f.found[len(f.found)-1].Command = e.Step
	}
}

// answers are the rules about a call's result, which comes from the answer to its last command.
var answers = []Rule{Truth, LossHidden, HoldCount, NeedlessError}

// commandOf returns the command with which an event broke the rule; nil if none is known.
func (f *file) commandOf(e *trace.Event) *trace.Event {
	switch {
	case isSent(e):
		return e
	case e.Kind == trace.Returned && e.Source == nil && (slices.Contains(answers, f.rule) || f.rule == Exclusion && len(f.calls[e.Call].installed) == 0):
		return f.lastOf(e.Call, e)
	}
	return nil
}

// lastOf returns the last command of a call; nil if none is known.
func (f *file) lastOf(call int, until *trace.Event) *trace.Event {
	return f.last(until, func(sent *trace.Event) bool { return sent.Call == call })
}

// setting returns the last command that set the key of an owner, or changed its lease; nil if none is known.
func (f *file) setting(owner trace.Owner, until *trace.Event) *trace.Event {
	kinds := []trace.EffectKind{trace.Installed, trace.Leased, trace.Persisted}
	return f.last(until, func(e *trace.Event) bool {
		return slices.ContainsFunc(e.Effects, func(x trace.Effect) bool { return x.Owner.Label == owner.Label && slices.Contains(kinds, x.Kind) })
	})
}

// last returns the last event of a command of the lock, up to the event until, for which is returns true; nil if there is none.
func (f *file) last(until *trace.Event, is func(*trace.Event) bool) *trace.Event {
	for i := range f.Events {
		if e := &f.Events[len(f.Events)-1-i]; e.Step <= until.Step && isSent(e) && is(e) {
			return e
		}
	}
	return nil
}

// isSent reports whether an event is of a command that a known line of the lock sent.
func isSent(e *trace.Event) bool {
	kinds := []trace.Kind{trace.Sent, trace.Executed, trace.Refused}
	return slices.Contains(kinds, e.Kind) && e.Op != trace.OpRun && e.Source != nil && e.Source.File != ""
}
