package game

import (
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Goal describes breaking a property, and names the environment where that is best tried.
type Goal struct {
	Words i18n.Text
	Env   string
}

// Goals has a goal for each property.
var Goals = map[string]Goal{
	"leak":          {i18n.New("leave a key in Redis forever, or longer than it is needed"), "crash"},
	"wrong-delete":  {i18n.New("make one client delete another client's lock"), "async"},
	"exclusion":     {i18n.New("let two clients hold the lock at once"), "async"},
	"damage":        {i18n.New("get the same order into the ledger twice"), "pause"},
	"truth":         {i18n.New("make a call return something untrue"), "reply-loss"},
	"watchdog":      {i18n.New("let a holder's key expire despite its watchdog"), "async"},
	"wake-up":       {i18n.New("let a client wait although the lock is free"), "short-pauses"},
	"damage-fenced": {i18n.New("get the same order twice into a ledger that checks tokens"), "pause"},
}

// Possible next steps.
var (
	actions = map[world.Action]i18n.Text{
		world.Execute: i18n.New("Redis executes {client}'s {what}"),
		world.Deliver: i18n.New("{client} reads {what}"),
		world.Crash:   i18n.New("{client} dies"),
		world.Freeze:  i18n.New("{client} stands still"),
		world.Thaw:    i18n.New("{client} goes on"),
		world.Heal:    i18n.New("{client} has its network again"),
		world.Lose:    i18n.New("{client} never reads {what}: its connection breaks"),
		world.Refuse:  i18n.New("Redis is full, and refuses {client}'s {what}"),
		world.Leave:   i18n.New("the caller of {client}'s {what} gives up"),
		world.Tick:    i18n.New("time passes, to {time}"),
	}
	ledgerTells = i18n.New("the ledger tells {client} whether it has the order {what}")
	ledgerTakes = i18n.New("the ledger takes the order {what} from {client}")
	itSends     = i18n.New("{client} sends {command}.")
	itBrings    = i18n.New("{what}. {then}")
)
