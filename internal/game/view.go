package game

import (
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// View is a position as data, for a screen or a page. K in its texts is the lock's key.
type View struct {
	Lock     string           `json:"lock"` // its name in a sentence
	Title    string           `json:"title"`
	Goal     Named            `json:"goal"`   // the player's task
	Env      Named            `json:"env"`    // the possible faults
	Par      string           `json:"par"`    // the best known way; "" if none was looked for
	Key      string           `json:"key"`    // the lock's
	Now      time.Duration    `json:"now_ns"` // fake time since the beginning
	Lease    time.Duration    `json:"lease_ns"`
	Clients  []Client         `json:"-"`
	Keys     []Key            `json:"-"` // in Redis
	Orders   []trace.Order    `json:"-"` // in the ledger
	Happened []string         `json:"happened"`
	Options  []Option         `json:"options"`  // none after the goal, or where no step is possible
	Findings []oracle.Finding `json:"findings"` // where the rule is broken: the goal is reached
	Score    string           `json:"score,omitempty"`
	Length   string           `json:"length"`   // of all steps
	Schedule string           `json:"schedule"` // replays it
}

// Named is a name with its explanation.
type Named struct {
	Name  string `json:"name"`
	Words string `json:"words"`
}

// Key is a key in Redis.
type Key struct {
	Owner string // A1, with the value if that differs
	Left  time.Duration
	Stays bool // it has no lease
}

// Option is a possible next step.
type Option struct {
	Token string `json:"token"`
	Text  string `json:"text"`
	Fault bool   `json:"fault,omitempty"`
}

// View returns the current position.
func (g *Game) View() (View, error) {
	end := g.at.Trace.End()
	now := g.at.Now(len(g.Steps()))
	v := View{
		Lock: g.Challenge.Stage.NameIn(g.Language), Title: g.Challenge.Stage.TitleIn(g.Language),
		Goal: Named{g.Property.Name, Goals[g.Property.Name].Words.Localize(g.Language)}, Env: Named{g.Env.Name, g.Env.About.Localize(g.Language)},
		Par: g.par.Localize(g.Language), Key: g.key, Now: now, Lease: g.at.Trace.Lease, Clients: g.clients(end), Orders: end.Orders,
		Happened: g.happened(g.at), Options: []Option{}, Findings: []oracle.Finding{},
		Length: schedule.Length(g.at.Faults(), len(g.Steps())).Localize(g.Language), Schedule: g.Text(),
	}
	for _, k := range end.Keys {
		v.Keys = append(v.Keys, Key{timeline.Holder(k), max(0, k.TTL-(now-end.KeysAt)), k.TTL == trace.NoTTL})
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

// happened returns sentences about a run's last step.
func (g *Game) happened(run Run) []string {
	sentences := []string{}
	for _, sentence := range timeline.Sentences(run.Trace, len(run.Trace.Events)-len(run.Last()), g.Language) {
		sentences = append(sentences, g.brief(sentence))
	}
	return sentences
}

// brief writes K for the lock's key, even before the key exists.
func (g *Game) brief(text string) string { return strings.ReplaceAll(text, g.key, "K") }

// option returns an option in words. For a wait it looks up what comes next.
func (g *Game) option(o schedule.Option) (Option, error) {
	option := Option{Token: o.Token, Fault: o.Cost > 0}
	if o.Action != world.Tick {
		option.Text = g.brief(Action(o, o.What, 0).Localize(g.Language))
		return option, nil
	}
	after, err := Follow(g.t, g.Setup, append(slices.Clone(g.Steps()), o.Token))
	if err != nil {
		return option, err
	}
	happens := strings.Join(g.happened(after), " ")
	if last := after.Last(); happens == "" && len(last) > 0 {
		happens = g.brief(itSends.Localize(g.Language, "client", last[0].Client, "command", last[0].Line()))
	}
	option.Text = Action(o, "", after.Now(len(after.Schedule))).Localize(g.Language)
	if happens != "" {
		option.Text = itBrings.Localize(g.Language, "what", option.Text, "then", happens)
	}
	return option, nil
}

// Action describes an option. what is its command or reply in words, and at the time to which a
// tick leads.
func Action(o schedule.Option, what any, at time.Duration) i18n.Message {
	say := actions[o.Action]
	switch o.Op {
	case trace.OpCheck:
		say, what = ledgerTells, o.Order
	case trace.OpInsert:
		say, what = ledgerTakes, o.Order
	}
	return say.Args("client", o.Client, "what", what, "time", term.Clock(at))
}
