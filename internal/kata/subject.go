package kata

import (
	"fmt"
	"go/format"
	"regexp"
	"strings"
)

// subjectName is the file that shows a lock with options to the failures. It is part of the
// lock's files, and the learner's to change.
const subjectName = "subject.go"

// withSubject adds subject.go to the files, from exercise 6.1 on, unless they have a func Subject.
func (e Exercise) withSubject(files Files) Files {
	if files != nil && e.hasSubject() && !files.declare(subjectFunc) {
		files[subjectName] = files.subject()
	}
	return files
}

// hasSubject reports whether a lock of the exercise needs a func Subject.
func (e Exercise) hasSubject() bool { return strings.HasPrefix(e.Base, "6") }

// What a lock's files may declare.
var (
	subjectFunc = regexp.MustCompile(`(?m)^func Subject\(`)
	optionType  = regexp.MustCompile(`(?m)^func NewMutex\(.*\.\.\.\s*(\w+)\)`)
	lockOfHolds = regexp.MustCompile(`(?m)^func \(\w+ \*?\w+\) Lock\(.*\) \(\*?\w+, error\)`)
	noWatchdog  = regexp.MustCompile(`(?m)^func WithoutWatchdog\(\)`)
	maxHold     = regexp.MustCompile(`(?m)^func WithMaxHold\(`)
	senderType  = regexp.MustCompile(`(?m)^type (\w+) struct\s*\{\s*redis\.UniversalClient\s*\}`)
)

func (f Files) find(pattern *regexp.Regexp) []string {
	for _, name := range f.names() {
		if found := pattern.FindStringSubmatch(f[name]); found != nil {
			return found
		}
	}
	return nil
}

func (f Files) declare(pattern *regexp.Regexp) bool { return f.find(pattern) != nil }

const subjectText = `package mylock

import (
%s)

// Subject shows your lock to the failures: how it is made, and with which options. The file
// is yours. Change it when your lock looks different from the outside.
func Subject() failures.Subject {
	with := func(%s) world.Constructor {
%s	}
	return failures.Subject{
		Name: "mylock",
		New: with(),
		Variants: map[failures.Variant]world.Constructor{
%s		},
%s	}
}
`

// subject writes subject.go for a lock as it is.
func (f Files) subject() string {
	imports, parameters, constructor := []string{"failures \"lockkata/failures_test\"", "\"lockkata/failures_test/adapters\"", "\"lockkata/failures_test/world\""}, "", "NewMutex"
	if option := f.find(optionType); option != nil {
		parameters, constructor = "opts ..."+option[1], "adapters.With(NewMutex, opts...)"
	}
	holding := "adapters.Holding(" + constructor + ", ErrLocked, ErrLost)"
	made := "// Once Lock returns a hold: " + holding + "\nreturn adapters.Plain(" + constructor + ")\n"
	if f.declare(lockOfHolds) {
		made = "return " + holding + "\n"
	}
	variants, skip := "// With an option WithoutWatchdog: failures.FixedLease: with(WithoutWatchdog()),\n", ""
	if f.declare(noWatchdog) {
		variants = "failures.FixedLease: with(WithoutWatchdog()), // for the failures about a lease that ends\n"
	}
	if f.declare(maxHold) {
		imports = append([]string{"\"time\"\n", "\"github.com/redis/go-redis/v9\"\n"}, imports...)
		variants += "failures.Limited: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {\n" +
			"return with(WithMaxHold(3*lease))(rdb, name, lease)\n},\n"
	}
	if sender := f.find(senderType); sender != nil {
		imports = append([]string{"\"reflect\"\n"}, imports...)
		skip = fmt.Sprintf("// A %s only passes commands on: the drawings show the lines that call it.\n"+
			"SkipFrames: []string{reflect.TypeFor[%[1]s]().PkgPath() + \".%[1]s.\"},\n", sender[1])
	}
	text := fmt.Sprintf(subjectText, strings.Join(imports, "\n")+"\n", parameters, made, variants, skip)
	if formatted, err := format.Source([]byte(text)); err == nil {
		text = string(formatted)
	}
	return text
}

// testName is the test next to the learner's lock. It is ours, and written anew when an exercise begins.
const testName = "mylock_test.go"

const testText = `package mylock

import (
	"testing"%s

	failures "lockkata/failures_test"
)

// TestMyLock plays the failures of exercise %s on your lock. "go run . kata check" asks for more.
// This file is written anew with each exercise.
func TestMyLock(t *testing.T) {
	subject := %s
%s	failures.Require(t, subject,
		%s,
	)
}
`

const plainSubject = `failures.Subject{
		Name: "mylock",
		New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
			return NewMutex(rdb, name, lease)
		},
	}`

// test writes the test for a lock of the exercise.
func (e Exercise) test() string {
	imports, subject, more := "\n\t\"time\"\n\n\t\"github.com/redis/go-redis/v9\"", plainSubject, ""
	if e.hasSubject() {
		imports, subject, more = "", "Subject()", "\tsubject.Ignore = failures.IsAuxKey\n"
	}
	if has := e.has(); len(has) > 0 {
		more += fmt.Sprintf("\tsubject.Has = %#v\n", has)
	}
	return fmt.Sprintf(testText, imports, e.ID, subject, more, `"`+strings.Join(e.Required(), "\",\n\t\t\"")+`"`)
}
