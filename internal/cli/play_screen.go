package cli

import (
	"fmt"
	"strings"

	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

const (
	usualScreen = 80 // columns without a terminal
	barWidth    = 30
)

// screen is a position as lines of a terminal.
type screen struct {
	*app
	width int
	lines []string
}

// Texts of a screen.
var (
	lockPlayed   = i18n.New("{lock}: {title}")
	goalLine     = i18n.New("Goal: {words} ({name}).")
	envLine      = i18n.New("Environment: {words} ({name}).")
	clientsHead  = i18n.New("clients")
	redisHead    = i18n.New("Redis, at {time}: K is {key}")
	ledgerHead   = i18n.New("ledger")
	justNow      = i18n.New("just now")
	besideIt     = i18n.New("in the background: {what}")
	keyNone      = i18n.New("no key")
	keyStays     = i18n.New("no lease: it stays")
	leaseLeft    = i18n.New("{bar} {time} left")
	orderOf      = i18n.New("{order} by {client}")
	ledgerEmpty  = i18n.New("empty")
	nothingLeft  = i18n.New("The run has ended, and the goal is not reached: undo, or restart.")
	whatNext     = i18n.New("what next?")
	keysToPress  = i18n.New("u undo   r restart   h hint   q quit")
	keysAfterEnd = i18n.New("u undo   r restart   q quit")
	aFault       = i18n.New("a fault")
	goalReached  = i18n.New("the goal is reached")
	goalFound    = i18n.New("✓ {rule}: {what}.")
	forFriend    = i18n.New("For a friend:")
	howToPlay    = i18n.New("Press one key for each step, without Enter. K is the key, A1 A's first hold, and A? is not in Redis.")
)

// screen returns a position as text, with the notes for the player. It fits 24 lines.
func (p *player) screen(v game.View, width int) string {
	if text := p.app.narrow(width); text != "" {
		return text
	}
	s := &screen{app: p.app, width: width}
	s.text(term.Bold, s.say(lockPlayed, "lock", capital(v.Lock), "title", v.Title))
	s.text(term.Bold, s.say(goalLine, "words", v.Goal.Words, "name", v.Goal.Name))
	s.text("", v.Par)
	s.text(term.Dim, s.say(envLine, "words", v.Env.Words, "name", v.Env.Name))
	if len(p.Steps()) == 0 {
		s.text(term.Dim, s.say(howToPlay))
	}
	s.heading(s.say(clientsHead))
	for _, c := range v.Clients {
		s.client(c)
	}
	s.redis(v)
	if len(v.Happened) > 0 {
		s.heading(s.say(justNow))
		s.text("", strings.Join(v.Happened, " "))
	}
	s.next(v)
	s.text(term.Yellow, term.Joined(p.hint, p.note))
	keys := keysToPress
	if len(v.Options) == 0 {
		keys = keysAfterEnd
	}
	s.add(term.Dim, s.say(keys), v.Length)
	return strings.Join(s.lines, "\n")
}

// add adds a line, with a second text at its end.
func (s *screen) add(style term.Style, left, right string) {
	text := term.Clip(left, s.width)
	if right != "" {
		room := s.width - term.Columns(right) - 2
		text = term.Pad(term.Clip(left, room), room+2) + right
	}
	s.lines = append(s.lines, s.color.Paint(style, text))
}

// text adds a text of at most two lines.
func (s *screen) text(style term.Style, text string) {
	lines := term.Wrap(text, s.width)
	if len(lines) > 2 {
		lines = []string{lines[0], lines[1] + " …"}
	}
	for _, line := range lines {
		if text != "" {
			s.add(style, line, "")
		}
	}
}

func (s *screen) heading(text string) {
	text = "── " + text + " "
	s.add(term.Dim, text+strings.Repeat("─", max(0, s.width-term.Columns(text))), "")
}

// client adds a client's state and the line of its code that it runs.
func (s *screen) client(c game.Client) {
	mark, style := " ", term.Style("")
	switch {
	case c.Dead:
		mark, style = "†", term.Dim
	case c.Frozen:
		mark, style = "░", term.Yellow
	case c.Beside:
		mark, style = "║", term.Red
	case c.Inside:
		mark, style = "│", term.Green
	}
	s.add(style, c.Name+" "+mark+" "+c.Does, c.Source.Short())
	for _, f := range c.Background {
		s.add(style, "  "+mark+" "+s.say(besideIt, "what", f.Text), f.Source.Short())
	}
}

// redis adds the keys with their owners and remaining leases, and the orders of the ledger.
func (s *screen) redis(v game.View) {
	s.heading(s.say(redisHead, "time", term.Clock(v.Now), "key", v.Key))
	for _, k := range v.Keys {
		left, style := s.say(keyStays), term.Red
		if !k.Stays {
			full := min(barWidth, int((k.Left*barWidth+v.Lease-1)/v.Lease))
			bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
			left, style = s.say(leaseLeft, "bar", bar, "time", term.Clock(k.Left)), term.Cyan
		}
		s.add(style, fmt.Sprintf("K %-14s %s", k.Owner, left), "")
	}
	if len(v.Keys) == 0 {
		s.add(term.Cyan, s.say(keyNone), "")
	}
	var orders []string
	for _, o := range v.Orders {
		orders = append(orders, s.say(orderOf, "order", o.Name, "client", o.Client))
	}
	if len(orders) == 0 {
		orders = []string{s.say(ledgerEmpty)}
	}
	s.add(term.Yellow, s.say(ledgerHead)+"  "+strings.Join(orders, ", "), "")
}

// next adds the options, or how the game ended. A schedule is never cut, so that it can be copied.
func (s *screen) next(v game.View) {
	head := whatNext
	if len(v.Findings) > 0 {
		head = goalReached
	}
	s.heading(s.say(head))
	switch {
	case len(v.Findings) > 0:
		s.text(term.Green, s.say(goalFound, "rule", i18n.Text(v.Findings[0].Rule), "what", v.Findings[0].Text))
		s.text("", v.Score)
		s.add("", s.say(forFriend), "")
		s.lines = append(s.lines, "go run . replay '"+v.Schedule+"'")
	case len(v.Options) == 0:
		s.text("", s.say(nothingLeft))
	}
	for i, o := range v.Options {
		fault := ""
		if o.Fault {
			fault = s.say(aFault)
		}
		s.add("", fmt.Sprintf("%c  %s", choiceKeys[i], o.Text), fault)
	}
}
