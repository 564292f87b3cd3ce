package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// library is a library on trial.
type library struct {
	Name   string // as one calls it
	Module string // as go.mod calls it
	Source string // where its files are shown, up to the version's tag
	Way    string // how the adapter uses it, in one line
	// Live says that its client needs a real Redis.
	Live    bool
	Subject failures.Subject
	// Untold says, by failure, why its story cannot be told of this library.
	Untold map[string]string
	// Besides are, by failure, rules that its story breaks although the failure is
	// about another one.
	Besides  map[string]besides
	Promises map[property]promise
}

// besides is a rule that a failure is not about.
type besides struct {
	Property property
	Why      string
}

// libraries are the columns of the table.
var libraries = []library{
	{
		Name: "redsync", Module: "github.com/go-redsync/redsync/v4",
		Source: "https://github.com/go-redsync/redsync/blob/",
		Way:    "one pool, one Mutex; Lock, Unlock; no renewal: its README shows none",
		Subject: failures.Subject{
			Name: "redsync", New: newRedsync,
			Has:     []failures.Feature{failures.Scripts},
			Errand:  func([]string) (string, bool) { return "", true }, // a goroutine for each pool
			Beneath: []string{"github.com/go-redsync/redsync/v4/redis/"},
		},
		Promises: redsyncPromises,
	},
	{
		Name: "redislock", Module: "github.com/bsm/redislock",
		Source: "https://github.com/bsm/redislock/blob/",
		Way:    "Obtain, Release, and the watchdog of its README",
		Subject: failures.Subject{
			Name: "redislock", New: newRedislock,
			Variants: map[failures.Variant]world.New{failures.FixedLease: newRedislockUnwatched},
			Has:      []failures.Feature{failures.Scripts, failures.Watchdog},
		},
		Besides: map[string]besides{
			"dog-unlock-race": {stops, "nothing waits for the README's watchdog, so a refresh may reach Redis after Release; it does no harm there"},
		},
		Promises: redislockPromises,
	},
	{
		Name: "go-zero", Module: "github.com/zeromicro/go-zero",
		Source: "https://github.com/zeromicro/go-zero/blob/",
		Way:    "NewRedisLock, SetExpire; Acquire every 100 ms, Release; no renewal: there is no method for it",
		Subject: failures.Subject{
			Name: "go-zero", New: newGoZero,
			Has: []failures.Feature{failures.Scripts},
			Beneath: []string{
				"github.com/zeromicro/go-zero/core/stores/redis.(*Redis).", "github.com/zeromicro/go-zero/core/stores/redis.(*breakerHook)",
				"github.com/zeromicro/go-zero/core/stores/redis.(*durationHook)", "github.com/zeromicro/go-zero/core/breaker.",
				"main.toWire", "lockkata/failures_test/graders.toWire",
			},
		},
		Promises: goZeroPromises,
	},
	{
		Name: "rueidislock", Module: "github.com/redis/rueidis", Live: true,
		Source: "https://github.com/redis/rueidis/blob/",
		Way:    "one key, NoLoopTracking; WithContext, cancel; it renews by itself",
		Subject: failures.Subject{
			Name: "rueidislock", New: newRueidislock,
			Has:     []failures.Feature{failures.Scripts, failures.Watchdog, failures.PubSub},
			Errand:  rueidisErrand,
			Beneath: []string{"github.com/redis/rueidis."},
		},
		Untold: map[string]string{
			"pool-starved":               "its client sends everything through one connection of its own, which no command of the business occupies",
			"dog-unlock-race":            "it renews first after half of the lease, and this story is over by then",
			"unlock-while-renewal-hangs": "it renews first after half of the lease, and this story is over by then",
			"wake-lost":                  "there is no SUBSCRIBE to be late: its attempt itself makes Redis watch the key",
			"wake-early":                 "it has no second attempt that a message could overtake",
			"idle-waiters":               "the judge counts the commands of those who SUBSCRIBE, and it does not",
			"wake-eaten":                 "the story's deadline is no moment of rueidislock's; go run . defects tells it with one that is",
		},
		Promises: rueidislockPromises,
	},
}

// findLibrary returns the library of that name.
func findLibrary(name string) (library, error) {
	var names []string
	for _, l := range libraries {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return library{}, fmt.Errorf("there is no library %q: choose from %v", name, names)
}

// version is the one that was built in.
func (l library) version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, d := range info.Deps {
		if d.Path == l.Module {
			if d.Replace != nil {
				return d.Replace.Version
			}
			return d.Version
		}
	}
	return "(unknown)"
}

// pollEvery is how long a client waits before it asks again, where the library
// leaves that to its caller.
const pollEvery = 100 * time.Millisecond

// errNotHeld is what an adapter says for a library that answers with a bool, or
// not at all.
var errNotHeld = errors.New("the library says: not released, since not held")

// said is the error of a call with what its caller knows besides: that his own
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
