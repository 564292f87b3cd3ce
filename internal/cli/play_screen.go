package cli

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"lockkata/failures_test/world"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

const (
	usualScreen  = 80 // columns, where there is no terminal
	screenHeight = 24
	barWidth     = 30
)

// screen is a position as lines of a terminal.
type screen struct {
	*app
	width int
	lines []string
}

// What stands on a screen.
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
	nothingLeft  = i18n.New("Nothing is left to choose, and the goal is not reached: undo, or restart.")
	whatNext     = i18n.New("what next?")
	keysToPress  = i18n.New("u undo   r restart   h hint   q quit")
	keysAfterEnd = i18n.New("u undo   r restart   q quit")
	aFault       = i18n.New("a fault")
	goalReached  = i18n.New("the goal is reached")
	goalFound    = i18n.New("✓ {rule}: {what}.")
	forFriend    = i18n.New("For a friend:")
	playLegend   = []i18n.Text{
		i18n.New("A fault is a delay, a crash, a pause or a loss. Fewer faults are better."),
		i18n.New("The environment says which faults there are: go run . play --help lists all."),
		i18n.New("Press one key for each step, without Enter. K is the key, A1 A's first hold."),
	}
)

// screen returns a position as text, with what the player is told. Lines that explain are left out
// where there is no room for them.
func (p *player) screen(v game.View, width int) string {
	if text := p.app.narrow(width); text != "" {
		return text
	}
	s := &screen{app: p.app, width: width}
	if s.draw(p, v, true); len(s.lines) > screenHeight {
		s.lines = nil
		s.draw(p, v, false)
	}
	return strings.Join(s.lines, "\n")
}

func (s *screen) draw(p *player, v game.View, explain bool) {
	s.text(term.Bold, s.say(lockPlayed, "lock", capital(v.Lock), "title", v.Title))
	s.text(term.Bold, s.say(goalLine, "words", v.Goal.Words, "name", v.Goal.Name))
	s.text("", v.Par)
	s.text(term.Dim, s.say(envLine, "words", v.Env.Words, "name", v.Env.Name))
	for _, text := range playLegend {
		if explain && len(p.Steps()) == 0 {
			s.text(term.Dim, s.say(text))
		}
	}
	s.heading(s.say(clientsHead))
	for _, c := range v.Clients {
		s.client(c, explain)
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
}

// add adds a line, with a text at its end.
func (s *screen) add(style term.Style, left, right string) {
	text := term.Clip(left, s.width)
	if right != "" {
		room := s.width - term.Columns(right) - 2
		text = term.Pad(term.Clip(left, room), room+2) + right
	}
	s.lines = append(s.lines, s.color.Paint(style, text))
}

// text adds a text in two lines at most.
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

// client adds what a client does and the line of code that does it.
func (s *screen) client(c game.Client, explain bool) {
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
	place, code := s.source(c.Source)
	s.add(style, c.Name+" "+mark+" "+c.Does, place)
	if code != "" && explain {
		s.add(term.Dim, "  "+mark+"   "+code, "")
	}
	for _, f := range c.Background {
		place, _ := s.source(f.Source)
		s.add(style, "  "+mark+" "+s.say(besideIt, "what", f.Text), place)
	}
}

// source returns mutex.go:57 and the line of code that stands there.
func (a *app) source(at *world.Source) (place, code string) {
	if at == nil || at.File == "" {
		return "", ""
	}
	text, err := fs.ReadFile(a.sources, at.File)
	if lines := strings.Split(string(text), "\n"); err == nil && at.Line <= len(lines) {
		code = strings.TrimSpace(lines[at.Line-1])
	}
	return path.Base(at.String()), code
}

// redis adds the keys, each with its owner and what is left of its lease, and the orders of the ledger.
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

// next adds the options, or how the game has ended. A schedule is never cut, so that it can be copied.
func (s *screen) next(v game.View) {
	switch {
	case len(v.Findings) > 0:
		s.heading(s.say(goalReached))
		s.text(term.Green, s.say(goalFound, "rule", i18n.Text(v.Findings[0].Monitor), "what", v.Findings[0].Text))
		s.text("", v.Score)
		s.add("", s.say(forFriend), "")
		s.lines = append(s.lines, "go run . replay '"+v.Schedule+"'")
	case len(v.Options) == 0:
		s.heading(s.say(whatNext))
		s.text("", s.say(nothingLeft))
	default:
		s.heading(s.say(whatNext))
	}
	for i, o := range v.Options {
		fault := ""
		if o.Fault {
			fault = s.say(aFault)
		}
		s.add("", fmt.Sprintf("%c  %s", choiceKeys[i], o.Text), fault)
	}
}
