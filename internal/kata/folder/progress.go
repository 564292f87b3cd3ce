package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/apart"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/exercises"
)

// progressName is the file with the learner's progress. The learner may edit it.
const progressName = "progress.txt"

const progressHead = "# How far you are. \"go run . kata\" reads and writes this; delete a line and it is forgotten.\n"

// Progress is a learner's progress.
type Progress struct {
	Exercise string // the exercise under way; "": none
	Passed   []string
	Hints    map[string]int // how many hints of an exercise were shown
	Failed   string         // the last failure that a check has shown; "" after a pass or in another exercise
	Hinted   string         // the failure whose hint was given
}

// HasPassed reports whether the exercise was passed once.
func (p Progress) HasPassed(id string) bool { return slices.Contains(p.Passed, id) }

// pass records a pass of the exercise.
func (p *Progress) pass(id string) {
	p.Failed, p.Hinted = "", ""
	if !p.HasPassed(id) {
		p.Passed = append(p.Passed, id)
	}
}

// String returns the text of the file.
func (p Progress) String() string {
	text := progressHead
	if p.Exercise != "" {
		text += fmt.Sprintf("exercise %s\n", p.Exercise)
	}
	for _, e := range exercises.All {
		if p.HasPassed(e.ID) {
			text += fmt.Sprintf("passed %s\n", e.ID)
		}
	}
	for _, e := range exercises.All {
		if n := p.Hints[e.ID]; n > 0 {
			text += fmt.Sprintf("hints %s %d\n", e.ID, n)
		}
	}
	if p.Failed != "" {
		text += fmt.Sprintf("failed %s\n", p.Failed)
	}
	if p.Hinted != "" {
		text += fmt.Sprintf("hinted %s\n", p.Hinted)
	}
	return text
}

var badLineText = i18n.New("line {n} of {file} is not understood: \"{line}\"; delete the line, or correct it")

// parseProgress parses the text of the file.
func parseProgress(text string) (Progress, error) {
	p := Progress{Hints: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var word, id string
		var count int
		fields, _ := fmt.Sscan(line, &word, &id, &count)
		_, isFailure := catalogue.Find(id)
		_, unknown := exercises.Find(id)
		switch isExercise := unknown == nil; {
		case word == "failed" && fields == 2 && isFailure:
			p.Failed = id
		case word == "hinted" && fields == 2 && isFailure:
			p.Hinted = id
		case word == "exercise" && fields == 2 && isExercise:
			p.Exercise = id
		case word == "passed" && fields == 2 && isExercise:
			p.pass(id)
		case word == "hints" && fields == 3 && isExercise && count >= 0 && count <= 3:
			p.Hints[id] = count
		default:
			return p, badLineText.Args("n", i+1, "file", progressName, "line", line)
		}
	}
	return p, nil
}

// Progress reads the learner's progress.
func (f Folder) Progress() (Progress, error) {
	raw, err := os.ReadFile(f.path(progressName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Progress{}, mayNot(err)
	}
	return parseProgress(string(raw))
}

// Save writes the learner's progress.
func (f Folder) Save(p Progress) error {
	name := f.path(progressName)
	if err := os.WriteFile(name+".new", []byte(p.String()), 0o644); err != nil {
		return mayNot(err)
	}
	return os.Rename(name+".new", name) // readers never get half a file
}

// Next returns the exercise under way, unless it is passed. Then it returns the first one that is not
// passed yet, or the last one.
func (p Progress) Next() exercises.Exercise {
	if e, err := exercises.Find(p.Exercise); err == nil && !p.HasPassed(e.ID) {
		return e
	}
	for _, e := range exercises.All {
		if !p.HasPassed(e.ID) {
			return e
		}
	}
	return exercises.All[len(exercises.All)-1]
}

var noExerciseText = i18n.New("no exercise is under way in {dir}: begin with go run . kata start{flag}")

// Present returns the exercise under way.
func (f Folder) Present() (e exercises.Exercise, p Progress, err error) {
	if p, err = f.Progress(); err != nil {
		return e, p, err
	}
	if e, err = exercises.Find(p.Exercise); err != nil {
		err = noExerciseText.Args("dir", f.Dir, "flag", f.Flag)
	}
	return e, p, err
}

// Record records the result of a check: a pass with a copy of the lock, or the failure that was shown. It reads
// the progress again, because a hint or another exercise may have changed it during the check.
func (f Folder) Record(id string, files apart.Files, isPass bool, failed string) (p Progress, err error) {
	if isPass {
		err = f.put(passed(id), files)
	}
	if err == nil {
		p, err = f.Progress()
	}
	if err != nil {
		return p, err
	}
	if p.Exercise == id {
		p.Failed = failed
	}
	if isPass {
		p.pass(id)
	}
	return p, f.Save(p)
}
