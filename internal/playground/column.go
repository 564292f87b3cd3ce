package playground

import (
	"cmp"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
	"lockkata/internal/texts"
)

var noFailure = texts.New("there is no failure \"{failure}\"")

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
			return nil, noFailure.With("failure", id)
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
	if c.Subject, err = e.rehearse(c.Subject); err != nil {
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
		cell := Cell{Failure: f.ID, Outcome: string(rune(v.Outcome)), Verdict: v.HeadlineIn(r.Lang)}
		if was := c.Expect(f); of.isEdited && was != v.Outcome {
			cell.Was = string(rune(was))
		}
		all.Cells = append(all.Cells, cell)
		if r.Required == nil || v.Outcome.IsGood() {
			continue
		}
		if v.Outcome != failures.NotTold {
			all.Red = f.ID
			break
		}
		all.Red = cmp.Or(all.Red, f.ID) // what breaks later on says more than a story that could not happen
	}
	return all, nil
}

// run plays one failure on a lock.
func (e *Engine) run(r Request) (Cell, error) {
	_, of, v, err := e.played(r)
	if err != nil {
		return Cell{}, err
	}
	return CellOf(v, of.Code, r.Lang), nil
}

// played plays one failure on a lock.
func (e *Engine) played(r Request) (columns.Column, code, failures.Verdict, error) {
	f, found := failures.Find(r.Failure)
	c, of, err := e.find(r)
	if err == nil && !found {
		err = noFailure.With("failure", r.Failure)
	}
	if err == nil {
		c.Subject, err = e.rehearse(c.Subject)
	}
	if err != nil {
		return c, of, failures.Verdict{}, err
	}
	return c, of, failures.Run(e.t, f, c.Subject), nil
}

// search looks for a shortest schedule.
func (e *Engine) search(r Request, tell Tell) (schedule.Answer, error) {
	c, _, err := e.find(r)
	if err != nil {
		return schedule.Answer{}, err
	}
	property, err := schedule.FindProperty(r.Goal)
	if err != nil {
		return schedule.Answer{}, err
	}
	env, err := schedule.FindEnv(r.Env)
	if err != nil {
		return schedule.Answer{}, err
	}
	if c.Subject, err = e.rehearse(c.Subject); err != nil {
		return schedule.Answer{}, err
	}
	setup := schedule.Setup{Subject: c.Subject, Clients: max(2, r.Clients), Attempts: max(1, r.Attempts), Env: env}
	properties := []schedule.Property{property}
	result, err := schedule.Search(e.t, setup, properties, schedule.Limits{Bound: r.Bound, Stop: stop(tell)})
	if err != nil {
		return schedule.Answer{}, err
	}
	answer := result.Answers(setup, properties, 0)[0]
	answer.Text = answer.TextIn(r.Lang)
	return answer, nil
}
