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

// A screen fits the smallest terminal that anybody has.
const (
	screenWidth  = 80
	screenHeight = 24
)

// indent is what stands before a text that goes on.
const indent = "         "

// screenLine is a line that is left out, the higher spare the sooner, where a screen
// would be too high.
type screenLine struct {
	text  string
	style term.Style
	spare int
}

// screen is a position as lines, with a note to the player.
func (a *app) screen(v game.View, note string) []string {
	lines := []screenLine{
		{text: a.say(lockPlayed, "lock", capital(v.Lock), "title", v.Title), style: term.Bold},
		{text: term.Pad(a.say(goalHead), len(indent)) + a.say(named, "words", v.Goal.Words, "name", v.Goal.Name), style: term.Bold},
		{text: indent + v.ParSays},
	}
	world := a.say(named, "words", v.Env.Words, "name", v.Env.Name)
	for _, line := range term.Beside(term.Pad(a.say(worldHead), len(indent)), world, screenWidth) {
		lines = append(lines, screenLine{text: line, style: term.Dim, spare: 2})
	}
	lines = append(append(lines, heading(a.say(clientsHead))), a.clientLines(v.Clients)...)
	lines = append(append(lines, heading(a.say(redisHead, "time", term.Clock(v.Now), "key", v.Key))), a.redisLines(v)...)
	lines = append(lines, screenLine{text: term.Pad(a.say(ledgerHead), len(indent)) + a.ledgerText(v.Orders), style: term.Yellow})
	if len(v.Happened) > 0 {
		lines = append(lines, heading(a.say(justNow)))
		for i, line := range firstLines(strings.Join(v.Happened, " "), 2) {
			lines = append(lines, screenLine{text: line, spare: i})
		}
	}
	return a.paintLines(fit(append(lines, a.nextLines(v, note)...)))
}

// What stands on a screen.
var (
	lockPlayed   = i18n.New("{lock}: {title}")
	goalHead     = i18n.New("Goal:")
	worldHead    = i18n.New("World:")
	named        = i18n.New("{words} ({name}).")
	clientsHead  = i18n.New("clients")
	redisHead    = i18n.New("Redis, at {time}: K is {key}")
	ledgerHead   = i18n.New("ledger")
	justNow      = i18n.New("just now")
	besideIt     = i18n.New("beside: {what}")
	keyNone      = i18n.New("no key")
	keyStays     = i18n.New("no lease: it stays")
	leaseLeft    = i18n.New("{bar} {time} left")
	orderOf      = i18n.New("{order} by {client}")
	ledgerEmpty  = i18n.New("empty")
	theEnd       = i18n.New("the end")
	nothingLeft  = i18n.New("Nothing is left to choose, and the goal is not reached: undo, or restart.")
	brings       = i18n.New("{what}. {then}")
	whatNext     = i18n.New("what next?")
	keysToPress  = i18n.New("u undo   r restart   h hint   q quit")
	keysAfterEnd = i18n.New("u undo   r restart   q quit")
	costs        = i18n.New("costs {n}")
	goalReached  = i18n.New("the goal is reached")
	goalFound    = i18n.New("✓ {rule}: {what}.")
	forFriend    = i18n.New("For a friend:")
)

func heading(text string) screenLine {
	text = "── " + text + " "
	return screenLine{text: text + strings.Repeat("─", max(0, screenWidth-term.Columns(text))), style: term.Dim}
}

// clientLines are, for each client, what it does and the line of code that does it.
func (a *app) clientLines(clients []game.Client) (lines []screenLine) {
	for _, c := range clients {
		mark, style := markOf(c)
		lines = append(lines, screenLine{text: beside(c.Name+" "+mark+" "+c.Does, place(c.Source)), style: style})
		if code := a.sourceLine(c.Source); code != "" {
			lines = append(lines, screenLine{text: "  " + mark + "   " + code, style: term.Dim, spare: 3})
		}
		for _, f := range c.Flights {
			if f.Background {
				lines = append(lines, screenLine{text: beside("  "+mark+" "+a.say(besideIt, "what", f.Text), place(f.Source)), style: style})
			}
		}
	}
	return lines
}

// markOf is what stands beside a client's name.
func markOf(c game.Client) (string, term.Style) {
	switch {
	case c.Dead:
		return "†", term.Dim
	case c.Frozen:
		return "░", term.Yellow
	case c.Beside:
		return "║", term.Red
	case c.Inside:
		return "│", term.Green
	}
	return " ", ""
}

// place is mutex.go:57.
func place(at *world.Source) string {
	if at == nil || at.File == "" {
		return ""
	}
	return path.Base(at.String())
}

// sourceLine is a line of the lock's code, "" if nobody has it.
func (a *app) sourceLine(at *world.Source) string {
	if at == nil || at.File == "" {
		return ""
	}
	text, err := fs.ReadFile(a.sources, at.File)
	if lines := strings.Split(string(text), "\n"); err == nil && at.Line <= len(lines) {
		return strings.TrimSpace(lines[at.Line-1])
	}
	return ""
}

const barWidth = 30

// redisLines are the keys, each with its owner and what is left of its lease.
func (a *app) redisLines(v game.View) (lines []screenLine) {
	if len(v.Keys) == 0 {
		return []screenLine{{text: a.say(keyNone), style: term.Cyan}}
	}
	for _, k := range v.Keys {
		line := screenLine{text: fmt.Sprintf("K %-14s %s", k.Owner, a.say(keyStays)), style: term.Red}
		if !k.Stays {
			full := min(barWidth, int((k.Left*barWidth+v.Lease-1)/v.Lease))
			bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
			line = screenLine{text: fmt.Sprintf("K %-14s %s", k.Owner, a.say(leaseLeft, "bar", bar, "time", term.Clock(k.Left))), style: term.Cyan}
		}
		lines = append(lines, line)
	}
	return lines
}

func (a *app) ledgerText(orders []world.Order) string {
	var said []string
	for _, o := range orders {
		said = append(said, a.say(orderOf, "order", o.Name, "client", o.Client))
	}
	if len(said) == 0 {
		return a.say(ledgerEmpty)
	}
	return strings.Join(said, ", ")
}

// nextLines are the options, or the verdict, then the note and the keys.
func (a *app) nextLines(v game.View, note string) (lines []screenLine) {
	switch {
	case len(v.Findings) > 0:
		lines = a.goalLines(v)
	case len(v.Options) == 0:
		lines = append(lines, heading(a.say(theEnd)),
			screenLine{text: a.say(nothingLeft)})
	default:
		lines = append(lines, heading(a.say(whatNext)))
		for i, o := range v.Options {
			text := o.Text
			if o.Brings != "" {
				text = a.say(brings, "what", o.Text, "then", o.Brings)
			}
			lines = append(lines, screenLine{text: beside(fmt.Sprintf("%c  %s", choiceKeys[i], text), a.price(o))})
		}
	}
	if note != "" {
		for _, line := range firstLines(note, 2) {
			lines = append(lines, screenLine{text: line, style: term.Yellow})
		}
	}
	keys := keysToPress
	if len(v.Options) == 0 {
		keys = keysAfterEnd
	}
	return append(lines, screenLine{text: beside(a.say(keys), game.Length(v.Cost, v.Steps, a.lang)), style: term.Dim})
}

func (a *app) price(o game.Option) string {
	if o.Cost == 0 {
		return ""
	}
	return a.say(costs, "n", o.Cost)
}

// goalLines say that the goal is reached, how well, and what a friend needs.
func (a *app) goalLines(v game.View) []screenLine {
	lines := []screenLine{heading(a.say(goalReached))}
	for _, line := range firstLines(a.say(goalFound, "rule", i18n.Text(v.Findings[0].Monitor), "what", v.Findings[0].Text), 2) {
		lines = append(lines, screenLine{text: line, style: term.Green})
	}
	for _, line := range firstLines(v.Score, 2) {
		lines = append(lines, screenLine{text: line})
	}
	return append(lines, screenLine{text: a.say(forFriend)}, screenLine{text: "go run . replay '" + v.Schedule + "'"})
}

// beside puts two texts onto one line, the second at its end.
func beside(left, right string) string {
	if right == "" {
		return left
	}
	width := screenWidth - term.Columns(right) - 2
	return term.Pad(term.Clip(left, width), width+2) + right
}

// firstLines wraps a text, and leaves out what needs more lines.
func firstLines(text string, most int) []string {
	lines := term.Wrap(text, screenWidth)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = term.Clip(lines[most-1]+" …", screenWidth)
	}
	return lines
}

// fit leaves out what can be spared until the lines are few enough.
func fit(lines []screenLine) []screenLine {
	for len(lines) > screenHeight {
		sparest := 0
		for i, l := range lines {
			if l.spare > 0 && l.spare >= lines[sparest].spare {
				sparest = i
			}
		}
		if lines[sparest].spare == 0 {
			return lines
		}
		lines = append(lines[:sparest:sparest], lines[sparest+1:]...)
	}
	return lines
}

// paintLines are the lines as they are printed. A schedule is never cut: somebody
// wants to copy it.
func (a *app) paintLines(lines []screenLine) []string {
	var all []string
	for _, l := range lines {
		text := l.text
		if !strings.HasPrefix(text, "go run . replay ") {
			text = term.Clip(text, screenWidth)
		}
		all = append(all, a.color.Paint(l.style, text))
	}
	return all
}
