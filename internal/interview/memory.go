package interview

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lockkata/internal/i18n"
)

var badMemory = i18n.New("{file} is not a list of ids. Correct or delete it: it stays as it is.")

// Memory is ids in a file: of the questions that were missed or half known, or of the chapters that were
// learned.
type Memory struct {
	IDs  []string
	Err  error // why the file cannot be used
	file string
}

// LoadMemory reads a file in the user's configuration folder. The memory has no ids if there is no file,
// or if configDir is nil.
func LoadMemory(configDir func() (string, error), file string) (m Memory) {
	if configDir == nil {
		return m
	}
	dir, err := configDir()
	if err != nil {
		return Memory{Err: err}
	}
	m.file = filepath.Join(dir, "lockkata", file)
	raw, err := os.ReadFile(m.file)
	if err == nil && json.Unmarshal(raw, &m.IDs) != nil {
		m.Err = badMemory.Args("file", m.file)
	} else if !errors.Is(err, fs.ErrNotExist) {
		m.Err = err
	}
	return m
}

// Update removes or adds questions, by whether they were answered fully.
func (m Memory) Update(fully map[string]bool) error {
	ids := slices.DeleteFunc(m.IDs, func(id string) bool { _, isNew := fully[id]; return isNew })
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
