package kata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Reset brings the start of the present exercise back. With all it forgets every
// exercise that was passed, and begins again with the first. What the folder held
// is copied before it goes, and so is what had passed.
func (f Folder) Reset(all bool) (string, error) {
	e, p, err := f.present()
	if err != nil {
		return "", err
	}
	if !all {
		files, err := readFiles(filepath.Join(f.Dir, "_start"))
		if err != nil || len(files) == 0 {
			return f.Start(e.Number)
		}
		copied, err := f.replace(files)
		return fmt.Sprintf("Exercise %d is as it began.%s", e.Number, copied), err
	}
	p.Passed, p.Hints = nil, nil
	if err := f.save(p); err != nil {
		return "", err
	}
	kept, err := f.keepPassed()
	if err != nil {
		return "", err
	}
	said, err := f.Start(1)
	return "All exercises begin again. " + said + kept, err
}

// keepPassed moves the locks that have passed to the copies.
func (f Folder) keepPassed() (string, error) {
	passed := filepath.Join(f.Dir, "_passed")
	if _, err := os.Stat(passed); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	name, err := f.freeCopy()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(" What had passed is in %s.", filepath.ToSlash(name)), os.Rename(passed, filepath.Join(f.Dir, name, "_passed"))
}
