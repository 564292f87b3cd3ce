package timeline

import (
	"fmt"
	"strings"

	"lockkata/failures_test/world"
)

// sentence tells a row in words, for those who hear it or see only this one.
func (r *reel) sentence(row row) string {
	e := row.events[0]
	text := ""
	switch e.Kind {
	case world.Executed, world.Refused:
		text = r.commandSentence(row)
	case world.Delivered:
		text = fmt.Sprintf("%s reads the reply: %s", e.Client, reply(e))
		if len(e.Command) == 0 {
			text = e.Client + " hears the message"
		}
	case world.Stored:
		text = fmt.Sprintf("%s asks the ledger to %s order %q: %s", e.Client, strings.ToLower(e.Op), e.Command[1], ledgerReply(e))
	case world.Returned:
		text = r.resultSentence(e)
	case world.Slept:
		text = "Time passes: " + strings.TrimSuffix(passed(e.Text), " later")
	case world.Expired:
		text = "The lease ends, and Redis removes the key"
	case world.Server:
		text = strings.ToUpper(e.Text[:1]) + e.Text[1:]
	default:
		text = r.faultSentence(e)
	}
	return strings.TrimSuffix(r.story.shorten(text), ".") + "."
}

func (r *reel) commandSentence(row row) string {
	e := row.events[0]
	command := strings.TrimPrefix(r.story.line(e), "background: ")
	if name, isScript := strings.CutPrefix(command, "script "); isScript {
		command = "the script " + name
	}
	if e.Background {
		command += " in the background"
	}
	switch times := count(row.events, e.Kind); {
	case e.Kind == world.Refused:
		return fmt.Sprintf("%s sends %s, and gets an error: %s", e.Client, command, strings.TrimPrefix(e.Reply, "(error) "))
	case len(row.events) == 1:
		return fmt.Sprintf("Redis executes %s for %s, and answers %s; %[2]s has not read it yet", command, e.Client, reply(e))
	case times > 1:
		span := roughly(row.events[len(row.events)-1].At - e.At)
		return fmt.Sprintf("%s sends %s, %d times in %s, and Redis answers %s each time", e.Client, command, times, span, reply(e))
	}
	return fmt.Sprintf("%s sends %s, and Redis answers %s", e.Client, command, reply(e))
}

func count(events []world.Event, kind world.Kind) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (r *reel) resultSentence(e world.Event) string {
	if !e.Result.Held {
		return fmt.Sprintf("%s() comes back to %s: %s", e.Op, e.Client, strings.TrimPrefix(resultText(e), "= "))
	}
	letters := r.company.letters(r.scene)
	switch {
	case strings.Contains(letters, "x"):
		return e.Client + " has the lock, and is inside beside another: two are inside"
	case strings.Contains(letters, "e"):
		return e.Client + " has the lock, and is inside; the other one cannot know yet that it has lost it"
	case r.scene.holds[e.Client] > 1:
		return fmt.Sprintf("%s has the lock, for the %s time", e.Client, ordinal(r.scene.holds[e.Client]))
	}
	return e.Client + " has the lock, and is inside"
}

func ordinal(n int) string {
	switch n {
	case 2:
		return "second"
	case 3:
		return "third"
	}
	return fmt.Sprintf("%dth", n)
}

func (r *reel) faultSentence(e world.Event) string {
	switch e.Kind {
	case world.Called:
		if e.Bound > 0 {
			return fmt.Sprintf("%s calls %s(), and waits %s at most", e.Client, e.Op, roughly(e.Bound))
		}
		return fmt.Sprintf("%s calls %s()", e.Client, e.Op)
	case world.Dropped:
		return fmt.Sprintf("The connection of %s breaks: %s", e.Client, e.Text)
	case world.Delayed:
		return e.Client + "'s " + strings.TrimPrefix(e.Text, "the ")
	case world.Frozen:
		return strings.TrimSpace(e.Client + "'s process stands still " + e.Text)
	case world.Thawed:
		return e.Client + "'s process goes on"
	case world.Cancelled:
		return e.Client + "'s caller cancels " + e.Op
	case world.Crashed:
		return strings.TrimSpace(e.Client + "'s process dies " + e.Text)
	}
	return e.Client + " " + eventText(e)
}
