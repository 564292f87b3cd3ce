package locktest

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// The basic promises. A lock that breaks one is not ready for the failures.

// moment is the longest pause that is allowed to a lock.
const moment = time.Second / 2

func (r *run) newMutex() { r.Client("A") }

func (r *run) freeLock() { r.takes(r.Client("A").Lock(world.Within(r.Lease / 2))) }

var (
	getsFree   = i18n.New("{call} of {client} asks for a free lock and does not get it: {answer}")
	takeIt     = i18n.New("Lock returns nil, and TryLock true, once the key in Redis is yours.")
	noKey      = i18n.New("{call} says that {client} holds the lock, but there is no key in Redis.")
	askRedis   = i18n.New("Ask Redis, and believe its answer.")
	doesNotEnd = i18n.New("{call} of {client} does not return within {time}.")
	endWaits   = i18n.New("Wait with a select on ctx.Done() and a timer, and not with time.Sleep.")
	panicked   = i18n.New("{call} of {client} ends in a {panic}.")
	readPanic  = i18n.New("Look at the line that the panic names; a nil map or a nil pointer is the usual reason.")
	twoAnswers = i18n.New("TryLock of {client} answers two things at once: true, so the caller holds the lock, and an error: {error}.")
	oneAnswer  = i18n.New("Return true and nil, false and nil, or false and an error.")
)

// takes reports whether an acquire gave its client the lock.
func (r *run) takes(call *world.Call) bool {
	switch {
	case !r.ends(call):
		return false
	case !call.Held():
		return r.fault(call, takeIt, getsFree, "answer", cmp.Or(r.result(call).Error, "false"))
	case r.lockKey() == "":
		return r.fault(call, askRedis, noKey)
	}
	return true
}

// ends reports whether a call has returned one answer.
func (r *run) ends(call *world.Call) bool {
	switch result := r.result(call); {
	case r.broken.IsBroken():
		return false
	case !call.Over():
		return r.fault(call, endWaits, doesNotEnd, "time", 10*r.Lease)
	case result.Claim == trace.ClaimPanic:
		return r.fault(call, readPanic, panicked, "panic", result.Error)
	case result.Claim == trace.ClaimBoth:
		return r.fault(call, oneAnswer, twoAnswers, "error", result.Error)
	}
	return true
}

var (
	ownKeys       = i18n.New("A holds the lock, and B gets it too: A's key is {first}, B's is {second}.")
	oneKey        = i18n.New("All clients must use one key for one name.")
	tryFails      = i18n.New("A holds the lock, and TryLock of B ends in an error: {error}")
	heldIsNoError = i18n.New("It is no error that another client has the lock: return false and nil.")
	tryIsLate     = i18n.New("A holds the lock, and TryLock of B returns after {time}.")
	tryOnce       = i18n.New("Make one attempt in TryLock, and return its answer: it is Lock that waits.")
)

// It is a failure of the catalogue, and none here, if both get the lock under one key.
func (r *run) heldLock() {
	a, b := r.Client("A"), r.Client("B")
	if !a.Lock(world.Within(r.Lease / 2)).Held() {
		return
	}
	began := r.Now()
	try := b.TryLock(world.Within(r.Lease / 2))
	switch keys, took := r.Trace().End().Keys, r.Now()-began; {
	case !r.ends(try):
	case took > moment:
		r.fault(try, tryOnce, tryIsLate, "time", took.Truncate(time.Millisecond))
	case try.Held() && len(keys) > 1:
		r.fault(try, oneKey, ownKeys, "first", keys[0].Name, "second", keys[1].Name)
	case r.result(try).Error != "":
		r.fault(try, heldIsNoError, tryFails, "error", r.result(try).Error)
	}
}

var (
	unlockFails = i18n.New("{client} holds the lock, and its Unlock ends in an error: {error}")
	freeIt      = i18n.New("Let Unlock free what Lock has taken, and return nil.")
	keyStays    = i18n.New("Unlock returns nil, but {key} is still in Redis.")
	deleteIt    = i18n.New("Let Unlock delete the key, and look at the answer of Redis.")
)

func (r *run) unlock() {
	a, b := r.Client("A"), r.Client("B")
	if a.Lock(world.Within(r.Lease/2)).Held() && r.frees(a) && r.takes(b.TryLock(world.Within(r.Lease/4))) {
		r.frees(b)
	}
}

// frees reports whether an Unlock by the holder frees the lock.
func (r *run) frees(holder *world.Client) bool {
	call := holder.Unlock(world.Within(r.Lease / 4))
	switch {
	case !r.ends(call):
		return false
	case r.result(call).Error != "":
		return r.fault(call, freeIt, unlockFails, "error", r.result(call).Error)
	case r.lockKey() != "":
		return r.fault(call, deleteIt, keyStays, "key", r.lockKey())
	}
	return true
}

var (
	sameKey     = i18n.New("The lock named \"{other}\" is refused because the one named \"{name}\" is held: both use the key {key}.")
	keyFromName = i18n.New("Make the key from the name that NewMutex gets.")
)

func (r *run) names() {
	another := r.Lock + ":another"
	a, o := r.Client("A"), r.ClientOf("O", another)
	if !a.Lock(world.Within(r.Lease / 2)).Held() {
		return
	}
	if try := o.TryLock(world.Within(r.Lease / 2)); r.ends(try) && !try.Held() && r.result(try).Error == "" {
		r.fault(try, keyFromName, sameKey, "other", another, "name", r.Lock, "key", r.lockKey())
	}
}

var (
	clientClosed = i18n.New("The lock has closed the client that it was given: the next command of the business ends with \"{error}\".")
	leaveOpen    = i18n.New("Leave the client open: it belongs to the program that made it.")
	keyChanged   = i18n.New("The lock has changed {key}, a key of the business: it held 7, and now GET says {reply}.")
	ownKeyOnly   = i18n.New("Touch the key of the lock only: no FLUSHALL and no FLUSHDB.")
)

func (r *run) business() {
	const stock = business + "stock"
	a := r.Client("A")
	a.StartRun("SET", stock, "7").Wait()
	a.Lock(world.Within(r.Lease / 2))
	a.Unlock(world.Within(r.Lease / 2))
	get := a.StartRun("GET", stock).Wait()
	if said := r.result(get); errors.Is(said.Err, redis.ErrClosed) {
		r.fault(get, leaveOpen, clientClosed, "error", said.Error)
		return
	}
	for _, e := range r.Trace().Events {
		if e.Kind == trace.Executed && e.Call == get.ID && !strings.Contains(e.Reply, "7") {
			r.fault(get, ownKeyOnly, keyChanged, "key", stock, "reply", e.Reply)
		}
	}
}

var (
	waitsOn         = i18n.New("A holds the lock. The context of B's Lock has ended, and Lock is still under way {time} later.")
	givesUpSilently = i18n.New("A holds the lock, and B's Lock returns without an error and without the lock.")
	returnWhy       = i18n.New("Let Lock return ctx.Err() when it gives up.")
)

// The context ends just after an attempt of a lock that asks every second, or more often.
func (r *run) wait() {
	a, b := r.Client("A"), r.Client("B")
	if !a.Lock(world.Within(r.Lease / 2)).Held() {
		return
	}
	call := b.StartLock()
	r.Sleep(2*moment + moment/10)
	if call.Over() {
		return // a failure of the catalogue covers that
	}
	call.Cancel()
	began := r.Now()
	r.Sleep(moment)
	if !call.Over() {
		call.Wait()
		r.fault(call, endWaits, waitsOn, "time", r.Now()-began)
	} else if call.Held() && r.ends(call) {
		r.fault(call, returnWhy, givesUpSilently)
	}
}

var (
	noConnection = i18n.New("{call} of {client} gets no connection: {error}")
	giveBack     = i18n.New("Give back each connection that the lock takes from the client, also when the answer is no.")
)

// A client has a few connections only: go-redis makes ten for each processor.
func (r *run) connections() {
	a, b := r.Client("A"), r.Client("B")
	for range 20 {
		for _, call := range []*world.Call{a.Lock(world.Within(r.Lease / 2)), b.TryLock(world.Within(r.Lease / 2)), a.Unlock()} {
			said := r.result(call)
			if errors.Is(said.Err, redis.ErrPoolTimeout) {
				r.fault(call, giveBack, noConnection, "error", said.Error)
			}
			if !call.Over() || r.broken.IsBroken() {
				return
			}
		}
	}
}

// fault records that a call breaks the promise, and how. It returns false.
func (r *run) fault(call *world.Call, advice, text i18n.Text, pairs ...any) bool {
	r.broken = Broken{Text: text.Args(append(pairs, "call", call.Op, "client", call.Client.Name)...), Advice: advice.Args()}
	for _, e := range r.Trace().Events {
		if e.Call == call.ID && e.Source != nil && e.Op != trace.OpRun {
			r.broken.Source = *e.Source
		}
	}
	return false
}

// result returns the result of a call.
func (r *run) result(call *world.Call) (told trace.Result) {
	for _, e := range r.Trace().Events {
		if e.Kind == trace.Returned && e.Call == call.ID {
			told = *e.Result
		}
	}
	return told
}

// lockKey returns the first key in Redis that keeps other clients out, or "".
func (r *run) lockKey() string {
	auxiliary := failures.AuxKeys(r.Trace())
	for _, key := range r.Trace().End().Keys {
		if !slices.Contains(auxiliary, key.Name) {
			return key.Name
		}
	}
	return ""
}
