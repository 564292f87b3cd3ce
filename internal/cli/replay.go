package cli

import (
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay SCHEDULE",
		Short: "Draw a schedule from explore or from a game",
		Long: "replay runs a lock under a schedule and draws what happens, the same each time. A schedule " +
			"is a string: v1/LOCK/CLIENTS/ATTEMPTS/ENVIRONMENT/PROPERTY/STEPS. LOCK is stage3, or 3; " +
			"replay refuses the name of an edited lock, such as mylock~3f2a91c0. CLIENTS is 2c for two " +
			"clients; or it is check-then-delete@12 for the clients of that failure's run, which the schedule " +
			"takes over after its twelfth event, as in the page of serve. A step is a or a2: Redis " +
			"executes what A sent; A or A2: A reads a reply; t: time passes; xa: A crashes; za: A stands " +
			"still; wa: A goes on; da: a reply to A is lost; ra: Redis refuses what A sent; ca: the caller of " +
			"A gives up; ha: A has its network again.",
		Example: "go run . replay " + exampleSchedule,
		Args:    words(1, 1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.replay(args[0]) },
	}
}

const exampleSchedule = "v1/stage2/2c/1x/async/wrong-delete/b.B.t.b.a.b"

// replay runs a schedule and prints its picture, its property's verdict, and its length.
func (a *app) replay(text string) error {
	c, steps, err := game.Read(text, stages.Table)
	if err != nil {
		return err
	}
	if c.Subject, err = failures.DiscoverScripts(a.t, c.Subject); err != nil {
		return failedError{err}
	}
	m, err := decide(a.t, c.Setup, steps)
	if m.Trace == nil {
		return failedError{err}
	}
	a.askForRoom()
	begins := clientsAsk.Args("n", c.Clients, "times", timesEach.Of(c.Attempts))
	if c.From != nil {
		begins = takenOver.Args("failure", c.From.Failure.ID, "n", c.From.Events)
	}
	a.heading(term.Bold, a.say(scheduleOf, "stage", capital(c.Stage.NameIn(a.lang)), "title", c.Stage.TitleIn(a.lang),
		"property", schedule.NameIn(a.lang, c.Property.Name), "env", schedule.NameIn(a.lang, c.Env.Name), "begins", begins))
	picture := a.draw(m.Trace, m.Found)
	if len(m.Found) > 0 {
		a.heading(term.Red, a.say(scheduleBreaks, "rule", i18n.Text(m.Found[0].Rule), "what", m.Found[0].Localize(a.lang)))
	} else if err == nil {
		a.heading(term.Green, a.say(scheduleKeeps, "rule", c.Property.About))
	}
	if len(m.Schedule) > len(steps) {
		a.prose("", 0, a.say(wentOn))
	}
	fmt.Fprintln(a.out, a.say(lengthAndText, "length", schedule.Length(m.Faults(), len(m.Schedule)), "schedule", schedule.Text(c.Setup, m.Schedule)))
	a.legend(picture)
	if err != nil {
		return failedError{err}
	}
	return nil
}

// decide runs a lock as [game.Follow] does. If the steps break nothing, the run goes on without another
// fault until a lease has passed: a key may be left behind, or a waiter asleep. If that breaks the
// property, decide returns the run up to there.
func decide(t *testing.T, setup schedule.Setup, steps []string) (game.Run, error) {
	r, err := game.Follow(t, setup, steps)
	if err != nil || len(r.Found) > 0 {
		return r, err
	}
	given, end := schedule.Follow(steps, &err), r.Now(len(steps))+r.Trace.Lease
	on, err := game.Play(t, setup, func(p schedule.Point) (int, bool) {
		if i, ok := given(p); ok {
			return i, ok
		}
		return p.Default, p.World.Now() < end
	})
	if err != nil || len(on.Found) == 0 {
		return r, err
	}
	return game.Follow(t, setup, on.UpTo(on.Found[0], setup.Property.Breaks).Schedule)
}

var (
	scheduleOf     = i18n.New("{stage}, {title}: {property}, {env}, {begins}")
	clientsAsk     = i18n.New("{n} clients that ask for the lock {times}")
	takenOver      = i18n.New("{failure} taken over after {n} events")
	timesEach      = i18n.NewPlural("once each", "{n} times each")
	lengthAndText  = i18n.New("{length}: {schedule}")
	scheduleBreaks = i18n.New("BROKEN: {rule}: {what}.")
	scheduleKeeps  = i18n.New("SAFE in this run, also if it goes on for a lease without another fault: {rule}.")
	wentOn         = i18n.New("Your schedule ends before that: the run went on without another fault, for a lease at most.")
)
