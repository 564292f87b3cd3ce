package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/game"
	"lockkata/internal/quiz"
	"lockkata/internal/term"
	"lockkata/internal/texts"
)

func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay SCHEDULE",
		Short: "Draw a schedule that explore found or somebody played",
		Long: "replay runs a lock under a schedule and draws what happens, the same each time. A schedule\n" +
			"is a string: v1/LOCK/CLIENTS/ATTEMPTS/ENVIRONMENT/PROPERTY/STEPS. LOCK is stage3, or 3; an\n" +
			"edited lock's own name, such as mylock~3f2a91c0, is refused. A step is a or a2: what A sent is\n" +
			"executed; A or A2: A reads a reply; t: time passes; xa: A crashes; za: A stands still; wa: it\n" +
			"goes on; da: a reply to A is lost; ra: Redis refuses what A sent; ca: the caller of A gives up;\n" +
			"ha: A has its network again. CLIENTS are 2c, two clients, or check-then-delete@12: those of a\n" +
			"failure's run, taken over after its twelfth event, as the playground of serve does it.",
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
	c, steps, err := game.Read(text, columns.All)
	if err != nil {
		return err
	}
	if c.Subject, err = failures.DiscoverScripts(a.t, c.Subject); err != nil {
		return failedError{err.Error()}
	}
	return a.drawSchedule(c, steps)
}

// drawSchedule runs a schedule and prints its picture, what its property says of it,
// and how long it is.
func (a *app) drawSchedule(c game.Challenge, steps []string) error {
	m, err := quiz.Follow(a.t, c.Setup, steps)
	if err != nil {
		return failedError{err.Error()}
	}
	who := fmt.Sprintf("%d clients that ask for the lock %s", c.Clients, times(c.Attempts))
	if c.From != nil {
		who = fmt.Sprintf("%s taken over after %s", c.From.Failure.ID, term.Count(c.From.Events, "event"))
	}
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Bold, fmt.Sprintf("%s, %s: %s, %s, %s",
		capital(c.Column.Name()), c.Column.Title, c.Property.Name, c.Env.Name, who)))
	fmt.Fprint(a.out, timeline.Text(m.Trace, m.Found, timeline.Options{Color: a.color, Width: a.width}))
	if len(m.Found) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Red, fmt.Sprintf("BROKEN: %s: %s.", m.Found[0].Monitor, m.Found[0].Text)))
	} else {
		fmt.Fprintf(a.out, "\n%s\n", a.color.Paint(term.Green, fmt.Sprintf("SAFE in this run: %s.", c.Property.About)))
	}
	fmt.Fprintf(a.out, "%s: %s\n", game.Length(m.Cost(), len(m.Schedule), texts.English), schedule.Text(c.Setup, m.Schedule))
	fmt.Fprintf(a.out, "%s\n", a.color.Paint(term.Dim, legend(m.Trace)))
	if m.Astray != nil {
		return failedError{m.Astray.Error()}
	}
	return nil
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
