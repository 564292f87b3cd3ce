package apart

import (
	"cmp"
	"embed"
	"go/format"
	"strings"
	"text/template"
)

//go:embed *.tmpl
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "*.tmpl"))

// filled executes the template of a Go file with data.
func filled(name string, data any) string {
	var text strings.Builder
	if err := templates.ExecuteTemplate(&text, name+".tmpl", data); err != nil {
		panic(err) // tests fill every template
	}
	if formatted, err := format.Source([]byte(text.String())); err == nil {
		return string(formatted)
	}
	return text.String() // the compiler reports errors in the learner's names
}

// Test returns the test of the lock, for its folder. The same text plays the lock in a program.
func (l Lock) Test() string {
	var s shape
	_ = s.read(l.Files) // the compiler says what is wrong with it
	return l.testOf(s)
}

func (l Lock) testOf(s shape) string {
	return filled("mylock_test.go", map[string]any{
		"Package": cmp.Or(s.name, "mylock"), "Exercise": l.Exercise, "HasSubject": s.hasSubject, "NoError": s.noError, "FixedLease": s.hasFixed,
		"MaxHold": s.hasLimit, "Has": l.Has, "SkipFrames": s.frames, "Requires": l.Requires,
	})
}

// SubjectOf returns a file with a func Subject for a lock that has none, or "".
func SubjectOf(files Files) string {
	var s shape
	if s.read(files) != nil || s.hasSubject {
		return ""
	}
	return filled("subject.go", map[string]any{"Option": s.option, "Holds": s.isHolding, "NoWatchdog": s.hasFixed, "MaxHold": s.hasLimit})
}
