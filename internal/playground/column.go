package playground

import (
	"errors"
	"fmt"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
)

// Column is the catalogue on one lock.
type Column struct {
	Cells   []Cell `json:"cells"`
	Stopped bool   `json:"stopped,omitempty"` // before all were played
	Red     string `json:"red,omitempty"`     // the failure that is required, and not survived
}

// asked are the failures that a column is about.
func (r Request) asked() ([]failures.Failure, error) {
	if len(r.Required) == 0 {
		return failures.All, nil
	}
	var some []failures.Failure
	for _, id := range r.Required {
		f, found := failures.Find(id)
		if !found {
			return nil, fmt.Errorf("there is no failure %q", id)
		}
		some = append(some, f)
	}
	return some, nil
}

// column plays the catalogue on a lock, or what is required of it.
func (e *Engine) column(r Request, tell Tell) (Column, error) {
	all := Column{Cells: []Cell{}}
	c, of, err := e.find(r)
	if err != nil {
		return all, err
	}
	if c.Subject, err = failures.DiscoverScripts(e.t, c.Subject); err != nil {
		return all, err
	}
	asked, err := r.asked()
	if err != nil {
		return all, err
	}
	for i, f := range asked {
		if tell(Progress{Done: i, Of: len(asked), Failure: f.ID}) {
			all.Stopped = true
			break
		}
		v := failures.Run(e.t, f, c.Subject)
		cell := Cell{Failure: f.ID, Outcome: string(rune(v.Outcome)), Verdict: v.Headline()}
		if was := c.Expect(f); of.edit > 0 && was != v.Outcome {
			cell.Was = string(rune(was))
		}
		all.Cells = append(all.Cells, cell)
		if r.Required != nil && !v.Outcome.IsGood() {
			all.Red = f.ID
			break
		}
	}
	return all, nil
}

// run plays one failure on a lock.
func (e *Engine) run(r Request) (Cell, error) {
	_, of, v, err := e.played(r)
	if err != nil {
		return Cell{}, err
	}
	return CellOf(v, of.Code), nil
}

// played plays one failure on a lock.
func (e *Engine) played(r Request) (columns.Column, code, failures.Verdict, error) {
	f, found := failures.Find(r.Failure)
	c, of, err := e.find(r)
	if !found {
		err = errors.Join(err, fmt.Errorf("there is no failure %q", r.Failure))
	}
	if err == nil {
		c.Subject, err = failures.DiscoverScripts(e.t, c.Subject)
	}
	if err != nil {
		return c, of, failures.Verdict{}, err
	}
	return c, of, failures.Run(e.t, f, c.Subject), nil
}

// Search is what a search found.
type Search struct {
	schedule.Answer
	Says string `json:"says"`
}

// search looks for a shortest schedule.
func (e *Engine) search(r Request, tell Tell) (Search, error) {
	c, _, err := e.find(r)
	if err != nil {
		return Search{}, err
	}
	property, err := schedule.FindProperty(r.Goal)
	if err != nil {
		return Search{}, err
	}
	env, err := schedule.FindEnv(r.Env)
	if err != nil {
		return Search{}, err
	}
	if c.Subject, err = failures.DiscoverScripts(e.t, c.Subject); err != nil {
		return Search{}, err
	}
	setup := schedule.Setup{Subject: c.Subject, Clients: max(2, r.Clients), Attempts: max(1, r.Attempts), Env: env}
	properties := []schedule.Property{property}
	result, err := schedule.Search(e.t, setup, properties, schedule.Limits{Bound: r.Bound, Stop: stop(tell)})
	if err != nil {
		return Search{}, err
	}
	answer := result.Answers(setup, properties, 0)[0]
	return Search{answer, answer.String()}, nil
}
