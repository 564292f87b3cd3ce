// Package engine answers the requests of a page that plays, edits and searches the locks. It runs
// as WebAssembly in a browser. Requests and answers are JSON, and one request is answered at a time.
// Its tests need no browser.
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
	played  lock // the game's
}

// New returns an engine. Worlds need a test, hence t. sources is the repository's root. force
// activates edit number i of the suite, counted from 1, or none with 0; it is nil if the build has
// no edits.
func New(t *testing.T, sources fs.FS, force func(i int)) *Engine {
	return &Engine{t: t, sources: sources, force: force}
}

// Request is a request of a page. Op decides which fields are used.
type Request struct {
	Op       string        `json:"op"`
	Lang     i18n.Language `json:"lang,omitempty"`
	Stage    string        `json:"stage,omitempty"` // a stage's ID: 3, 6.1
	Edit     string        `json:"edit,omitempty"`  // the ID of an edit of that stage
	Goal     string        `json:"goal,omitempty"`  // the name of a property
	Env      string        `json:"env,omitempty"`
	Clients  int           `json:"clients,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Schedule string        `json:"schedule,omitempty"` // its string
	Option   int           `json:"option,omitempty"`
	Failure  string        `json:"failure,omitempty"` // a failure's ID
	Step     int           `json:"step,omitempty"`    // of a failure's run, as drawn, counted from 1
	Bound    int           `json:"bound,omitempty"`   // the most faults in a search
}

// Progress is the progress of a long request.
type Progress struct {
	Done   int `json:"done"`             // schedules, or failures
	Of     int `json:"of,omitempty"`     // 0: unknown
	States int `json:"states,omitempty"` // seen by a search
	Cost   int `json:"cost,omitempty"`   // the number of faults that a search is at
}

// Tell gets the progress of a long request. If it returns true the request ends, with what is known
// so far.
type Tell func(Progress) (stop bool)

// Answer answers a request. If the request is refused the answer has an error.
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
	case "catalogue":
		return e.catalogue(r, tell)
	case "run":
		return e.run(r)
	case "search":
		return e.search(r, tell)
	}
	return nil, fmt.Errorf("there is no request %q", r.Op)
}

// stop converts tell for a search.
func stop(tell Tell) func(schedule.Progress) bool {
	return func(p schedule.Progress) bool { return tell(Progress{Done: p.Runs, States: p.States, Cost: p.Bound}) }
}
