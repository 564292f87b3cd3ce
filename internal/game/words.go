package game

import (
	"lockkata/failures_test/world"
	"lockkata/internal/texts"
)

// Goal is what somebody does who breaks a property, and where it is best tried.
type Goal struct {
	Words texts.Text
	Env   string
}

// Goals are the properties as goals.
var Goals = map[string]Goal{
	"leak":          {texts.New("leave a key in Redis that stays for ever, or beyond its use"), "crash"},
	"wrong-delete":  {texts.New("make a client remove what somebody else installed"), "async"},
	"exclusion":     {texts.New("bring two clients into the lock at once"), "async"},
	"damage":        {texts.New("bring the order into the ledger twice"), "pause"},
	"truth":         {texts.New("make a call answer what is not so"), "reply-loss"},
	"watchdog":      {texts.New("let the key of a holder expire in spite of its watchdog"), "async"},
	"wake-up":       {texts.New("let a client wait beside a free lock"), "short-pauses"},
	"damage-fenced": {texts.New("get the order twice past a ledger that checks tokens"), "pause"},
}

// What can be done next.
var (
	actions = map[world.Action]texts.Text{
		world.Execute: texts.New("Redis executes {client}'s {what}"),
		world.Deliver: texts.New("{client} reads {what}"),
		world.Crash:   texts.New("{client} dies"),
		world.Freeze:  texts.New("{client} stands still"),
		world.Thaw:    texts.New("{client} goes on"),
		world.Heal:    texts.New("{client} has its network again"),
		world.Lose:    texts.New("{client} never reads {what}: its connection breaks"),
		world.Refuse:  texts.New("Redis is full, and refuses {client}'s {what}"),
		world.Leave:   texts.New("the caller of {client}'s {what} gives up"),
		world.Tick:    texts.New("time passes, to {time}"),
	}
	ledgerTells = texts.New("the ledger tells {client} whether it has the order {what}")
	ledgerTakes = texts.New("the ledger takes the order {what} from {client}")
	itSends     = texts.New("{client} sends {command}.")
)
