package cli

import (
	"fmt"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/term"
)

// happened says in words what an event was; "" for what need not be told.
func happened(e world.Event) string {
	switch e.Kind {
	case world.Called:
		if e.Op == world.OpCheck || e.Op == world.OpInsert {
			return ""
		}
		return e.Client + " calls " + e.Op
	case world.Sent:
		return ""
	case world.Executed:
		return fmt.Sprintf("Redis runs %s's %s and answers %s", e.Client, e.Line(), e.Reply)
	case world.Refused:
		return fmt.Sprintf("Redis refuses %s's %s", e.Client, e.Line())
	case world.Delivered:
		return e.Client + " reads " + e.Reply
	case world.Dropped:
		return fmt.Sprintf("%s of %s, and the connection breaks", e.Text, e.Client)
	case world.Stored:
		return fmt.Sprintf("the ledger says to %s: %s", e.Client, e.Reply)
	case world.Returned:
		return fmt.Sprintf("%s's %s: %s", e.Client, e.Op, callResult(e))
	case world.Lost:
		return e.Client + " is told that its hold is lost"
	case world.Blocked:
		return fmt.Sprintf("%s's %s still waits", e.Client, e.Op)
	case world.Frozen:
		return e.Client + " stands still"
	case world.Thawed:
		return e.Client + " goes on"
	case world.Crashed:
		return e.Client + " dies"
	case world.Cancelled:
		return fmt.Sprintf("the caller of %s gives up", e.Client)
	case world.Expired:
		return "a lease ends: " + lapsed(e)
	}
	return e.Text
}

func lapsed(e world.Event) string {
	var owners []string
	for _, effect := range e.Effects {
		owners = append(owners, effect.Owner.Label)
	}
	return strings.Join(owners, ", ")
}

// callResult is what a call told its caller.
func callResult(e world.Event) string {
	switch {
	case e.Result.Held:
		return "it has the lock"
	case e.Result.Error != "":
		return e.Result.Error
	case e.Op == world.OpUnlock && e.Result.Claim == world.ClaimDone:
		return "unlocked"
	}
	return "no, somebody else has it"
}

// story is what some events were, in one line of words.
func story(events []world.Event) string {
	var words []string
	for _, e := range events {
		if text := happened(e); text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "; ")
}

// choice says in words what can be done. What a wait would bring is looked up.
func (g *game) choice(o schedule.Option, m position) (string, error) {
	switch o.Action {
	case world.Execute:
		if order, ok := strings.CutPrefix(o.What, strings.ToUpper(world.OpCheck)+" "); ok {
			return fmt.Sprintf("the ledger tells %s whether it has the order %s", o.Client, order), nil
		}
		if order, ok := strings.CutPrefix(o.What, strings.ToUpper(world.OpInsert)+" "); ok {
			return fmt.Sprintf("the ledger takes the order %s from %s", order, o.Client), nil
		}
		return fmt.Sprintf("Redis runs %s's %s", o.Client, o.What), nil
	case world.Deliver:
		return fmt.Sprintf("%s reads %s", o.Client, o.What), nil
	case world.Crash:
		return o.Client + " dies", nil
	case world.Freeze:
		return o.Client + " stands still", nil
	case world.Thaw:
		return o.Client + " goes on", nil
	case world.Lose:
		return fmt.Sprintf("%s never reads %s: its connection breaks", o.Client, o.What), nil
	case world.Refuse:
		return fmt.Sprintf("Redis is full, and refuses %s's %s", o.Client, o.What), nil
	case world.Leave:
		return fmt.Sprintf("the caller of %s's %s gives up", o.Client, o.What), nil
	}
	after, err := runSteps(g.app.t, g.setup, append(m.Schedule[:len(m.Schedule):len(m.Schedule)], o.Token))
	if err != nil {
		return "", err
	}
	text := story(after.Last())
	if text == "" && len(after.Last()) > 0 {
		text = fmt.Sprintf("%s sends %s", after.Last()[0].Client, after.Last()[0].Line())
	}
	return strings.TrimSuffix(fmt.Sprintf("time passes, to %s: %s", term.Clock(after.now()), text), ": "), nil
}
