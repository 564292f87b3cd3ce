package page

import (
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

// Other is a lock that is no stage of its own, with the runs that the page shows of it.
type Other struct {
	stages.Stage
	Edit *edits.Edit    // the lock's edit, if it has one
	Row  []stages.Stage // the locks to compare it with and itself, in order
	Runs []failures.Verdict
}

// EditedTrace is a file with the run of [Edited]: only a build of the edited lock can play it.
const EditedTrace = "internal/page/edited.json"

// Edited returns the edit whose run the page shows: a waiter that misses its message.
func Edited() edits.Edit {
	all := edits.Of(stages.MustFind("6.4"))
	return all[slices.IndexFunc(all, func(e edits.Edit) bool { return e.Failure == "wake-lost" })]
}

// PlayOthers plays the failures of other locks that show something new: on a step those whose outcome
// changes there or at the next step, on a document's lock those that docs/documents.md names, and on
// the locks of several servers all that are about several servers. sources is the repository's root.
func PlayOthers(t *testing.T, sources fs.FS) (all []Other, err error) {
	document, err := fs.ReadFile(sources, "docs/documents.md")
	if err != nil {
		return nil, err
	}
	steps := stages.Steps()
	play := func(row []stages.Stage, s stages.Stage, shows func(catalogue.Failure) bool) {
		if err != nil {
			return
		}
		var shown []catalogue.Failure
		for _, f := range catalogue.Everything {
			if s.Expect(f) != failures.NotApplicable && shows(f) {
				shown = append(shown, f)
			}
		}
		one := Other{Stage: s, Row: row}
		err = failures.Here(t, s.Subject).Play(t.Context(), failures.Tasks(shown), func(c failures.Cell) { one.Runs = append(one.Runs, c.Verdict) })
		all = append(all, one)
	}
	for i, s := range steps[1 : len(steps)-1] {
		play(steps, s, func(f catalogue.Failure) bool {
			return s.Expect(f) != steps[i].Expect(f) || s.Expect(f) != steps[i+2].Expect(f)
		})
	}
	for _, s := range stages.Documents() {
		play([]stages.Stage{s, steps[len(steps)-1]}, s, func(f catalogue.Failure) bool {
			return strings.Contains(string(document), "show "+f.ID+" --stage "+s.ID+"`")
		})
	}
	servers := stages.OfServers()
	for _, row := range [][]stages.Stage{servers[:2], servers[2:]} { // stage 4 and wait; redlock
		for _, s := range row {
			play(row, s, catalogue.Failure.OnServers)
		}
	}
	if err != nil {
		return nil, err
	}
	edited, err := playEdited(sources)
	return append(all, edited), err
}

// playEdited judges the recorded run of the edited lock.
func playEdited(sources fs.FS) (Other, error) {
	raw, err := fs.ReadFile(sources, EditedTrace)
	if err != nil {
		return Other{}, err
	}
	recorded := func(world.Config, func(*world.World)) (*trace.Trace, error) {
		var tr trace.Trace
		return &tr, json.Unmarshal(raw, &tr)
	}
	e := Edited()
	f, _ := catalogue.Find(e.Failure) // as a test of the edits asserts
	s := e.Stage
	s.ID, s.Title, s.Before = s.ID+"-edited", e.Name, ""
	return Other{s, &e, []stages.Stage{s, e.Stage, stages.MustFind("6")}, []failures.Verdict{failures.Judge(f, s.Subject, recorded)}}, nil
}

// other is an [Other] as the page shows it. A stage's source is with the stages.
type other struct {
	stage
	Asked string          `json:"asked,omitempty"` // its words in commands, if they are not its ID
	Row   []string        `json:"row"`
	Runs  map[string]cell `json:"runs"` // by failure
}

// othersOf converts other locks.
func othersOf(all []Other, sources fs.FS, in i18n.Language) (shown []other, err error) {
	for _, one := range all {
		o := other{stage: stage{ID: one.ID}, Row: stages.IDs(one.Row), Runs: map[string]cell{}}
		code, err := one.Code(sources)
		if err == nil && one.Edit != nil {
			o.Asked = one.Edit.Stage.ID + " --edit " + one.Edit.ID()
			i := slices.IndexFunc(code.Files, func(f stages.File) bool { return f.Name == path.Base(one.Edit.File) })
			code.Files[i].Text, err = one.Edit.Apply(code.Files[i].Text)
		}
		if err == nil && one.Hidden {
			o.stage, err = newStage(one.Stage, code, sources, in)
		}
		if err != nil {
			return nil, err
		}
		for _, v := range one.Runs {
			if v.Trace != nil {
				o.Runs[v.Failure.ID] = cell{engine.CellOf(v, code, in), ""}
			}
		}
		shown = append(shown, o)
	}
	return shown, nil
}
