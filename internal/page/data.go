package page

import (
	"encoding/json"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

// content is everything that the page shows.
type content struct {
	Title    string    `json:"title"`
	Total    string    `json:"total"`
	Stages   []stage   `json:"stages"`
	Failures []failure `json:"failures"`
	Lesson   []chapter `json:"lesson,omitempty"`
	Prompts  []prompt  `json:"prompts,omitempty"`
	Part     bool      `json:"part,omitempty"` // some failures are left out
	Others   []other   `json:"others"`         // locks other than the stages, with runs
	Further  []failure `json:"further"`        // failures of the other locks only
	folded
	Locks []lock   `json:"locks,omitempty"` // the locks to play: the stages and the steps between them
	Envs  []string `json:"envs,omitempty"`
	// Goals has the words for each goal.
	Goals map[string]string `json:"goals,omitempty"`
}

// lock is what the page shows of a lock before the engine is loaded.
type lock struct {
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Goals []string `json:"goals"`
}

// playable adds what a page with an engine needs to start a game.
func (c *content) playable(in i18n.Language) {
	for _, s := range stages.All() {
		l := lock{ID: s.ID, Name: s.NameIn(in), Title: s.TitleIn(in)}
		for _, p := range schedule.Properties {
			if p.Suits(s.Subject) {
				l.Goals = append(l.Goals, p.Name)
			}
		}
		c.Locks = append(c.Locks, l)
	}
	for _, e := range schedule.Envs {
		c.Envs = append(c.Envs, e.Name)
	}
	c.Goals = map[string]string{}
	for name, goal := range game.Goals {
		c.Goals[name] = goal.Words.Localize(in)
	}
}

// stage is a lock with its source, which all runs share.
type stage struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"` // as in sentences
	Title  string        `json:"title"`
	Lesson string        `json:"lesson,omitempty"` // what to notice in the difference
	Diff   string        `json:"diff,omitempty"`   // the difference to the lock before
	Files  []stages.File `json:"files"`
}

type failure struct {
	ID     string `json:"id"`
	Family string `json:"family"`
	Title  string `json:"title"`
	Story  string `json:"story"`
	Fixed  string `json:"fixed,omitempty"`
	Lesson bool   `json:"lesson,omitempty"` // it belongs to the story of the stages
	Guard  bool   `json:"guard,omitempty"`  // a guard of the resource is there
	By     string `json:"by,omitempty"`     // what can prevent it, if none of the stages does
	Cells  []cell `json:"cells"`            // one for each stage
}

// cell is one failure on one stage. Without a run it does not apply.
type cell struct {
	engine.Cell
	Search string `json:"search,omitempty"` // the command that finds the shortest schedule of this kind
}

// newStage converts a lock.
func newStage(s stages.Stage, code stages.Code, sources fs.FS, in i18n.Language) (stage, error) {
	shown := stage{ID: s.ID, Name: s.NameIn(in), Title: s.TitleIn(in), Files: code.Files}
	if s.Before == "" {
		return shown, nil
	}
	shown.Lesson = fromTo.Localize(in, "before", stages.MustFind(s.Before).NameText(), "after", s.NameText(), "lesson", i18n.Text(s.Lesson))
	parts, err := s.Diff(sources)
	shown.Diff = strings.Join(parts, "")
	return shown, err
}

// collect converts the verdicts on stages and on other locks into the page's content.
func collect(from Shown, sources fs.FS, in i18n.Language) (content, error) {
	all := content{Title: title.Localize(in), Total: total(from.Rows, in), Part: from.IsPart}
	codes := make([]stages.Code, len(from.Stages))
	for i, c := range from.Stages {
		code, err := c.Code(sources)
		if err != nil {
			return all, err
		}
		shown, err := newStage(c, code, sources, in)
		if err != nil {
			return all, err
		}
		if from.IsPart && len(shown.Diff) > sizeOf(code) { // a lock written anew: "go run . diff" shows it
			shown.Diff = ""
		}
		codes[i] = code
		all.Stages = append(all.Stages, shown)
	}
	for _, row := range from.Rows {
		all.Failures = append(all.Failures, failureOf(from.Stages, row, codes, in))
	}
	var err error
	if all.Others, err = othersOf(from.Others, sources, in); len(from.Others) > 0 {
		for _, f := range catalogue.OfServers {
			all.Further = append(all.Further, newFailure(f, in))
		}
	}
	return all, err
}

func sizeOf(code stages.Code) (n int) {
	for _, f := range code.Files {
		n += len(f.Text)
	}
	return n
}

func failureOf(of []stages.Stage, row []failures.Verdict, codes []stages.Code, in i18n.Language) failure {
	shown := newFailure(row[0].Failure, in)
	for i, v := range row {
		shown.Cells = append(shown.Cells, cell{engine.CellOf(v, codes[i], in), searchFor(v, of[i])})
	}
	return shown
}

// newFailure converts a failure, without its runs.
func newFailure(f catalogue.Failure, in i18n.Language) failure {
	say := func(text string) string { return i18n.Text(text).Localize(in) }
	shown := failure{ID: f.ID, Family: say(string(f.Family)), Title: say(f.Title), Story: say(f.Story), Fixed: say(f.Fixed), Lesson: f.FirstScreen, Guard: f.Guard != "", Cells: []cell{}}
	if f.PreventedBy != "" {
		shown.By = say(string(f.PreventedBy))
	}
	return shown
}

// total returns the counts below the matrix.
func total(rows [][]failures.Verdict, in i18n.Language) string {
	count := map[failures.Outcome]int{}
	runs := 0
	for _, row := range rows {
		for _, v := range row {
			count[v.Outcome]++
			if v.Trace != nil {
				runs++
			}
		}
	}
	return allRuns.Localize(in, "n", runs, "broken", count[failures.Broken], "safe", count[failures.Safe],
		"noticed", count[failures.Noticed], "limit", count[failures.Limit])
}

// folded has what most runs repeat, each once. The runs have its numbers instead; page.js restores
// them.
type folded struct {
	Texts []string      `json:"texts,omitempty"`
	Steps []engine.Step `json:"steps,omitempty"` // their texts are numbers

	numbers map[string]int // of a text or a step
}

// fold replaces each step of the content's runs by a number.
func (c *content) fold() {
	c.numbers = map[string]int{}
	for _, all := range [][]failure{c.Failures, c.Further} {
		for _, f := range all {
			for _, one := range f.Cells {
				c.foldRun(one.Run)
			}
		}
	}
	for _, lock := range c.Others {
		for _, id := range slices.Sorted(maps.Keys(lock.Runs)) {
			c.foldRun(lock.Runs[id].Run)
		}
	}
	for _, one := range c.Lesson {
		for _, p := range one.Parts {
			for i := range p.Answers {
				c.foldRun(&p.Answers[i].Run)
			}
		}
	}
}

func (f *folded) foldRun(run *engine.Run) {
	if run == nil {
		return
	}
	for _, s := range run.Steps {
		for _, text := range []*string{&s.Kind, &s.Text, &s.Says, &s.Redis} {
			*text = f.text(*text)
		}
		for _, lanes := range []*[]string{&s.Does, &s.Lines} {
			var numbered []string // nil means the same as in the step before
			for _, text := range *lanes {
				numbered = append(numbered, f.text(text))
			}
			*lanes = numbered
		}
		run.Folded = append(run.Folded, f.step(s))
	}
	run.Steps = nil
}

// text returns the number of a text, as a text.
func (f *folded) text(text string) string {
	if text == "" {
		return ""
	}
	n, known := f.numbers[text]
	if !known {
		n = len(f.Texts)
		f.numbers[text], f.Texts = n, append(f.Texts, text)
	}
	return strconv.Itoa(n)
}

// step returns the number of a step.
func (f *folded) step(s engine.Step) int {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("page: a step is always JSON: " + err.Error())
	}
	n, known := f.numbers[string(raw)]
	if !known {
		n = len(f.Steps)
		f.numbers[string(raw)], f.Steps = n, append(f.Steps, s)
	}
	return n
}
