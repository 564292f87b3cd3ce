package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/guard"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var (
	differInRuns = i18n.New("The same run on an empty Redis gave the tokens {first}, and then {second}: they depend on what your process did before, and each process has counters of its own.")
	notOfRedis   = i18n.New("The tokens {tokens} are in no reply of Redis, and do not change with its clock: another process may have a higher one, or the same.")
	tokenNext    = i18n.New("Draw the token in the script that takes the lock, and return it.")
	sharesState  = i18n.New("A and {client} are two processes, but while A takes, holds or frees the lock, {client} sends nothing to Redis: it learns of A from a variable of the package. The failures play all processes in one, so they cannot tell what this lock does in several.")
	sharesNext   = i18n.New("Callers of one process may share a turn or a queue, in a map by rdb and key: each process has a client of its own here. Keep a value and a watchdog in the hold or in the object, because the next Mutex of that name overwrites what such a map has.")
)

// shared returns the cause of a lock whose processes share a variable of its package. They are all played in one
// process, so such a lock cannot be played. It is recognised by a second process that sends nothing while the first
// one takes the lock, holds it or frees it.
func (r *run) shared() *guard.Cause {
	tr, _ := world.Run(r.t, r.subject.Config(), func(w *world.World) {
		a := w.Client("A")
		asks := func(name string) {
			w.Client(name).StartTryLock(world.Within(w.Lease / 10))
			w.Sleep(w.Lease / 5)
		}
		a.Before(world.Any).Freeze()
		a.StartLock()
		w.Sleep(w.Lease / 5)
		asks("B")
		a.Thaw()
		w.Sleep(w.Lease / 30)
		asks("C")
		a.Before(world.Of(trace.OpUnlock, world.Any)).Freeze()
		a.StartUnlock()
		asks("D")
	})
	if tr == nil || len(tr.Clients) < 2 {
		return nil
	}
	sends := func(client string) bool {
		return slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Kind == trace.Sent && e.Process == client })
	}
	if i := slices.IndexFunc(tr.Clients, func(client string) bool { return !sends(client) }); i > 0 {
		return guard.Because(guard.Shares, sharesNext, sharesState.Args("client", tr.Clients[i]))
	}
	return nil
}

// ownTokens returns the cause of a lock whose tokens do not come from Redis. They differ when the same run is
// made again, as a variable of the package does; or no reply has one of them, and the clock of Redis
// does not change them.
func (r *run) ownTokens(f catalogue.Failure, first *trace.Trace) *guard.Cause {
	again := func(jump time.Duration) []int64 {
		r.guard.Begin()
		tr, _ := world.Run(r.t, r.subject.ConfigFor(f), func(w *world.World) {
			if jump > 0 {
				w.JumpServerClock(jump)
			}
			f.Script(w)
		})
		return tokensIn(tr)
	}
	tokens, replies := tokensIn(first), ""
	for _, e := range first.Events {
		replies += " " + e.Reply
	}
	isIn := func(token int64) bool { return strings.Contains(replies, strconv.FormatInt(token, 10)) }
	if len(tokens) == 0 {
		return nil
	}
	switch second := again(0); {
	case !slices.Equal(second, tokens):
		return guard.Because(guard.OwnTokens, tokenNext, differInRuns.Args("first", fmt.Sprint(tokens), "second", fmt.Sprint(second)))
	case !slices.ContainsFunc(tokens, isIn) && slices.Equal(again(time.Hour), tokens):
		return guard.Because(guard.OwnTokens, tokenNext, notOfRedis.Args("tokens", fmt.Sprint(tokens)))
	}
	return nil
}

// tokensIn returns the tokens in the ledger at the end of a run.
func tokensIn(tr *trace.Trace) (tokens []int64) {
	if tr == nil {
		return nil
	}
	for _, e := range tr.Events {
		if e.Answer != nil && e.Orders != nil {
			tokens = nil
			for _, o := range e.Orders {
				if o.Token != 0 {
					tokens = append(tokens, o.Token)
				}
			}
		}
	}
	return tokens
}
