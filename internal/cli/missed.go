package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"lockkata/internal/i18n"
)

var (
	noMissed   = i18n.New("Nothing was missed yet.")
	remembered = i18n.NewPlural("{n} question that you missed or half knew is remembered: `go run . interview --missed` asks only that one.",
		"{n} questions that you missed or half knew are remembered: `go run . interview --missed` asks only those.")
	askMissed     = i18n.New("What you missed or half knew is remembered: `go run . interview --missed` asks only that.")
	notRemembered = i18n.New("What you miss is not remembered: {error}")
	badMemory     = i18n.New("{file} is not a list of question ids. Correct or delete it: it stays as it is.")
)

// memory is the ids of the questions that were missed or half known, in a file.
type memory struct {
	file string // "" without an environment: nothing is remembered
	ids  []string
	err  error // why the file cannot be used
}

// loadMemory reads the file in the user's configuration folder. If there is none it has no ids.
func (a *app) loadMemory() (m memory) {
	if a.configDir == nil {
		return m
	}
	dir, err := a.configDir()
	if err != nil {
		return memory{err: err}
	}
	m.file = filepath.Join(dir, "lockkata", "missed.json")
	raw, err := os.ReadFile(m.file)
	if err == nil && json.Unmarshal(raw, &m.ids) != nil {
		m.err = badMemory.Args("file", m.file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		m.err = err
	}
	return m
}

// update removes or adds questions, by whether they were answered fully.
func (m memory) update(fully map[string]bool) error {
	ids := slices.DeleteFunc(m.ids, func(id string) bool { _, isNew := fully[id]; return isNew })
	for id, isKnown := range fully {
		if !isKnown {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	raw, _ := json.Marshal(append([]string{}, ids...)) // strings are always valid; [] and not null
	err := os.MkdirAll(filepath.Dir(m.file), 0o755)
	if err == nil { // a failure in the middle leaves the old file
		err = os.WriteFile(m.file+".new", raw, 0o644)
	}
	if err == nil {
		err = os.Rename(m.file+".new", m.file)
	}
	return err
}

// recall says what an interview finds in the memory.
func (a *app) recall(m memory) {
	if m.err != nil {
		fmt.Fprintln(a.out, a.say(notRemembered, "error", m.err)+"\n")
	} else if n := len(m.ids); n > 0 {
		fmt.Fprintln(a.out, remembered.Of(n).Localize(a.lang)+"\n")
	}
}

// remember keeps the results of an interview.
func (a *app) remember(fully map[string]bool) {
	m := a.loadMemory() // again: another interview may have ended meanwhile
	if m.err == nil && m.file != "" && len(fully) > 0 {
		m.err = m.update(fully)
	}
	if m.err != nil {
		fmt.Fprintln(a.out, "\n"+a.say(notRemembered, "error", m.err))
	} else if m.file != "" && slices.Contains(slices.Collect(maps.Values(fully)), false) {
		fmt.Fprintln(a.out, "\n"+a.say(askMissed))
	}
}
