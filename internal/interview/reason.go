package interview

import (
	"cmp"
	"strings"

	"lockkata/failures_test/trace"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
)

// reasons explain an answer and name the entry about it: that of a call by its result, that of the
// key by its last change, that of the holders by whether they are two.
var reasons = map[string]struct {
	why   i18n.Text
	entry string
}{
	"held":                       {i18n.New("{client} has read {reply} to {command}, and believes it, whatever has happened since."), "network.md#network-late"},
	"refused":                    {i18n.New("There was a key already when Redis executed {command}."), "lease.md#lease-setnx"},
	"refused, own":               {i18n.New("The key is {client}'s own: the reply to its first {command} was lost, and go-redis sent it again."), "network.md#network-retries"},
	"error":                      {i18n.New("{call} returns the error that it met: {error}."), "must.md#network-unknown"},
	"done":                       {i18n.New("Redis answered {reply} to {command}, and {call} takes that for success."), "must.md#unlock-why-lua"},
	"refused with an error":      {i18n.New("{client}'s hold had ended before: its lease was over, or the key was no longer its own."), "owner.md#owner-notheld"},
	"refused with an error, own": {i18n.New("The first {command} had freed the lock. Its reply was lost, and go-redis sent it again."), "network.md#network-retries"},
	"installed":                  {i18n.New("{client}'s {command} created it, and nothing has removed it since."), "must.md#lease-set"},
	"lapsed":                     {i18n.New("The lease of {owner}'s key is over, so Redis has removed it."), "lease.md#lease-why"},
	"removed":                    {i18n.New("{client}'s {command} removed {owner}'s key."), "must.md#owner-delete"},
	"at most one":                {i18n.New("A client believes it from the answer of TryLock or Lock until it calls Unlock, hears of the loss or dies."), "lease.md#lease-what"},
	"two are inside":             {i18n.New("Redis gave one of them the lock when the key of the other was gone, and that one has not been told."), "watchdog.md#watchdog-told"},
}

// explain returns the reason of an answer, and the entry about it.
func explain(p Prediction, truth string) (why i18n.Message, entry string) {
	var about, returned trace.Event
	answers := map[int]trace.Event{} // the last one of each call
	for _, e := range p.Trace.Events {
		switch {
		case e.Effects.Include(trace.Installed, trace.Removed, trace.Lapsed):
			about = e
		case e.Kind == trace.Returned:
			returned = e
		case len(e.Command) > 0 && (e.Kind == trace.Delivered || e.Kind == trace.Refused):
			answers[e.Call] = e
		}
	}
	kind, client, owner, failed := truth, about.Client, "", ""
	switch p.Question.Text {
	case whatReturned:
		client, failed = returned.Client, strings.TrimRight(returned.Result.Error, ".")
		if truth == "refused" && game.KeyOwner(p.Trace)[:1] == client || truth == "refused with an error" && about.Call == returned.Call {
			kind += ", own"
		}
		about = answers[returned.Call]
	case whoseKey:
		kind, owner = string(about.Effects[0].Kind), about.Effects[0].Owner.Client
	case whoIsInside:
		kind = map[bool]string{true: "two are inside", false: "at most one"}[truth == "A and B"]
	}
	short := strings.NewReplacer(cmp.Or(p.Trace.LockKey(), "K"), "K")
	return reasons[kind].why.Args("client", client, "owner", owner, "call", returned.Op, "reply", about.Reply,
		"command", short.Replace(about.Line()), "error", short.Replace(failed)), reasons[kind].entry
}
