package kata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// progressName is the file in the learner's folder that says how far he is. He may
// read it and change it.
const progressName = "progress.txt"

const progressHead = "# How far you are. \"go run . kata\" reads and writes this; delete a line and it is forgotten.\n"

// Progress is how far a learner is.
type Progress struct {
	Exercise int // the one under way; 0 is none
	Passed   []int
	Hints    map[int]int // how many he has seen of an exercise
}

// HasPassed tells whether the exercise was passed once.
func (p Progress) HasPassed(number int) bool { return slices.Contains(p.Passed, number) }

// pass remembers that the exercise was passed.
func (p *Progress) pass(number int) {
	if !p.HasPassed(number) {
		p.Passed = append(p.Passed, number)
		slices.Sort(p.Passed)
	}
}

// String is the file's text.
func (p Progress) String() string {
	text := progressHead
	if p.Exercise > 0 {
		text += fmt.Sprintf("exercise %d\n", p.Exercise)
	}
	for _, n := range p.Passed {
		text += fmt.Sprintf("passed %d\n", n)
	}
	for _, e := range All {
		if n := p.Hints[e.Number]; n > 0 {
			text += fmt.Sprintf("hints %d %d\n", e.Number, n)
		}
	}
	return text
}

// parseProgress reads the file's text.
func parseProgress(text string) (Progress, error) {
	p := Progress{Hints: map[int]int{}}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var word string
		var number, count int
		fields, _ := fmt.Sscan(line, &word, &number, &count)
		fault := "says nothing"
		switch _, known := Find(number); {
		case !known:
			fault = "names no exercise"
		case word == "exercise" && fields == 2:
			p.Exercise = number
			continue
		case word == "passed" && fields == 2:
			p.pass(number)
			continue
		case word == "hints" && fields == 3 && count >= 0 && count <= 3:
			p.Hints[number] = count
			continue
		}
		return p, fmt.Errorf("line %d of %s %s: %q; delete the line, or put it right", i+1, progressName, fault, line)
	}
	return p, nil
}

// Progress reads how far the learner is.
func (f Folder) Progress() (Progress, error) {
	raw, err := os.ReadFile(f.path(progressName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Progress{}, mayNot(err)
	}
	return parseProgress(string(raw))
}

func (f Folder) save(p Progress) error {
	name := f.path(progressName)
	if err := os.WriteFile(name+".new", []byte(p.String()), 0o644); err != nil {
		return mayNot(err)
	}
	return os.Rename(name+".new", name) // nobody reads half a file
}

// Next is the first exercise that was not passed yet, and the last when all were.
func (p Progress) Next() int {
	for _, e := range All {
		if !p.HasPassed(e.Number) {
			return e.Number
		}
	}
	return len(All)
}
