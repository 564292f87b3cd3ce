package interview

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/quiz"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// Kind is what a prediction asks about.
type Kind int

// The kinds.
const (
	AskCall   Kind = iota // what a call returns
	AskKey                // what Redis holds
	AskInside             // who believes to hold the lock
	AskBroken             // whether the property is broken
	kinds
)

// Prediction is a schedule that is shown up to a point, the steps that come then, and
// a question about how things are after them. The world has the answer.
type Prediction struct {
	Stage   stages.Stage
	Setup   schedule.Setup
	Steps   []string // up to the moment that is asked about
	Shown   int      // how many of them are drawn
	Next    []Step   // the others
	Kind    Kind
	Client  string // AskCall: whose call
	Op      string // AskCall: which
	Choices []string
	Answer  int // the index of the choice that was right when the schedule was found
}

// Step is what happens, without what comes of it.
type Step struct {
	Action world.Action
	Client string
	What   string        // the command of an Execute, as it stands at the point of the question
	At     time.Duration // to which a Tick leads
	Ledger bool          // it goes to the ledger, not to Redis
}

// Text is the schedule as replay takes it.
func (p Prediction) Text() string { return schedule.Text(p.Setup, p.Steps) }

// replay is the command that draws it.
func (p Prediction) replay() string { return "go run . replay '" + p.Text() + "'" }

// Run runs the lock under the schedule. A world that says something else than when the
// schedule was found is an error.
func (p Prediction) Run(t *testing.T) (quiz.Quiz, error) {
	run, err := quiz.Follow(t, p.Setup, p.Steps)
	if err = cmp.Or(err, run.Astray); err != nil {
		return quiz.Quiz{}, fmt.Errorf("%s: %w", p.Text(), err)
	}
	q := quiz.Quiz{Trace: run.Trace, Cut: run.Events(p.Shown), Asks: p.truth(), Choices: p.Choices}
	right, err := q.Right()
	if err == nil && right != p.Answer {
		err = fmt.Errorf("ends with %q; the marked answer is %q", p.Choices[right], p.Choices[p.Answer])
	}
	if err != nil {
		err = fmt.Errorf("%s %w", p.Text(), err)
	}
	return q, err
}

// truth is what the question asks for.
func (p Prediction) truth() quiz.Truth {
	switch p.Kind {
	case AskCall:
		return p.told
	case AskKey:
		return quiz.Key
	case AskInside:
		return quiz.Insiders
	}
	return quiz.Broken(p.Setup.Property.Breaks)
}

// told is what the call returns. To an acquire every error is the same: it does not
// know. To an Unlock it matters whether the lock itself says that it is not held.
func (p Prediction) told(trace *world.Trace, cut int) string {
	word := quiz.Told(p.Client)(trace, cut)
	if p.Op != world.OpUnlock && word == "refused with an error" {
		return "error"
	}
	return word
}

// choicesOf are the choices of a question whose answer is this.
func (p Prediction) choicesOf(truth string) []string {
	switch p.Kind {
	case AskCall:
		if p.Op == world.OpUnlock {
			return []string{"done", "refused with an error", "error"}
		}
		return []string{"held", "refused", "error"}
	case AskInside:
		return []string{"nobody", "A", "B", "A and B"}
	case AskBroken:
		return []string{"yes", "no"}
	}
	choices := []string{"no key"}
	for _, client := range []string{"A", "B"} {
		name := client + "1"
		if strings.HasPrefix(truth, client) {
			name = strings.TrimSuffix(truth, "!")
		}
		choices = append(choices, name)
		if p.Stage.ID == "1" {
			choices = append(choices, name+"!")
		}
	}
	return choices
}

var (
	asks = [kinds]i18n.Text{
		AskCall:   i18n.New("What does {client}'s {call} return?"),
		AskKey:    i18n.New("What does Redis hold then under the lock's key?"),
		AskInside: i18n.New("Who believes then to hold the lock?"),
		AskBroken: i18n.New("Is this rule broken then: {rule}?"),
	}
	meanings = map[string]i18n.Text{
		"held":                  i18n.New("it has the lock"),
		"refused":               i18n.New("no: another client has the lock"),
		"error":                 i18n.New("an error"),
		"done":                  i18n.New("that it has unlocked"),
		"refused with an error": i18n.New("an error: the lock is not, or no longer, its own"),
		"no key":                i18n.New("nothing: there is no key"),
		"nobody":                i18n.New("nobody"),
		"A and B":               i18n.New("A and B"),
		"yes":                   i18n.New("yes, it is broken"),
		"no":                    i18n.New("no, it is not broken"),
	}
	keyWithLease = i18n.New("the key of {client}, with a lease ({value})")
	keyThatStays = i18n.New("the key of {client}, without a lease ({value})")

	happens = map[world.Action]i18n.Text{
		world.Execute: i18n.New("Redis runs {client}'s {command}"),
		world.Deliver: i18n.New("{client} reads the reply"),
		world.Tick:    i18n.New("time passes, to {time}"),
		world.Crash:   i18n.New("{client} dies"),
		world.Freeze:  i18n.New("{client} stands still"),
		world.Thaw:    i18n.New("{client} goes on"),
		world.Lose:    i18n.New("the reply to {client} is lost: its connection breaks"),
		world.Leave:   i18n.New("the caller of {client} gives up"),
		world.Refuse:  i18n.New("Redis is full, and refuses {client}'s command"),
	}
	ledgerAnswers = i18n.New("the ledger answers {client}'s {command}")
)

func init() {
	for _, p := range schedule.Properties {
		i18n.Register(i18n.Text(p.About))
	}
}

// Question is the question in words.
func (p Prediction) Question(l i18n.Language) string {
	return asks[p.Kind].Localize(l, "client", p.Client, "call", p.Op, "rule", i18n.Text(p.Setup.Property.About))
}

// Choice is a choice in words.
func (p Prediction) Choice(l i18n.Language, i int) string {
	means := p.Choices[i]
	if text, ok := meanings[means]; ok {
		return text.Localize(l)
	}
	if p.Kind == AskInside {
		return means // a client's name
	}
	if name, stays := strings.CutSuffix(means, "!"); stays {
		return keyThatStays.Localize(l, "client", name[:1], "value", name)
	}
	return keyWithLease.Localize(l, "client", means[:1], "value", means)
}

// Words says what happens in a step.
func (s Step) Words(l i18n.Language) string {
	text := happens[s.Action]
	if s.Ledger {
		text = ledgerAnswers
	}
	return text.Localize(l, "client", s.Client, "command", s.What, "time", term.Clock(s.At))
}
