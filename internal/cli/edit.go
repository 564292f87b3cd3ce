package cli

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

var (
	editOfStage = i18n.New("--edit names an edit of one lock: add --stage")
	noEditOf    = i18n.New("{stage} has no edit {name}; there are: {names}")
	compiling   = i18n.New("compiling {stage} with the edit")
)

// showEdited draws a failure on a lock with an edit, or prints it as SVG.
func (a *app) showEdited(ctx context.Context, f catalogue.Failure, of stages.Stage, id string, asSVG bool) error {
	var ids []string
	all := edits.Of(of)
	for _, e := range all {
		ids = append(ids, e.ID())
	}
	at := slices.Index(ids, id)
	switch {
	case of.ID == "":
		return editOfStage.Args()
	case at < 0:
		return noEditOf.Args("stage", of.NameText(), "name", strconv.Quote(id), "names", strings.Join(ids, ", "))
	}
	e := all[at]
	root, err := apart.FindRoot(".")
	if err != nil {
		return err
	}
	a.tell(compiling.Args("stage", of.NameText()))
	v, err := a.playEdited(ctx, root, e, f)
	a.doing("")
	if err != nil {
		return failedError{err}
	}
	of.Title = e.Name
	g := grid{[]stages.Stage{of}, [][]failures.Verdict{{v}}}
	if asSVG {
		return a.showPicture(g, true, "")
	}
	fmt.Fprintf(a.out, "%s\n%s\n%s\n\n", e.File, a.color.Diff("- "+e.Old), a.color.Diff("+ "+e.New))
	a.show(g, locksOf(f))
	return nil
}

// playEdited compiles a lock with an edit, and plays a failure on it.
func (a *app) playEdited(ctx context.Context, root string, e edits.Edit, f catalogue.Failure) (v failures.Verdict, err error) {
	raw, err := fs.ReadFile(a.sources, e.File)
	if err != nil {
		return v, err
	}
	text, err := e.Apply(string(raw))
	if err != nil {
		return v, err
	}
	bench, err := apart.BuildStage(ctx, root, e.Stage, apart.Files{e.File: text})
	if err != nil {
		return v, err
	}
	defer bench.Close()
	bench.Lang = a.lang
	err = bench.Play(ctx, []failures.Task{{Failure: f, Draw: true}}, func(c failures.Cell) { v = c.Verdict })
	return v, err
}
