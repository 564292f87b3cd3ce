package engine

import (
	"context"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

var noFailure = i18n.New("there is no failure \"{failure}\"")

// Catalogue has the results of all failures on one lock.
type Catalogue struct {
	Cells   []Cell `json:"cells"`
	Stopped bool   `json:"stopped,omitempty"` // stopped before the end
}

// Cell is the result of one failure on one lock.
type Cell struct {
	Failure string        `json:"failure,omitempty"`
	Outcome string        `json:"outcome"`
	Was     string        `json:"was,omitempty"` // the outcome on the lock without the edit, if it differs
	Verdict string        `json:"verdict"`
	Line    string        `json:"line,omitempty"` // the one in Verdict: "mutex.go:87"
	Tone    timeline.Tone `json:"tone,omitempty"`
	Run     *Run          `json:"run,omitempty"`
}

// CellOf returns a verdict for a page, with its run.
func CellOf(v failures.Verdict, of stages.Code, in i18n.Language) Cell {
	c := Cell{Outcome: string(rune(v.Outcome)), Verdict: v.HeadlineIn(in)}
	if v.Trace != nil {
		run := NewRun(v.Trace, v.Findings, of, in)
		c.Run, c.Verdict, c.Tone, c.Line = &run, run.shorten(c.Verdict), v.Tone(), newSources(of).known(v.At())
	}
	return c
}

// catalogue plays all failures on a lock.
func (e *Engine) catalogue(r Request, tell Tell) (Catalogue, error) {
	l, err := e.find(r)
	if err != nil {
		return Catalogue{}, err
	}
	all := Catalogue{Cells: []Cell{}}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	progress := func() {
		if done := len(all.Cells); done < len(catalogue.All) && tell(Progress{Done: done, Of: len(catalogue.All)}) {
			all.Stopped = true
			end()
		}
	}
	progress()
	err = failures.Here(e.t, l.Subject).Play(ctx, failures.Tasks(catalogue.All), func(c failures.Cell) {
		cell := Cell{Failure: c.Failure.ID, Outcome: string(rune(c.Outcome)), Verdict: c.HeadlineIn(r.Lang)}
		if was := l.Expect(c.Failure); was != c.Outcome {
			cell.Was = string(rune(was))
		}
		all.Cells = append(all.Cells, cell)
		progress()
	})
	if all.Stopped {
		err = nil
	}
	return all, err
}

// run plays one failure on a lock.
func (e *Engine) run(r Request) (Cell, error) {
	l, v, err := e.verdict(r)
	if err != nil {
		return Cell{}, err
	}
	return CellOf(v, l.code, r.Lang), nil
}

// verdict plays one failure on a lock.
func (e *Engine) verdict(r Request) (lock, failures.Verdict, error) {
	f, found := catalogue.Find(r.Failure)
	if !found {
		return lock{}, failures.Verdict{}, noFailure.Args("failure", r.Failure)
	}
	l, err := e.find(r)
	if err != nil {
		return l, failures.Verdict{}, err
	}
	return l, failures.Run(e.t, f, l.Subject), nil
}

// search searches for a shortest schedule.
func (e *Engine) search(r Request, tell Tell) (schedule.Answer, error) {
	property, err := schedule.FindProperty(r.Goal)
	if err != nil {
		return schedule.Answer{}, err
	}
	env, err := schedule.FindEnv(r.Env)
	if err != nil {
		return schedule.Answer{}, err
	}
	l, err := e.find(r)
	if err != nil {
		return schedule.Answer{}, err
	}
	setup := schedule.Setup{Subject: l.Subject, Clients: max(2, r.Clients), Attempts: max(1, r.Attempts), Env: env}
	properties := []schedule.Property{property}
	result, err := schedule.Search(e.t, setup, properties, schedule.Limits{Bound: r.Bound, Stop: stop(tell)})
	if err != nil {
		return schedule.Answer{}, err
	}
	answer := result.Answers(setup, properties, 0)[0]
	answer.Text = answer.TextIn(r.Lang)
	return answer, nil
}
