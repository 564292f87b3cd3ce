package kata

import (
	"fmt"
	"go/format"
	"strings"
)

// subjectName is the file that shows a lock with options to the failures. It is part of the
// lock's files, and the learner's to change.
const subjectName = "subject.go"

// withSubject adds subject.go to the files, from exercise 6.1 on, unless they have a func Subject.
func (e Exercise) withSubject(files Files) Files {
	var s shape
	if files != nil && e.hasSubject() && s.read(files) == nil && !s.hasSubject {
		files[subjectName] = s.subject()
	}
	return files
}

// hasSubject reports whether a lock of the exercise needs a func Subject.
func (e Exercise) hasSubject() bool { return strings.HasPrefix(e.Base, "6") }

const subjectText = `package mylock

import (
%sfailures "lockkata/failures_test"
"lockkata/failures_test/adapters"
"lockkata/failures_test/world"
)

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
	}
}
`

// subject writes subject.go for a lock as it is.
func (s *shape) subject() string {
	imports, parameters, constructor := "", "", "NewMutex"
	if s.option != "" {
		parameters, constructor = "opts ..."+s.option, "adapters.With(NewMutex, opts...)"
	}
	holding := "adapters.Holding(" + constructor + ", ErrLocked, ErrLost)"
	made := "// Once Lock returns a hold: " + holding + "\nreturn adapters.Plain(" + constructor + ")\n"
	if s.isHolding {
		made = "return " + holding + "\n"
	}
	variants := "// With an option WithoutWatchdog: failures.FixedLease: with(WithoutWatchdog()),\n"
	if s.hasFixed {
		variants = "failures.FixedLease: with(WithoutWatchdog()), // for the failures about a lease that ends\n"
	}
	if s.hasLimit {
		imports = "\"time\"\n\n\"github.com/redis/go-redis/v9\"\n\n"
		variants += "failures.Limited: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {\n" +
			"return with(WithMaxHold(3*lease))(rdb, name, lease)\n},\n"
	}
	text := fmt.Sprintf(subjectText, imports, parameters, made, variants)
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
