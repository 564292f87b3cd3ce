package engine

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/schedule"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

func init() {
	for _, e := range edits.All {
		i18n.Register(i18n.Text(e.Name), i18n.Text(e.Suffers))
	}
}

var noEdit = i18n.New("there is no edit \"{edit}\" of {lock}")

// lock is a stage with its source, edited or not.
type lock struct {
	stages.Stage
	code stages.Code
	edit int // the number of the active edit, counted from 1; 0: none
}

// find returns the lock of a request, and makes the next worlds run it.
func (e *Engine) find(r Request) (lock, error) {
	c, err := stages.Find(r.Stage)
	if err != nil {
		return lock{}, err
	}
	l := lock{Stage: c}
	if l.code, err = c.Code(e.sources); err != nil {
		return l, err
	}
	e.use(l)
	if r.Edit != "" {
		if err := e.edit(&l, r.Edit); err != nil {
			return l, err
		}
		e.use(l)
	}
	l.Subject, err = failures.DiscoverScripts(e.t, l.Subject)
	return l, err
}

// use makes the next worlds run a lock, with its edit.
func (e *Engine) use(l lock) {
	if e.force != nil {
		e.force(l.edit)
	}
}

// edit applies an edit to a lock, which then has another name.
func (e *Engine) edit(l *lock, id string) error {
	i := slices.IndexFunc(edits.All, func(e edits.Edit) bool { return e.ID() == id && path.Dir(e.File) == l.Dir })
	if i < 0 {
		return noEdit.Args("edit", id, "lock", l.NameText())
	}
	if e.force == nil {
		return errors.New("this build has no edited locks")
	}
	edit := edits.All[i]
	raw, err := fs.ReadFile(e.sources, edit.File)
	if err != nil {
		return err
	}
	edited, err := edit.Apply(string(raw))
	if err != nil {
		return err
	}
	for n, f := range l.code.Files {
		if f.Name == path.Base(edit.File) {
			l.code.Files[n].Text = edited
		}
	}
	if l.Subject, err = failures.DiscoverScripts(e.t, l.Subject); err != nil {
		return err
	}
	l.edit, l.Subject.Name = i+1, schedule.ForeignName(l.Subject.Name, id, edited)
	l.Subject, err = edit.InScripts(l.Subject, string(raw))
	return err
}

// Lock is a lock as a page shows it.
type Lock struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	Title  string        `json:"title"`
	Files  []stages.File `json:"files"`
	Edits  []Edit        `json:"edits"`
	Search Question      `json:"search"` // the default question
}

// Edit is an edit as a page shows it.
type Edit struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	File    string   `json:"file"`
	Line    int      `json:"line"` // its line, counted from 1
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Suffers string   `json:"suffers"`
	Search  Question `json:"search"`
}

// Question is the goal of a search.
type Question struct {
	Property string `json:"property"`
	Env      string `json:"env"`
}

// describe returns a lock for the page.
func (e *Engine) describe(r Request) (Lock, error) {
	l, err := e.find(r)
	if err != nil {
		return Lock{}, err
	}
	shown := Lock{
		ID: l.ID, Name: l.NameIn(r.Lang), Title: l.TitleIn(r.Lang), Files: l.code.Files, Edits: []Edit{}, Search: questionOf(l.Challenge),
	}
	for _, x := range edits.Of(l.Stage) {
		edit, err := e.describeEdit(x, shown.Search, r.Lang)
		if err != nil {
			return shown, err
		}
		shown.Edits = append(shown.Edits, edit)
	}
	return shown, nil
}

// questionOf returns the question of a stage's challenge.
func questionOf(challenge string) Question {
	setup, _, _, err := schedule.Parse(challenge)
	if err != nil {
		return Question{"exclusion", "async"}
	}
	return Question{setup.Property.Name, setup.Env.Name}
}

// describeEdit returns an edit with its line. Without a search in the edit it uses the given one.
func (e *Engine) describeEdit(x edits.Edit, search Question, in i18n.Language) (Edit, error) {
	raw, err := fs.ReadFile(e.sources, x.File)
	if err != nil {
		return Edit{}, err
	}
	if property, env, asked := strings.Cut(x.Search, "/"); asked {
		search = Question{property, env}
	}
	before, _, _ := strings.Cut(string(raw), x.Old)
	return Edit{
		ID: x.ID(), Name: i18n.Text(x.Name).Localize(in), File: path.Base(x.File), Line: 1 + strings.Count(before, "\n"), Old: x.Old, New: x.New,
		Suffers: i18n.Text(x.Suffers).Localize(in), Search: search,
	}, nil
}
