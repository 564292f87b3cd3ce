package game

import (
	"slices"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Client is what a client is doing.
type Client struct {
	Name    string        `json:"name"`
	Frozen  bool          `json:"frozen,omitempty"`
	Dead    bool          `json:"dead,omitempty"`
	Inside  bool          `json:"inside,omitempty"`
	Beside  bool          `json:"beside,omitempty"` // inside, and another one is inside as well
	Does    string        `json:"does"`
	Source  *world.Source `json:"source,omitempty"` // the line of the lock that does it
	Flights []Flight      `json:"flights,omitempty"`
}

// Flight is a command that was sent, and whose reply was not read yet.
type Flight struct {
	Command    string        `json:"command"`
	Executed   bool          `json:"executed,omitempty"`
	Reply      string        `json:"reply,omitempty"` // once it is executed
	Text       string        `json:"text"`
	Background bool          `json:"background,omitempty"` // nobody's call waits for it
	Source     *world.Source `json:"source,omitempty"`

	call int
}

var (
	isDead      = i18n.New("is dead")
	notBegun    = i18n.New("has not begun")
	hasFinished = i18n.New("has finished ({result})")
	checks      = i18n.New("asks the ledger whether it has the order {order}")
	inserts     = i18n.New("writes the order {order} into the ledger")
	inCall      = i18n.New("{call}: {what}")
	callWaits   = i18n.New("{call} waits")
	standsStill = i18n.New("stands still: {what}")
	notReadYet  = i18n.New("has not read yet: {reply}")
	sends       = i18n.New("sends {command}")
)

// clients are the clients at the end of the trace.
func (g *Game) clients(end *world.Scene) (all []Client) {
	result := map[string]*world.Event{} // of each lane's last call
	for _, s := range g.at.Trace.Scenes() {
		if e := s.Event; e.Kind == world.Returned {
			result[e.Client] = e
		}
	}
	for _, name := range g.at.Trace.Lanes {
		is, inside := end.Condition(end.Process(name)), end.Holds(name) > 0
		c := Client{Name: name, Frozen: is.Frozen, Dead: is.Dead, Inside: inside, Beside: inside && len(end.Others(name)) > 0}
		call, busy := end.Call(name)
		c.Flights = g.flights(c, call, end)
		switch {
		case c.Dead:
			c.Does = isDead.Localize(g.Language)
		case busy:
			c.Does, c.Source = g.calling(call, c.Flights)
		case result[name] != nil:
			c.Does = hasFinished.Localize(g.Language, "result", timeline.Result(*result[name], g.Language))
		default:
			c.Does = notBegun.Localize(g.Language)
		}
		if c.Frozen {
			c.Does = standsStill.Localize(g.Language, "what", c.Does)
		}
		c.Does = g.brief(c.Does)
		all = append(all, c)
	}
	return all
}

// calling says what a client does that is in a call, and which line of the lock does it.
func (g *Game) calling(call *world.Event, flights []Flight) (text string, at *world.Source) {
	switch call.Op {
	case world.OpCheck:
		return checks.Localize(g.Language, "order", call.Order), nil
	case world.OpInsert:
		return inserts.Localize(g.Language, "order", call.Order), nil
	}
	for _, f := range flights {
		if f.call == call.Call {
			return inCall.Localize(g.Language, "call", call.Op, "what", f.Text), f.Source
		}
	}
	return callWaits.Localize(g.Language, "call", call.Op), nil
}

// flights are the commands that the client has not given up: something of each can be
// chosen, unless the client stands still.
func (g *Game) flights(c Client, call *world.Event, end *world.Scene) (all []Flight) {
	options := slices.Clone(g.at.Next())
	for _, r := range slices.Backward(end.UnderWay) { // of equal ones the last, for it may be an attempt in place of another
		sent := end.Trace.Events[r.Sent]
		isOwn := sent.Background || call.Call != 0 && call.Call == sent.Call
		if sent.Client != c.Name || r.Ledger || c.Dead || !isOwn {
			continue
		}
		i := slices.IndexFunc(options, func(o schedule.Option) bool {
			if r.Struck >= 0 {
				return o.Client == c.Name && o.Action == world.Deliver
			}
			return o.Client == c.Name && o.Action == world.Execute && strings.HasPrefix(o.What, sent.Command[0])
		})
		if i >= 0 {
			options = slices.Delete(options, i, i+1)
		}
		if i >= 0 || c.Frozen {
			all = append(all, g.flight(sent, r))
		}
	}
	slices.Reverse(all)
	return all
}

func (g *Game) flight(sent world.Event, r *world.Request) Flight {
	f := Flight{Command: g.brief(sent.Line()), Background: sent.Background, Source: sent.Source, call: sent.Call}
	f.Text = sends.Localize(g.Language, "command", f.Command)
	if r.Struck >= 0 {
		f.Executed, f.Reply = true, g.brief(g.at.Trace.Events[r.Struck].Reply)
		f.Text = notReadYet.Localize(g.Language, "reply", f.Reply)
	}
	return f
}
