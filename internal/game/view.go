package game

import (
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// View is a position as data: what a screen or a page draws. K in its texts is the lock's key.
type View struct {
	Lock     string           `json:"lock"` // in sentences
	Title    string           `json:"title"`
	Goal     Named            `json:"goal"` // what the player is to do
	Env      Named            `json:"env"`  // what may happen
	Par      Par              `json:"par"`
	ParSays  string           `json:"par_says"` // the same, a sentence
	Key      string           `json:"key"`      // the lock's
	Now      time.Duration    `json:"now_ns"`   // fake time since the beginning
	Lease    time.Duration    `json:"lease_ns"`
	Clients  []Client         `json:"clients"`
	Keys     []Key            `json:"keys"`   // in Redis
	Orders   []world.Order    `json:"orders"` // in the ledger
	Happened []string         `json:"happened"`
	Options  []Option         `json:"options"`  // none after the goal, or where nothing is left
	Findings []oracle.Finding `json:"findings"` // where the rule is broken: the goal is reached
	Score    string           `json:"score,omitempty"`
	Cost     int              `json:"cost"` // of all steps
	Steps    int              `json:"steps"`
	Schedule string           `json:"schedule"` // replays it
}

// Named is something with a name, and what it is in words.
type Named struct {
	Name  string `json:"name"`
	Words string `json:"words"`
}

// Key is a key in Redis.
type Key struct {
	Owner string        `json:"owner"` // A1, with the value where that says something else
	Left  time.Duration `json:"left_ns"`
	Stays bool          `json:"stays"` // it has no lease
}

// Option is something that can be done next.
type Option struct {
	Token  string `json:"token"`
	Text   string `json:"text"`
	Brings string `json:"brings,omitempty"` // what happens when time passes
	Cost   int    `json:"cost"`
}

// View is the present position.
func (g *Game) View() (View, error) {
	end := scene(g.at.Trace, len(g.at.Trace.Events))
	now := g.at.Now(len(g.at.Schedule))
	v := View{
		Lock: g.Column.NameIn(g.Language), Title: g.Column.TitleIn(g.Language),
		Goal: Named{g.Property.Name, Goals[g.Property.Name].Words.Localize(g.Language)}, Env: Named{g.Env.Name, i18n.Text(g.Env.About).Localize(g.Language)},
		Par: g.par, ParSays: g.par.Localize(g.Language), Key: g.key, Now: now, Lease: g.at.Trace.Lease,
		Clients: g.clients(end), Keys: []Key{}, Orders: append([]world.Order{}, end.Orders...),
		Happened: append([]string{}, g.happened(g.at.Trace, len(g.at.Trace.Events)-len(g.at.Last()))...),
		Options:  []Option{}, Findings: []oracle.Finding{},
		Cost: g.at.Cost(), Steps: len(g.at.Schedule), Schedule: g.Text(),
	}
	for _, k := range end.Keys {
		v.Keys = append(v.Keys, key(k, now-end.KeysAt))
	}
	for _, f := range g.at.Found {
		f.Text = g.brief(f.Localize(g.Language))
		v.Findings, v.Score = append(v.Findings, f), g.score()
	}
	for _, o := range g.Options() {
		option, err := g.option(o)
		if err != nil {
			return v, err
		}
		v.Options = append(v.Options, option)
	}
	return v, nil
}

// key is a key of Redis, some time after it was seen.
func key(k world.Key, since time.Duration) Key {
	if k.TTL == world.NoTTL {
		return Key{Owner: timeline.Holder(k), Stays: true}
	}
	return Key{Owner: timeline.Holder(k), Left: max(0, k.TTL-since)}
}

// happened says in sentences what happened from an event on.
func (g *Game) happened(trace *world.Trace, from int) []string {
	said := timeline.Sentences(trace, from, g.Language)
	for i := range said {
		said[i] = g.brief(said[i])
	}
	return said
}

// brief writes K for the lock's key, also before anybody has installed it.
func (g *Game) brief(text string) string { return strings.ReplaceAll(text, g.key, "K") }

// option says in words what can be done. What a wait would bring is looked up.
func (g *Game) option(o schedule.Option) (Option, error) {
	said := Option{Token: o.Token, Cost: o.Cost}
	say, what := actions[o.Action], o.What
	if op, order, ok := o.Ledger(); ok {
		say, what = ledgerTells, order
		if op == world.OpInsert {
			say = ledgerTakes
		}
	}
	if o.Action != world.Tick {
		said.Text = g.brief(say.Localize(g.Language, "client", o.Client, "what", what))
		return said, nil
	}
	after, err := g.follow(append(g.Steps()[:len(g.Steps()):len(g.Steps())], o.Token))
	if err != nil {
		return said, err
	}
	last := after.Last()
	said.Brings = strings.Join(g.happened(after.Trace, len(after.Trace.Events)-len(last)), " ")
	if said.Brings == "" && len(last) > 0 {
		said.Brings = g.brief(itSends.Localize(g.Language, "client", last[0].Client, "command", last[0].Line()))
	}
	said.Text = say.Localize(g.Language, "time", term.Clock(after.Now(len(after.Schedule))))
	return said, nil
}
