// Package engine answers the requests of a page that plays, breaks and searches the
// locks: it runs as WebAssembly in a browser. Requests and answers are JSON; one
// request is answered at a time. It needs no browser, and is tested without one.
package engine

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"testing"

	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
)

// Engine answers requests. A page has one.
type Engine struct {
	t       *testing.T
	sources fs.FS
	force   func(i int)
	game    *game.Game
	played  lock // by the game
}

// New returns an engine in a test, as worlds need one. sources is the repository's own folder.
// force makes the locks run with edit number i of the suite's, from 1, and with none for 0;
// it is nil where the locks are as they stand.
func New(t *testing.T, sources fs.FS, force func(i int)) *Engine {
	return &Engine{t: t, sources: sources, force: force}
}

// Request is what a page asks for. Which fields count depends on Op.
type Request struct {
	Op       string        `json:"op"`
	Lang     i18n.Language `json:"lang,omitempty"`
	Stage    string        `json:"stage,omitempty"` // a column's ID: 3, 6.1
	Edit     string        `json:"edit,omitempty"`  // the ID of an edit of that column
	Goal     string        `json:"goal,omitempty"`  // the name of a property
	Env      string        `json:"env,omitempty"`
	Clients  int           `json:"clients,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Schedule string        `json:"schedule,omitempty"` // its string
	Option   int           `json:"option,omitempty"`
	Failure  string        `json:"failure,omitempty"` // a failure's ID
	Step     int           `json:"step,omitempty"`    // of a failure's run, as it is drawn, from 1
	Bound    int           `json:"bound,omitempty"`   // the highest cost of a search
}

// Progress is how far a long request is.
type Progress struct {
	Done   int `json:"done"`             // schedules, or failures
	Of     int `json:"of,omitempty"`     // 0: not known
	States int `json:"states,omitempty"` // that a search has seen
	Cost   int `json:"cost,omitempty"`   // that a search looks through
}

// Tell gets the progress of a long request. It returns true to end the request, whose answer
// then is what is known so far.
type Tell func(Progress) (stop bool)

// Answer answers a request. The answer to one that is refused has an error.
func (e *Engine) Answer(request []byte, tell Tell) []byte {
	var r Request
	err := json.Unmarshal(request, &r)
	var answer any
	if err == nil {
		answer, err = e.answer(r, tell)
	}
	if err != nil {
		answer = map[string]string{"error": i18n.Words(err, r.Lang)}
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		panic("engine: an answer is always JSON: " + err.Error())
	}
	return raw
}

func (e *Engine) answer(r Request, tell Tell) (any, error) {
	switch r.Op {
	case "lock":
		return e.describe(r)
	case "game", "replay", "take":
		return e.begin(r)
	case "choose", "undo", "restart", "hint", "par":
		return e.play(r, tell)
	case "column":
		return e.column(r, tell)
	case "run":
		return e.run(r)
	case "search":
		return e.search(r, tell)
	}
	return nil, fmt.Errorf("there is no request %q", r.Op)
}

// stop asks tell, of a search.
func stop(tell Tell) func(schedule.Progress) bool {
	return func(p schedule.Progress) bool { return tell(Progress{Done: p.Runs, States: p.States, Cost: p.Bound}) }
}
