// Package playground answers the requests of a page that plays, breaks and searches the
// locks: it is what runs as WebAssembly in a browser. Requests and answers are JSON; one
// request is answered at a time. It needs no browser, and is tested without one.
package playground

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"testing"

	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/playground/interpreter"
	"lockkata/internal/texts"
)

// Engine answers requests. A page has one.
type Engine struct {
	locks
	game *game.Game
	code code           // of the game's lock
	lang texts.Language // of the newest request
}

// New is an engine in a test, as worlds need one. sources is the repository's own folder.
// force makes the locks run with edit number i of the suite's, from 1, and with none for 0;
// it is nil where the locks are as they stand.
func New(t *testing.T, sources fs.FS, force func(i int)) *Engine {
	return &Engine{locks: locks{t: t, sources: sources, force: force}}
}

// Request is what a page asks for. Which fields count depends on Op.
type Request struct {
	Op       string         `json:"op"`
	Lang     texts.Language `json:"lang,omitempty"`
	Stage    string         `json:"stage,omitempty"` // a column's ID: 3, 6.1
	Edit     string         `json:"edit,omitempty"`  // the IDs of edits of that column, with a + between them
	Goal     string         `json:"goal,omitempty"`  // the name of a property
	Env      string         `json:"env,omitempty"`
	Clients  int            `json:"clients,omitempty"`
	Attempts int            `json:"attempts,omitempty"`
	Schedule string         `json:"schedule,omitempty"` // its string
	Option   int            `json:"option,omitempty"`
	Failure  string         `json:"failure,omitempty"` // a failure's ID
	Step     int            `json:"step,omitempty"`    // of a failure's run, as it is drawn, from 1
	Bound    int            `json:"bound,omitempty"`   // the highest cost of a search
	// Required are the failures that a column is to survive, in this order: it ends at the
	// first one that it does not. Without them it is about all.
	Required []string `json:"required,omitempty"`
	// Files are a lock that a visitor wrote in place of the column's, by their names.
	Files map[string]string `json:"files,omitempty"`
}

// Progress is how far a long request is.
type Progress struct {
	Done   int `json:"done"`             // schedules, or failures
	Of     int `json:"of,omitempty"`     // 0: nobody knows
	States int `json:"states,omitempty"` // that a search has seen
	Cost   int `json:"cost,omitempty"`   // that a search looks through
	// Failure is the one that is played next.
	Failure string `json:"failure,omitempty"`
}

// Tell is told how far a long request is; true ends it. What is known by then is answered.
type Tell func(Progress) (stop bool)

// fault is the answer to a request that cannot be answered.
type fault struct {
	Error    string                `json:"error"`
	Problems []interpreter.Problem `json:"problems,omitempty"` // of a lock that a visitor wrote
}

// Answer answers a request.
func (e *Engine) Answer(request []byte, tell Tell) []byte {
	var r Request
	err := json.Unmarshal(request, &r)
	e.lang = r.Lang
	var answer any
	if err == nil {
		answer, err = e.answer(r, tell)
		err = cmp.Or(e.trouble(), err)
	}
	if err != nil {
		answer = fault{Error: texts.Words(err, r.Lang), Problems: problemsOf(err).all(r.Lang)}
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		panic("playground: an answer is always JSON: " + err.Error())
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
