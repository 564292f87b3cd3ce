package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/term"
)

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay SCHEDULE",
		Short: "Draw a schedule that explore found or somebody played",
		Long: "replay runs a lock under a schedule and draws what happens, the same each time. A schedule\n" +
			"is a string: v1/STAGE/CLIENTS/ATTEMPTS/ENVIRONMENT/PROPERTY/STEPS. A step is a or a2: what A\n" +
			"sent is executed; A or A2: A reads a reply; t: time passes; xa: A crashes; za: A stands still;\n" +
			"wa: it goes on; da: a reply to A is lost; ra: Redis refuses what A sent; ca:\n" +
			"the caller of A gives up.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("replay takes one schedule, not %d words: one looks like %s", len(args), exampleSchedule)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.replay(args[0]) },
	}
}

const exampleSchedule = "v1/stage2/2c/1x/async/wrong-delete/b.B.t.b.a.b"

func (a *app) replay(text string) error {
	setup, steps, err := parseSchedule(text)
	if err != nil {
		return err
	}
	if setup.Subject, err = failures.DiscoverScripts(a.t, setup.Subject); err != nil {
		return failedError{err.Error()}
	}
	return a.drawSchedule(setup, steps)
}

// step is what a schedule's step looks like.
var step = regexp.MustCompile(`^(t|[abc][1-9]?|[ABC][1-9]?|[xzwc][abc]|[dr][abc][1-9]?)$`)

// parseSchedule reads a schedule of one of the stages.
func parseSchedule(text string) (schedule.Setup, []string, error) {
	setup, name, steps, err := schedule.Parse(text)
	if err != nil {
		return setup, nil, err
	}
	s, err := findSubject(name)
	if err != nil {
		return setup, nil, err
	}
	setup.Subject = s.Subject
	if setup.Clients != 2 && setup.Clients != 3 {
		return setup, nil, fmt.Errorf("%q in the schedule: there are 2c or 3c", fmt.Sprintf("%dc", setup.Clients))
	}
	for i, token := range steps {
		if !step.MatchString(token) {
			return setup, nil, fmt.Errorf("step %d of the schedule, %q, is no step: replay --help tells which there are", i+1, token)
		}
	}
	return setup, steps, suits(s, setup.Property)
}

// findSubject is the stage whose lock has that name.
func findSubject(name string) (columns.Column, error) {
	var names []string
	for _, s := range columns.All {
		if s.Subject.Name == name {
			return s, nil
		}
		names = append(names, s.Subject.Name)
	}
	return columns.Column{}, fmt.Errorf("there is no lock %q to schedule: there are %s", name, strings.Join(names, ", "))
}

// suits tells whether a stage has what a property is about.
func suits(s columns.Column, p schedule.Property) error {
	for _, need := range p.Needs {
		if !slices.Contains(s.Subject.Has, need) {
			return fmt.Errorf("%s is about %s, which %s does not have; there are %s",
				p.Name, need, s.Name(), strings.Join(suitable(s), ", "))
		}
	}
	return nil
}

// suitable are the names of the properties that apply to a stage.
func suitable(s columns.Column) []string {
	var names []string
	for _, p := range schedule.Properties {
		if !slices.ContainsFunc(p.Needs, func(f failures.Feature) bool { return !slices.Contains(s.Subject.Has, f) }) {
			names = append(names, p.Name)
		}
	}
	return names
}

// drawSchedule runs a schedule and prints its picture, what its property says of it,
// and how long it is.
func (a *app) drawSchedule(setup schedule.Setup, steps []string) error {
	s, err := findSubject(setup.Subject.Name)
	if err != nil {
		return err
	}
	m, err := runSteps(a.t, setup, steps)
	if err != nil {
		return failedError{err.Error()}
	}
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Bold, fmt.Sprintf("%s, %s: %s, %s, %d clients that ask for the lock %s",
		capital(s.Name()), s.Title, setup.Property.Name, setup.Env.Name, setup.Clients, times(setup.Attempts))))
	fmt.Fprint(a.out, timeline.Text(m.Trace, m.found, timeline.Options{Color: a.color, Width: a.width}))
	if len(m.found) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Red, fmt.Sprintf("BROKEN: %s: %s.", m.found[0].Monitor, m.found[0].Text)))
	} else {
		fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Green, fmt.Sprintf("SAFE in this run: %s.", setup.Property.About)))
	}
	fmt.Fprintf(a.out, "%s: %s\n", length(m.Cost(), len(m.Schedule)), schedule.Text(setup, m.Schedule))
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Dim, legend(m.Trace)))
	if m.Astray != nil {
		return failedError{m.Astray.Error()}
	}
	return nil
}

// length says how long a schedule is.
func length(cost, steps int) string {
	return fmt.Sprintf("%s, of which %d cost", count(steps, "step"), cost)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func times(n int) string {
	switch n {
	case 1:
		return "once each"
	case 2:
		return "twice each"
	}
	return fmt.Sprintf("%d times each", n)
}
