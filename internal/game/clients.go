package game

import (
	"slices"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Client is the state of a client.
type Client struct {
	Name         string
	Frozen, Dead bool
	Inside       bool
	Beside       bool // it holds the lock, and another client does too
	Does         string
	Source       *trace.Source // the line of the lock's code that it runs
	Background   []Flight      // commands that none of its calls waits for
}

// Flight is a command that was sent and whose reply was not read yet.
type Flight struct {
	Text   string
	Source *trace.Source
}

var (
	isDead      = i18n.New("is dead")
	notBegun    = i18n.New("hasn't begun")
	hasFinished = i18n.New("has finished ({result})")
	checks      = i18n.New("asks the ledger whether it has the order {order}")
	inserts     = i18n.New("writes the order {order} into the ledger")
	inCall      = i18n.New("{call}: {what}")
	callWaits   = i18n.New("{call} waits")
	standsStill = i18n.New("stands still: {what}")
	notReadYet  = i18n.New("hasn't read yet: {reply}")
	sends       = i18n.New("sends {command}")
)

// clients returns the clients at the end of the trace.
func (g *Game) clients(end *trace.Scene) (all []Client) {
	for _, name := range g.at.Trace.Clients {
		is, inside := end.Condition(end.Process(name)), end.Holds(name) > 0
		c := Client{Name: name, Frozen: is.Frozen, Dead: is.Dead, Inside: inside, Beside: inside && len(end.Others(name)) > 0}
		c.Does = g.finished(name)
		if call, busy := end.Call(name); busy {
			c.Does = g.calling(call)
		}
		g.addFlights(&c, end)
		if c.Dead {
			c.Does, c.Source = isDead.Localize(g.Language), nil
		}
		if c.Frozen {
			c.Does = standsStill.Localize(g.Language, "what", c.Does)
		}
		c.Does = g.brief(c.Does)
		all = append(all, c)
	}
	return all
}

// finished returns how the client's last call ended.
func (g *Game) finished(name string) string {
	for _, e := range slices.Backward(g.at.Trace.Events) {
		if e.Kind == trace.Returned && e.Client == name {
			return hasFinished.Localize(g.Language, "result", timeline.Result(e, g.Language))
		}
	}
	return notBegun.Localize(g.Language)
}

// calling describes a call that has no command on its way to Redis.
func (g *Game) calling(call *trace.Event) string {
	switch call.Op {
	case trace.OpCheck:
		return checks.Localize(g.Language, "order", call.Order)
	case trace.OpInsert:
		return inserts.Localize(g.Language, "order", call.Order)
	}
	return callWaits.Localize(g.Language, "call", call.Op)
}

// addFlights adds the commands that the client has not given up. Of those of its call only the
// last counts: it may be a retry.
func (g *Game) addFlights(c *Client, end *trace.Scene) {
	call, _ := end.Call(c.Name)
	for _, r := range end.UnderWay {
		sent := end.Trace.Events[r.Sent]
		if sent.Client != c.Name || r.Ledger || c.Dead || !c.Frozen && !g.isOffered(sent, r) {
			continue
		}
		text := sends.Localize(g.Language, "command", sent.Line())
		if r.Executed >= 0 {
			text = notReadYet.Localize(g.Language, "reply", end.Trace.Events[r.Executed].Reply)
		}
		switch {
		case sent.Background:
			c.Background = append(c.Background, Flight{g.brief(text), sent.Source})
		case call.Call != 0 && call.Call == sent.Call:
			c.Does, c.Source = inCall.Localize(g.Language, "call", call.Op, "what", text), sent.Source
		}
	}
}

// isOffered reports whether a command can be executed next, or its reply be read.
func (g *Game) isOffered(sent trace.Event, r *trace.Request) bool {
	return slices.ContainsFunc(g.at.Options(len(g.Steps())), func(o schedule.Option) bool {
		if r.Executed >= 0 {
			return o.Client == r.Process && o.Action == world.Deliver
		}
		return o.Client == r.Process && o.Action == world.Execute && strings.HasPrefix(o.What, sent.Command[0])
	})
}
