package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	failures "lockkata/failures_test"
)

// library is a library on trial.
type library struct {
	Name   string
	Module string // as go.mod calls it
	Source string // where its files are shown, up to the version's tag
	Way    string // how the adapter uses it, in one line
	// Live says that its client needs a real Redis.
	Live    bool
	Subject failures.Subject
	// Untold says, by failure, why its story cannot be told of this library.
	Untold map[string]string
	// Besides says, by failure, which other rule than its own the story breaks.
	Besides map[string]string
	// Promises has a property that the library's documentation says something of.
	Promises map[property]promise
}

// libraries are the columns of the table.
var libraries = []library{redsyncLibrary, redislockLibrary, goZeroLibrary, rueidislockLibrary}

// findLibrary returns the library of that name.
func findLibrary(name string) (library, error) {
	if i := slices.IndexFunc(libraries, func(l library) bool { return l.Name == name }); i >= 0 {
		return libraries[i], nil
	}
	return library{}, fmt.Errorf("there is no library %q: choose from redsync, redislock, go-zero, rueidislock", name)
}

// version is the one that was built in.
func (l library) version() string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == l.Module {
			return d.Version
		}
	}
	return "(unknown)"
}

// word is what a library says about a property.
type word string

// The words.
const (
	promised    word = "promised"
	limited     word = "documented limit" // its documentation says what it does not do
	notPromised word = "not promised"
)

// promise is a library's own word on a property, in our words, and where it stands:
// a line of a file in its source, which has Has in it, or a page of another site.
type promise struct {
	Word word
	Says string
	File string
	Line int
	Has  string
}

// promise is the library's word on a property. Of most it says nothing.
func (l library) promise(about property) promise {
	if p, ok := l.Promises[about]; ok {
		return p
	}
	return promise{Word: notPromised, Says: "nothing is said of it"}
}

// link is where a promise is read, in the version that was built in; "" where
// nothing is said.
func (l library) link(p promise) string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s%s/%s#L%d", l.Source, l.version(), p.File, p.Line)
}

// pollEvery is how long a client waits before it asks again, where the library
// leaves that to its caller.
const pollEvery = 100 * time.Millisecond

// errNotHeld is what an adapter says for a library that answers with a bool, or
// not at all.
var errNotHeld = errors.New("the library says: not released, since not held")

// released is what an unlock that answers with a bool ends with.
func released(ok bool, err error) error {
	if err == nil && !ok {
		return errNotHeld
	}
	return err
}

// said is the error of a call with what its caller knows besides: that its own
// context is over. Some libraries leave that out. A deadline counts from its instant,
// whether or not its timer has fired yet.
func said(ctx context.Context, err error) error {
	over := ctx.Err()
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		over = context.DeadlineExceeded
	}
	if err == nil || over == nil || errors.Is(err, over) {
		return err
	}
	return errors.Join(err, over)
}
