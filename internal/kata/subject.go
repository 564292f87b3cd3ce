package kata

import (
	"go/format"
	"strings"
	"text/template"
)

// subjectName is a file that makes a lock with options a subject of the failures. It belongs to the
// learner. testName is the test next to the lock; the kata overwrites it.
const (
	subjectName = "subject.go"
	testName    = "mylock_test.go"
)

var templates = template.Must(template.ParseFS(exercises, "exercises/*.tmpl"))

// filled executes the template of a Go file with data.
func filled(name string, data any) string {
	var text strings.Builder
	if err := templates.ExecuteTemplate(&text, name+".tmpl", data); err != nil {
		panic(err) // a test fills every template
	}
	if formatted, err := format.Source([]byte(text.String())); err == nil {
		return string(formatted)
	}
	return text.String() // the compiler reports errors in the learner's names
}

// test returns the test for a lock of the exercise.
func (e Exercise) test() string {
	return filled(testName, map[string]any{"ID": e.ID, "HasSubject": e.hasSubject(), "Has": e.has(), "Required": e.Required()})
}

// hasSubject reports whether a lock of the exercise has options, and so needs a func Subject.
func (e Exercise) hasSubject() bool { return strings.HasPrefix(e.Base, "6") }

// withSubject adds a subject.go to the files, if the exercise needs one and they have no func
// Subject.
func (e Exercise) withSubject(files Files) Files {
	var s shape
	if files != nil && e.hasSubject() && s.read(files) == nil && !s.hasSubject {
		files[subjectName] = s.subject()
	}
	return files
}

func (s *shape) subject() string {
	return filled(subjectName, map[string]any{
		"Option": s.option, "Holds": s.isHolding, "NoWatchdog": s.hasFixed, "MaxHold": s.hasLimit,
	})
}
