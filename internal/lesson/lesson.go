// Package lesson is the lesson: chapters that ask before they show. Each answer is a run of a real lock, or
// names a value that is read from a run, so what is right is computed and never written down. The page and
// the terminal show the same chapters.
package lesson

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Chapter is a chapter of the lesson.
type Chapter struct {
	Title, Lead i18n.Text
	Parts       []Part
	Remember    i18n.Text // a sentence
	Entry       string    // the must-know to say aloud, as unlock-why-lua; "" for none
	Next        i18n.Text // the question that leads to the next chapter
}

// Part is a question of a chapter. Its answers differ in what is done, or in the value that they claim of a run.
type Part struct {
	Stage   string            // whose lock runs; "" for New
	New     world.Constructor // a lock of the lesson
	File    string            // of the stage, with the Code; default mutex.go
	Code    []string          // beginnings of lines of the File, in their order; else New in short
	Facts   []i18n.Text       // the situation
	Ask     i18n.Text
	Moves   []i18n.Text // an answer is an order of these
	Answers []Answer
	// Known reports whether an event is the last one of the run that is shown before the question. Up to
	// there, all runs are alike.
	Known func(trace.Event) bool
	// Is reports whether a run is what the question asks for. Without it, Value is what an answer has to claim.
	Is    func(*trace.Trace) bool
	Value func(*trace.Trace) string
	Run   func(*world.World) // the run of every answer without one
	Story string             // the id of a failure, in whose world the part runs; its script is the default Run
}

// Answer is an answer to choose.
type Answer struct {
	Words  i18n.Text
	Before string // the line of Code before which it stands; "" for none
	Line   string // the line of Code that it names, in place of Words
	Order  string // of the moves, as 1324
	Run    func(*world.World)
	With   func(*world.Config) // changes the world of its run, which no other answer shares then
	Claim  string              // with Value
	None   bool                // it claims "none of the others"
	Then   i18n.Text           // said when it has been played
}

// Chapters are all chapters, in order.
var Chapters = []Chapter{chapter0, chapter1, chapter2, chapter3, chapter4, chapter5, chapter6, chapter7, chapter8, chapter9}

func init() {
	for _, c := range Chapters {
		i18n.Register(c.Title, c.Lead, c.Remember, c.Next)
		for _, p := range c.Parts {
			i18n.Register(slices.Concat(p.Facts, p.Moves, []i18n.Text{p.Ask})...)
			for _, a := range p.Answers {
				i18n.Register(a.Words, a.Then)
			}
		}
	}
}

// Played is a part with its runs.
type Played struct {
	Part
	Path  string // of the file with the lines; "" if there is none
	Lines []Line
	Runs  []*Run    // of each answer; several answers may share one
	Right []bool    // for each answer
	Known int       // the number of events of the runs that are shown before the question
	Hint  i18n.Text // after several wrong answers; "" for none
}

// Run is a run of an answer.
type Run struct {
	Trace *trace.Trace
	Found []oracle.Finding
}

// Line is a line of the code, or a place before the next line. The answer of number Place names it.
type Line struct {
	Number int    `json:"number,omitempty"`
	Text   string `json:"text,omitempty"`
	Place  int    `json:"place,omitempty"`
}

// Show returns a line for printing, in two parts: its number, or that of its answer, and the text.
func (p *Played) Show(line Line, in i18n.Language) (head, text string) {
	text = strings.TrimLeft(line.Text, "\t")
	indent := strings.Repeat("    ", len(line.Text)-len(text))
	switch {
	case line.Text == "":
		return fmt.Sprintf("  %d ▸ ", line.Place), p.Answers[line.Place-1].Words.Localize(in)
	case line.Place > 0:
		return fmt.Sprintf("  %d ▸ ", line.Place) + indent, text
	case line.Number > 0:
		return fmt.Sprintf("%6d  ", line.Number) + indent, text
	}
	return "        " + indent, text
}

// Play plays a part. sources has the files of the repository.
func (p Part) Play(t *testing.T, sources fs.FS) (*Played, error) {
	played, rows := &Played{Part: p}, p.Code
	subject := failures.Subject{New: p.New}
	if p.Stage != "" {
		stage, err := stages.FindLock(p.Stage)
		if err != nil {
			return nil, err
		}
		if subject, err = failures.DiscoverScripts(t, stage.Subject); err != nil {
			return nil, err
		}
		files, err := stage.Files(sources)
		if err != nil {
			return nil, err
		}
		file := cmp.Or(p.File, "mutex.go")
		rows = strings.Split(files[file], "\n")
		if len(p.Code) > 0 {
			played.Path = stage.Dir + "/" + file
		}
	}
	base := subject.Config()
	if p.Story != "" {
		f, _ := catalogue.Find(p.Story)
		base = subject.ConfigFor(f)
		if p.Run == nil {
			p.Run = f.Script
		}
	}
	var err error
	if played.Lines, err = p.lines(rows); err != nil {
		return nil, err
	}
	var shared *Run
	for i, a := range p.Answers {
		run := shared
		if a.Run != nil || a.With != nil || run == nil {
			script, config := a.Run, base
			if script == nil {
				script = p.Run
			}
			if a.With != nil {
				a.With(&config)
				if _, config.Scripts, err = world.Discover(t, config); err != nil {
					return nil, fmt.Errorf("lesson: the lock of answer %d of %q: %w", i+1, p.Ask, err)
				}
			}
			tr, err := world.Run(t, config, script)
			if err != nil {
				return nil, fmt.Errorf("lesson: answer %d of %q: %w", i+1, p.Ask, err)
			}
			run = &Run{tr, oracle.Ask(tr, oracle.Exclusion, oracle.Damage)}
		}
		if a.Run == nil && a.With == nil {
			shared = run
		}
		played.Runs = append(played.Runs, run)
	}
	played.judge(1 + slices.IndexFunc(played.Runs[0].Trace.Events, p.isLastKnown))
	return played, nil
}

// On returns the part about a run that was played before, of which so many events are shown before the question.
// It is the run of each answer.
func (p Part) On(run *Run, known int) *Played {
	played := &Played{Part: p, Runs: slices.Repeat([]*Run{run}, len(p.Answers))}
	played.judge(known)
	return played
}

// judge finds the right answers.
func (p *Played) judge(known int) {
	p.Known = known
	for _, run := range p.Runs { // a finding before the question would give it away
		run.Found = slices.DeleteFunc(run.Found, func(f oracle.Finding) bool { return f.Shown() <= known })
	}
	for i := range p.Answers {
		p.Right = append(p.Right, p.isRight(i))
	}
}

func (p Part) isLastKnown(e trace.Event) bool { return p.Known != nil && p.Known(e) }

// isRight reports whether an answer is right, by its run.
func (p *Played) isRight(i int) bool {
	a, run := p.Answers[i], p.Runs[i]
	switch {
	case p.Value != nil:
		return a.Claim == p.Value(run.Trace)
	case a.None:
		return !slices.ContainsFunc(p.Runs, func(r *Run) bool { return p.Is(r.Trace) })
	}
	return p.Is(run.Trace)
}

// PlayAll plays all chapters.
func PlayAll(t *testing.T, sources fs.FS) (all [][]*Played, err error) {
	for _, c := range Chapters {
		var parts []*Played
		for _, p := range c.Parts {
			played, err := p.Play(t, sources)
			if err != nil {
				return nil, err
			}
			parts = append(parts, played)
		}
		all = append(all, parts)
	}
	return all, nil
}

// ToPlay returns the answers whose runs are played when one is chosen: its own, or all others if it is a right
// "none of the others".
func (p *Played) ToPlay(chosen int) (all []int) {
	if !p.Answers[chosen].None || !p.Right[chosen] {
		return []int{chosen}
	}
	for i := range p.Answers {
		if i != chosen {
			all = append(all, i)
		}
	}
	return all
}

// Find returns the index of the answer that a reader names, by its number or by its order of the moves; -1 if
// no answer has that name.
func (p *Played) Find(name string) int {
	for i, a := range p.Answers {
		if name == cmp.Or(a.Order, strconv.Itoa(i+1)) {
			return i
		}
	}
	return -1
}

// lines returns those of the rows that the part shows, with the places between them.
func (p Part) lines(rows []string) (all []Line, err error) {
	at := -1
	for _, begins := range p.Code {
		if i := slices.IndexFunc(p.Answers, func(a Answer) bool { return a.Before == begins }); i >= 0 {
			all = append(all, Line{Place: i + 1})
		}
		next := slices.IndexFunc(rows[at+1:], func(row string) bool { return strings.HasPrefix(strings.TrimLeft(row, "\t"), begins) })
		if next < 0 {
			return nil, fmt.Errorf("lesson: no line begins with %q", begins)
		}
		at += 1 + next
		text, _, _ := strings.Cut(rows[at], " //") // a comment tells too much
		line := Line{Text: text}
		line.Place = 1 + slices.IndexFunc(p.Answers, func(a Answer) bool { return a.Line == begins })
		if p.Stage != "" {
			line.Number = at + 1
		}
		all = append(all, line)
	}
	for len(all) > 0 && !slices.ContainsFunc(all, func(l Line) bool { return l.Text != "" && l.Text[0] != '\t' }) { // all are indented
		for i := range all {
			all[i].Text = strings.TrimPrefix(all[i].Text, "\t")
		}
	}
	return all, nil
}
