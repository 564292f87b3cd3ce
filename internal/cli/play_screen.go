package cli

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"lockkata/failures_test/world"
	"lockkata/internal/game"
	"lockkata/internal/term"
	"lockkata/internal/texts"
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
		{text: capital(v.Lock) + ": " + v.Title, style: term.Bold},
		{text: fmt.Sprintf("Goal:    %s (%s).", v.Goal.Words, v.Goal.Name), style: term.Bold},
		{text: indent + v.ParSays},
	}
	head := "World:   "
	for _, line := range term.Wrap(fmt.Sprintf("%s (%s).", v.Env.Words, v.Env.Name), screenWidth-len(indent)) {
		lines = append(lines, screenLine{text: head + line, style: term.Dim, spare: 2})
		head = indent
	}
	lines = append(append(lines, heading("clients")), a.clientLines(v.Clients)...)
	lines = append(append(lines, heading(fmt.Sprintf("Redis, at %s: K is %s", term.Clock(v.Now), v.Key))), redisLines(v)...)
	lines = append(lines, screenLine{text: "ledger   " + ledgerText(v.Orders), style: term.Yellow})
	if len(v.Happened) > 0 {
		lines = append(lines, heading("just now"))
		for i, line := range firstLines(strings.Join(v.Happened, " "), 2) {
			lines = append(lines, screenLine{text: line, spare: i})
		}
	}
	return a.paintLines(fit(append(lines, nextLines(v, note)...)))
}

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
				lines = append(lines, screenLine{text: beside("  "+mark+" beside: "+f.Text, place(f.Source)), style: style})
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
func redisLines(v game.View) (lines []screenLine) {
	if len(v.Keys) == 0 {
		return []screenLine{{text: "no key", style: term.Cyan}}
	}
	for _, k := range v.Keys {
		line := screenLine{text: fmt.Sprintf("K %-14s no lease: it stays", k.Owner), style: term.Red}
		if !k.Stays {
			full := min(barWidth, int((k.Left*barWidth+v.Lease-1)/v.Lease))
			bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
			line = screenLine{text: fmt.Sprintf("K %-14s %s %s left", k.Owner, bar, term.Clock(k.Left)), style: term.Cyan}
		}
		lines = append(lines, line)
	}
	return lines
}

func ledgerText(orders []world.Order) string {
	var said []string
	for _, o := range orders {
		said = append(said, o.Name+" by "+o.Client)
	}
	if len(said) == 0 {
		return "empty"
	}
	return strings.Join(said, ", ")
}

// nextLines are the options, or the verdict, then the note and the keys.
func nextLines(v game.View, note string) (lines []screenLine) {
	switch {
	case len(v.Findings) > 0:
		lines = verdict(v)
	case len(v.Options) == 0:
		lines = append(lines, heading("the end"),
			screenLine{text: "Nothing is left to choose, and the goal is not reached: undo, or restart."})
	default:
		lines = append(lines, heading("what next?"))
		for i, o := range v.Options {
			text := strings.TrimSuffix(o.Text+". "+o.Brings, ". ")
			lines = append(lines, screenLine{text: beside(fmt.Sprintf("%c  %s", choiceKeys[i], text), price(o))})
		}
	}
	if note != "" {
		for _, line := range firstLines(note, 2) {
			lines = append(lines, screenLine{text: line, style: term.Yellow})
		}
	}
	keys := "u undo   r restart   h hint   q quit"
	if len(v.Options) == 0 {
		keys = "u undo   r restart   q quit"
	}
	return append(lines, screenLine{text: beside(keys, game.Length(v.Cost, v.Steps, texts.English)), style: term.Dim})
}

func price(o game.Option) string {
	if o.Cost == 0 {
		return ""
	}
	return fmt.Sprintf("costs %d", o.Cost)
}

// verdict says that the goal is reached, how well, and what a friend needs.
func verdict(v game.View) []screenLine {
	lines := []screenLine{heading("the goal is reached")}
	for _, line := range firstLines(fmt.Sprintf("✓ %s: %s.", v.Findings[0].Monitor, v.Findings[0].Text), 2) {
		lines = append(lines, screenLine{text: line, style: term.Green})
	}
	for _, line := range firstLines(v.Score, 2) {
		lines = append(lines, screenLine{text: line})
	}
	return append(lines, screenLine{text: "For a friend:"}, screenLine{text: "go run . replay '" + v.Schedule + "'"})
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
		if l.style != "" {
			text = a.color.Paint(l.style, text)
		}
		all = append(all, text)
	}
	return all
}
