package playground

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/failures_test/timeline"
	"lockkata/internal/columns"
	"lockkata/internal/edits"
	"lockkata/internal/game"
	"lockkata/internal/texts"
)

var noEdit = texts.New("there is no edit \"{edit}\" of {lock}")

// locks are the locks that there are: the columns, as they stand and edited.
type locks struct {
	t       *testing.T
	sources fs.FS
	force   func(i int)
	written *written // by a visitor: the lock of the newest request, or of the game
	seen    *command // its newest one when that was last asked for
}

// code is the source of a lock, and the edit that is in it.
type code struct {
	timeline.Code
	edit     int // the number of the edit that is compiled in, from 1; 0: none
	isEdited bool
}

// find finds the lock of a column, with the edits that are named, and puts it in force. A lock
// that a visitor wrote stands for the column's.
func (l *locks) find(r Request) (columns.Column, code, error) {
	c, err := columns.Find(r.Stage)
	if err != nil {
		return c, code{}, err
	}
	of := code{}
	if r.Files != nil {
		of.Code, err = l.write(&c, r.Files)
		return c, of, err
	}
	if of.Code, err = c.Code(l.sources); err != nil {
		return c, of, err
	}
	of.isEdited = r.Edit != ""
	if ids := strings.Split(r.Edit, and); len(ids) > 1 {
		of.Code, err = l.combine(&c, of.Code, ids)
		l.use(of)
		return c, of, err
	}
	l.written = nil
	if of.isEdited {
		of.edit, err = l.edit(&c, &of, r.Edit)
	}
	l.use(of)
	return c, of, err
}

// find is the number of a column's edit, from 0.
func find(c columns.Column, id string) (int, error) {
	i := slices.IndexFunc(edits.All, func(e edits.Edit) bool { return e.ID() == id && path.Dir(e.File) == c.Dir })
	if i < 0 {
		return i, noEdit.With("edit", id, "lock", c.Said())
	}
	return i, nil
}

// use puts the lock in force that the next worlds run.
func (l locks) use(of code) {
	if l.force != nil {
		l.force(of.edit)
	}
}

// edit puts an edit into a column, which then is another lock with another name.
func (l locks) edit(c *columns.Column, of *code, id string) (int, error) {
	i, err := find(*c, id)
	if err != nil {
		return 0, err
	}
	if l.force == nil {
		return 0, errors.New("this build has no edited locks")
	}
	e := edits.All[i]
	raw, err := fs.ReadFile(l.sources, e.File)
	if err != nil {
		return 0, err
	}
	edited, err := e.Apply(string(raw))
	if err != nil {
		return 0, err
	}
	for n, f := range of.Files {
		if f.Name == path.Base(e.File) {
			of.Files[n].Text = edited
		}
	}
	l.use(code{})
	if c.Subject, err = l.rehearse(c.Subject); err != nil {
		return 0, err
	}
	c.Subject.Name = schedule.ForeignName(c.Subject.Name, e.ID(), edited)
	c.Subject, err = e.InScripts(c.Subject, string(raw))
	return i + 1, err
}

// editsOf are the edits of a column.
func editsOf(c columns.Column) (all []edits.Edit) {
	for _, e := range edits.All {
		if path.Dir(e.File) == c.Dir {
			all = append(all, e)
		}
	}
	return all
}

// Lock is what a page shows of a lock that it has not seen.
type Lock struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Title  string          `json:"title"`
	Files  []timeline.File `json:"files"`
	Edits  []Edit          `json:"edits"`
	Goals  []game.Named    `json:"goals"` // what can be played and searched
	Envs   []game.Named    `json:"envs"`
	Search Question        `json:"search"` // what is asked first
	// Has is what a visitor's lock that begins with it is said to have. Graded tells whether
	// grade takes it as it stands.
	Has    []failures.Feature `json:"has"`
	Graded bool               `json:"graded"`
	// OneEdit tells whether the lock takes one edit at a time.
	OneEdit bool `json:"oneEdit"`
}

// Edit is an edit as a page shows it.
type Edit struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Line    int      `json:"line"` // where it is, from 1
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Suffers string   `json:"suffers"`
	Failure string   `json:"failure"`
	Search  Question `json:"search"`
	Clashes []string `json:"clashes"` // the IDs of edits that cannot be on beside it
}

// Question is what a search looks for.
type Question struct {
	Property string `json:"property"`
	Env      string `json:"env"`
}

// describe describes a lock.
func (e *Engine) describe(r Request) (Lock, error) {
	c, of, err := e.find(r)
	lock := Lock{
		ID: c.ID, Name: c.NameIn(r.Lang), Title: c.TitleIn(r.Lang), Files: of.Files, Edits: []Edit{}, Has: []failures.Feature{},
		OneEdit: c.ID == compiledOnly,
	}
	lock.Has = append(lock.Has, c.Subject.Has...)
	lock.Graded = len(c.Subject.SkipFrames) == 0 && !slices.Contains(lock.Has, failures.Reentry) // a Locker as it stands
	if err != nil {
		return lock, err
	}
	lock.Search = questionOf(c.Challenge)
	for _, p := range schedule.Properties {
		if p.Suits(c.Subject) {
			lock.Goals = append(lock.Goals, game.Named{Name: p.Name, Words: game.Goals[p.Name].Words.In(r.Lang)})
		}
	}
	for _, env := range schedule.Envs {
		lock.Envs = append(lock.Envs, game.Named{Name: env.Name, Words: texts.Text(env.About).In(r.Lang)})
	}
	if r.Files != nil { // which the edits do not fit
		return lock, nil
	}
	for _, x := range editsOf(c) {
		shown, err := e.shown(x, lock.Search, r.Lang)
		if err != nil {
			return lock, err
		}
		lock.Edits = append(lock.Edits, shown)
	}
	return lock, nil
}

// questionOf is what the challenge of a column asks.
func questionOf(challenge string) Question {
	setup, _, _, err := schedule.Parse(challenge)
	if err != nil {
		return Question{"exclusion", "async"}
	}
	return Question{setup.Property.Name, setup.Env.Name}
}

// Cell is one failure on one lock.
type Cell struct {
	Failure string        `json:"failure,omitempty"`
	Outcome string        `json:"outcome"`
	Was     string        `json:"was,omitempty"` // of the lock as it stands, where that is another
	Verdict string        `json:"verdict"`
	Tone    timeline.Tone `json:"tone,omitempty"`
	Run     *timeline.Run `json:"run,omitempty"`
}

// CellOf is a verdict as a page shows it, with its run.
func CellOf(v failures.Verdict, of timeline.Code, in texts.Language) Cell {
	c := Cell{Outcome: string(rune(v.Outcome)), Verdict: v.HeadlineIn(in)}
	if v.Trace != nil {
		run := timeline.NewRun(v.Trace, v.Findings, of, in)
		told := timeline.Caption{Verdict: c.Verdict, Tone: v.Tone()}.Told(run.Key)
		c.Run, c.Verdict, c.Tone = &run, told.Text, told.Tone
	}
	return c
}
