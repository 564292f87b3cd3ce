package game

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Challenge is what a player plays: a lock, its clients, the possible faults, and the property to
// break.
type Challenge struct {
	Stage stages.Stage
	schedule.Setup
}

// Settings are the player's choices.
type Settings struct {
	Goal, Env         string // the names of a property and an environment; "": chosen to suit the lock
	Clients, Attempts int
}

// Errors of settings and of schedules.
var (
	badWho    = i18n.New("\"{n}c\" in the schedule: there are 2c or 3c")
	noStep    = i18n.New("step {n} of the schedule, {step}, is no step: replay --help tells which there are")
	isForeign = i18n.New("the schedule is one of {name}, a lock that is not here: it replays only where that lock is, as it was then")
	noLock    = i18n.New("there is no lock {name} to schedule: there are {names}")
	suitsNot  = i18n.New("{property} is about {feature}, which {stage} does not have; there are {names}")
)

// Of returns the challenge of a lock. The error names the setting that does not fit.
func (s Settings) Of(c stages.Stage) (Challenge, error) {
	none := Challenge{}
	if setup, _, _, err := schedule.Parse(c.Challenge); err == nil && s.Goal == "" {
		s.Goal, s.Env = setup.Property.Name, cmp.Or(s.Env, setup.Env.Name)
	}
	s.Goal = cmp.Or(s.Goal, "leak")
	property, err := schedule.FindProperty(s.Goal)
	if err != nil {
		return none, err
	}
	if err := suits(c, property); err != nil {
		return none, err
	}
	env, err := schedule.FindEnv(cmp.Or(s.Env, Goals[s.Goal].Env))
	if err != nil {
		return none, err
	}
	return Challenge{c, schedule.Setup{
		Subject: c.Subject, Clients: s.Clients, Attempts: s.Attempts, Env: env, Property: property,
	}}, nil
}

// Taken returns a challenge that continues a failure's run after so many events, with the
// failure's clients. The default goal is the failure's rule; the default environment lets one
// process pause.
func (s Settings) Taken(c stages.Stage, f catalogue.Failure, events int) (Challenge, error) {
	about := slices.IndexFunc(schedule.Properties, func(p schedule.Property) bool {
		return p.Suits(c.Subject) && p.Guard == f.Guard &&
			slices.ContainsFunc(p.Breaks, func(m oracle.Rule) bool { return slices.Contains(f.Breaks, m) })
	})
	if s.Goal == "" && about >= 0 {
		s.Goal = schedule.Properties[about].Name
	}
	s.Goal, s.Env = cmp.Or(s.Goal, "exclusion"), cmp.Or(s.Env, "pause")
	challenge, err := s.Of(c)
	challenge.From = &schedule.Start{Failure: f, Events: events}
	return challenge, err
}

// step matches a step of a schedule.
var step = regexp.MustCompile(`^(t|[abc][1-9]?|[ABC][1-9]?|[xzwch][abc]|c[a-z]|[dr][abc][1-9]?)$`)

// Read parses the string of a schedule. The string names its lock by a stage's ID or a subject's
// name. A schedule of another lock is refused: it would mean something else here.
func Read(text string, of []stages.Stage) (Challenge, []string, error) {
	setup, name, steps, err := schedule.Parse(text)
	if err != nil {
		return Challenge{}, nil, err
	}
	i := slices.IndexFunc(of, func(c stages.Stage) bool { return c.Subject.Name == name || c.ID == name })
	if i < 0 {
		return Challenge{}, nil, unknown(name, of)
	}
	if setup.From == nil && setup.Clients != 2 && setup.Clients != 3 {
		return Challenge{}, nil, badWho.Args("n", setup.Clients)
	}
	for n, token := range steps {
		if !step.MatchString(token) {
			return Challenge{}, nil, noStep.Args("n", n+1, "step", strconv.Quote(token))
		}
	}
	setup.Subject = of[i].Subject
	return Challenge{of[i], setup}, steps, suits(of[i], setup.Property)
}

func unknown(name string, of []stages.Stage) error {
	if schedule.IsForeign(name) {
		return isForeign.Args("name", strconv.Quote(name))
	}
	var names []string
	for _, c := range of {
		names = append(names, c.Subject.Name)
	}
	return noLock.Args("name", strconv.Quote(name), "names", strings.Join(names, ", "))
}

// suits returns an error if the lock lacks the feature that a property is about.
func suits(c stages.Stage, p schedule.Property) error {
	for _, need := range p.Needs {
		if !slices.Contains(c.Subject.Has, need) {
			var names []string
			for _, p := range schedule.Properties {
				if p.Suits(c.Subject) {
					names = append(names, p.Name)
				}
			}
			return suitsNot.Args("property", p.Name, "feature", need, "stage", c.NameText(), "names", strings.Join(names, ", "))
		}
	}
	return nil
}
