package cli

import (
	"fmt"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/failures_test/world"
	"lockkata/internal/quiz"
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

// screen is a position as lines.
func (g *game) screen(m position) ([]string, error) {
	lines := []screenLine{
		{text: capital(g.stage.Name()) + ": " + g.stage.Title, style: term.Bold},
		{text: fmt.Sprintf("Goal:    %s (%s).", goals[g.setup.Property.Name].words, g.setup.Property.Name), style: term.Bold},
		{text: indent + g.par.String()},
	}
	head := "World:   "
	for _, line := range term.Wrap(fmt.Sprintf("%s (%s).", g.setup.Env.About, g.setup.Env.Name), screenWidth-len(indent)) {
		lines = append(lines, screenLine{text: head + line, style: term.Dim, spare: 2})
		head = indent
	}
	scene := quiz.End(m.Trace)
	lines = append(append(lines, heading("clients")), g.clientLines(m, scene)...)
	lines = append(append(lines, heading(fmt.Sprintf("Redis, at %s: K is %s", term.Clock(m.now()), g.key))), redisLines(m, scene)...)
	lines = append(lines, screenLine{text: "ledger   " + ledgerText(scene), style: term.Yellow})
	if said := story(m.Last()); said != "" {
		lines = append(lines, heading("just now"))
		for i, line := range firstLines(g.brief(said), 2) {
			lines = append(lines, screenLine{text: line, spare: i})
		}
	}
	next, err := g.nextLines(m)
	if err != nil {
		return nil, err
	}
	lines = append(lines, next...)
	return g.paintLines(fit(lines)), nil
}

func heading(text string) screenLine {
	text = "── " + text + " "
	return screenLine{text: text + strings.Repeat("─", max(0, screenWidth-term.Columns(text))), style: term.Dim}
}

// clientLines are, for each client, what it does and the line of code that does it.
func (g *game) clientLines(m position, scene *world.Scene) (lines []screenLine) {
	for _, l := range lanesAt(m, scene) {
		text, at := l.doing()
		if l.Frozen {
			text = "stands still: " + text
		}
		mark := l.mark(len(scene.Insiders()))
		style := map[string]term.Style{"│": term.Green, "║": term.Red, "░": term.Yellow, "†": term.Dim}[mark]
		lines = append(lines, screenLine{text: beside(l.name+" "+mark+" "+g.brief(text), place(at)), style: style})
		if code := g.app.sourceLine(at); code != "" {
			lines = append(lines, screenLine{text: "  " + mark + "   " + code, style: term.Dim, spare: 3})
		}
		for _, f := range l.flights {
			if f.Background {
				lines = append(lines, screenLine{text: beside("  "+mark+" beside: "+g.brief(f.text()), place(f.Source)), style: style})
			}
		}
	}
	return lines
}

const barWidth = 30

// redisLines are the keys, each with its owner and what is left of its lease.
func redisLines(m position, scene *world.Scene) (lines []screenLine) {
	if len(scene.Keys) == 0 {
		return []screenLine{{text: "no key", style: term.Cyan}}
	}
	for _, k := range scene.Keys {
		owner := k.Value
		if k.Owner.Label != "" && !strings.HasPrefix(owner, k.Owner.Label) {
			owner += " (" + k.Owner.Label + ")"
		}
		line := screenLine{text: fmt.Sprintf("K %-14s no lease: it stays", owner), style: term.Red}
		if k.TTL != world.NoTTL {
			left := max(0, k.TTL-(m.now()-scene.KeysAt))
			full := min(barWidth, int((left*barWidth+m.Trace.Lease-1)/m.Trace.Lease))
			bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
			line = screenLine{text: fmt.Sprintf("K %-14s %s %s left", owner, bar, term.Clock(left)), style: term.Cyan}
		}
		lines = append(lines, line)
	}
	return lines
}

func ledgerText(scene *world.Scene) string {
	var orders []string
	for _, o := range scene.Orders {
		orders = append(orders, o.Name+" by "+o.Client)
	}
	if len(orders) == 0 {
		return "empty"
	}
	return strings.Join(orders, ", ")
}

// nextLines are the choices, or the verdict, and the keys.
func (g *game) nextLines(m position) ([]screenLine, error) {
	var lines []screenLine
	switch {
	case len(m.found) > 0:
		lines = append(lines, g.verdict(m)...)
	case len(m.Next()) == 0:
		lines = append(lines, heading("the end"),
			screenLine{text: "Nothing is left to choose, and the goal is not reached: undo, or restart."})
	default:
		lines = append(lines, heading("what next?"))
		for i, o := range m.Next() {
			text, err := g.choice(o, m)
			if err != nil {
				return nil, err
			}
			lines = append(lines, screenLine{text: beside(fmt.Sprintf("%c  %s", choiceKeys[i], g.brief(text)), price(o))})
		}
	}
	if g.note != "" {
		lines = append(lines, screenLine{text: g.note, style: term.Yellow})
	}
	keys := "u undo   r restart   h hint   q quit"
	if len(g.choices(m)) == 0 {
		keys = "u undo   r restart   q quit"
	}
	return append(lines, screenLine{text: beside(keys, length(m.Cost(), len(m.Schedule))), style: term.Dim}), nil
}

func price(o schedule.Option) string {
	if o.Cost == 0 {
		return ""
	}
	return fmt.Sprintf("costs %d", o.Cost)
}

// verdict says that the goal is reached, how well, and what a friend needs.
func (g *game) verdict(m position) []screenLine {
	broken := firstLines(fmt.Sprintf("✓ %s: %s.", m.found[0].Monitor, g.brief(m.found[0].Text)), 2)
	lines := []screenLine{heading("the goal is reached")}
	for _, line := range broken {
		lines = append(lines, screenLine{text: line, style: term.Green})
	}
	for _, line := range firstLines(g.score(m), 2) {
		lines = append(lines, screenLine{text: line})
	}
	return append(lines,
		screenLine{text: "For a friend:"},
		screenLine{text: "go run . replay '" + schedule.Text(g.setup, m.Schedule) + "'"})
}

// score compares the player's way with the shortest.
func (g *game) score(m position) string {
	text := fmt.Sprintf("You needed %s", length(m.Cost(), len(m.Schedule)))
	switch p := g.par; {
	case !p.isFound:
		text += "; no way was known."
	case p.cost < m.Cost() && p.steps > len(m.Schedule):
		text += fmt.Sprintf("; the way that costs least has %d, of which %d cost.", p.steps, p.cost)
	case p.isShortest:
		text += fmt.Sprintf("; the shortest way has %d, of which %d cost.", p.steps, p.cost)
	default:
		text += fmt.Sprintf("; the shortest that was known has %d, of which %d cost.", p.steps, p.cost)
	}
	if g.hints > 0 {
		text += fmt.Sprintf(" You took %s.", count(g.hints, "hint"))
	}
	return text
}

// brief writes K for the lock's key.
func (g *game) brief(text string) string { return strings.ReplaceAll(text, g.key, "K") }

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
func (g *game) paintLines(lines []screenLine) []string {
	var all []string
	for _, l := range lines {
		text := l.text
		if !strings.HasPrefix(text, "go run . replay ") {
			text = term.Clip(text, screenWidth)
		}
		if l.style != "" {
			text = g.app.color.Paint(l.style, text)
		}
		all = append(all, text)
	}
	return all
}
