package kata

import (
	"go/format"
	"regexp"
	"strings"
	"text/template"
)

// subjectName is the file that shows a lock with options to the failures. It is part of the
// lock's files, and the learner's to change. testName is the test next to the lock. It is ours.
const (
	subjectName = "subject.go"
	testName    = "mylock_test.go"
)

var templates = template.Must(template.ParseFS(exercises, "exercises/*.tmpl"))

// filled returns the Go file that a template makes of data.
func filled(name string, data any) string {
	var text strings.Builder
	if err := templates.ExecuteTemplate(&text, name+".tmpl", data); err != nil {
		panic(err) // a test fills every template
	}
	if formatted, err := format.Source([]byte(text.String())); err == nil {
		return string(formatted)
	}
	return text.String() // the compiler reports the error
}

// test returns the test for a lock of the exercise.
func (e Exercise) test() string {
	return filled(testName, map[string]any{"ID": e.ID, "HasSubject": e.hasSubject(), "Has": e.has(), "Required": e.Required()})
}

// hasSubject reports whether a lock of the exercise has options, and so needs a func Subject.
func (e Exercise) hasSubject() bool { return strings.HasPrefix(e.Base, "6") }

// Declarations to look for in a lock's files.
var (
	subjectFunc = regexp.MustCompile(`(?m)^func (Subject)\(`)
	optionType  = regexp.MustCompile(`(?m)^func NewMutex\(.*\.\.\.\s*(\w+)\)`)
	lockOfHolds = regexp.MustCompile(`(?m)^func \(\w+ \*?\w+\) (Lock)\(.*\) \(\*?\w+, error\)`)
	noWatchdog  = regexp.MustCompile(`(?m)^func (WithoutWatchdog)\(\)`)
	maxHold     = regexp.MustCompile(`(?m)^func (WithMaxHold)\(`)
	senderType  = regexp.MustCompile(`(?m)^type (\w+) struct\s*\{\s*redis\.UniversalClient\s*\}`)
)

// declared returns the name in the first declaration that a pattern finds, "" without one.
func (f Files) declared(pattern *regexp.Regexp) string {
	for _, name := range f.names() {
		if found := pattern.FindStringSubmatch(f[name]); found != nil {
			return found[1]
		}
	}
	return ""
}

// withSubject adds a subject.go that fits the files, if the exercise needs one and they have
// no func Subject.
func (e Exercise) withSubject(files Files) Files {
	if files != nil && e.hasSubject() && files.declared(subjectFunc) == "" {
		files[subjectName] = files.subject()
	}
	return files
}

func (f Files) subject() string {
	return filled(subjectName, map[string]string{
		"Option": f.declared(optionType), "Holds": f.declared(lockOfHolds), "NoWatchdog": f.declared(noWatchdog),
		"MaxHold": f.declared(maxHold), "Sender": f.declared(senderType),
	})
}
