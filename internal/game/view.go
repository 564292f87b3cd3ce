package game

import (
	"slices"
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
	Goal     Named            `json:"goal"`   // what the player is to do
	Env      Named            `json:"env"`    // what may happen
	Par      string           `json:"par"`    // what is known of the best way; "" if nothing was looked for
	Key      string           `json:"key"`    // the lock's
	Now      time.Duration    `json:"now_ns"` // fake time since the beginning
	Lease    time.Duration    `json:"lease_ns"`
	Clients  []Client         `json:"-"`
	Keys     []Key            `json:"-"` // in Redis
	Orders   []world.Order    `json:"-"` // in the ledger
	Happened []string         `json:"happened"`
	Options  []Option         `json:"options"`  // none after the goal, or where nothing is left
	Findings []oracle.Finding `json:"findings"` // where the rule is broken: the goal is reached
	Score    string           `json:"score,omitempty"`
	Length   string           `json:"length"`   // of all steps
	Schedule string           `json:"schedule"` // replays it
}

// Named is something with a name, and what it is in words.
type Named struct {
	Name  string `json:"name"`
	Words string `json:"words"`
}

// Key is a key in Redis.
type Key struct {
	Owner string // A1, with the value where that says something else
	Left  time.Duration
	Stays bool // it has no lease
}

// Option is something that can be done next.
type Option struct {
	Token string `json:"token"`
	Text  string `json:"text"`
	Fault bool   `json:"fault,omitempty"`
}

// View is the present position.
func (g *Game) View() (View, error) {
	end := g.at.Trace.End()
	now := g.at.Now(len(g.Steps()))
	v := View{
		Lock: g.Column.NameIn(g.Language), Title: g.Column.TitleIn(g.Language),
		Goal: Named{g.Property.Name, Goals[g.Property.Name].Words.Localize(g.Language)}, Env: Named{g.Env.Name, i18n.Text(g.Env.About).Localize(g.Language)},
		Par: g.par.Localize(g.Language), Key: g.key, Now: now, Lease: g.at.Trace.Lease, Clients: g.clients(end), Orders: end.Orders,
		Happened: g.happened(g.at), Options: []Option{}, Findings: []oracle.Finding{},
		Length: schedule.Length(g.at.Faults(), len(g.Steps())).Localize(g.Language), Schedule: g.Text(),
	}
	for _, k := range end.Keys {
		v.Keys = append(v.Keys, Key{timeline.Holder(k), max(0, k.TTL-(now-end.KeysAt)), k.TTL == world.NoTTL})
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

// happened says in sentences what a run's last step did.
func (g *Game) happened(run Run) []string {
	said := []string{}
	for _, sentence := range timeline.Sentences(run.Trace, len(run.Trace.Events)-len(run.Last()), g.Language) {
		said = append(said, g.brief(sentence))
	}
	return said
}

// brief writes K for the lock's key, also before anybody has installed it.
func (g *Game) brief(text string) string { return strings.ReplaceAll(text, g.key, "K") }

// option says in words what can be done. What a wait would bring is looked up.
func (g *Game) option(o schedule.Option) (Option, error) {
	said := Option{Token: o.Token, Fault: o.Cost > 0}
	if o.Action != world.Tick {
		said.Text = g.brief(Action(o, o.What, 0).Localize(g.Language))
		return said, nil
	}
	after, err := Follow(g.t, g.Setup, append(slices.Clone(g.Steps()), o.Token))
	if err != nil {
		return said, err
	}
	happens := strings.Join(g.happened(after), " ")
	if last := after.Last(); happens == "" && len(last) > 0 {
		happens = g.brief(itSends.Localize(g.Language, "client", last[0].Client, "command", last[0].Line()))
	}
	said.Text = Action(o, "", after.Now(len(after.Schedule))).Localize(g.Language)
	if happens != "" {
		said.Text = itBrings.Localize(g.Language, "what", said.Text, "then", happens)
	}
	return said, nil
}

// Action says what an option does: what is its command or reply in words, and at is to when a tick
// leads.
func Action(o schedule.Option, what any, at time.Duration) i18n.Message {
	say := actions[o.Action]
	switch o.Op {
	case world.OpCheck:
		say, what = ledgerTells, o.Order
	case world.OpInsert:
		say, what = ledgerTakes, o.Order
	}
	return say.Args("client", o.Client, "what", what, "time", term.Clock(at))
}
