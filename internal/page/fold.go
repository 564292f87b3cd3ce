package page

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"lockkata/internal/page/engine"
)

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
