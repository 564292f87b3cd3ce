package locktest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

var (
	sameValue  = i18n.New("Two holds of A wrote the same value. If the first Unlock is delayed, it deletes the key of the second hold.")
	newValue   = i18n.New("Make a new value in TryLock, for each attempt.")
	clockValue = i18n.New("Two clients that ask at the same moment write the same value: it is made of the clock alone.")
	fewValues  = i18n.New("The values of {n} holds are short, such as {value}: two clients may write the same one, and each takes the key for its own.")
	longValue  = i18n.New("Make the value of at least 8 random bytes: uuid.NewString(), or rand.Text() of crypto/rand.")
)

func (r *run) values() {
	const holds = 20
	a := r.Client("A")
	for range holds {
		if !a.Lock(world.Within(r.Lease / 4)).Held() {
			return
		}
		if unlock := a.Unlock(world.Within(r.Lease / 4)); !unlock.Over() || r.lockKey() != "" {
			return
		}
		r.Sleep(time.Millisecond)
	}
	another := r.Lock + ":another"
	o := r.ClientOf("O", another)
	a.Lock(world.Within(r.Lease / 4))
	o.Lock(world.Within(r.Lease / 4)) // at the same moment
	var written []string
	lock, short := r.Trace().LockKey(), 0
	for _, s := range r.Trace().Scenes() {
		e := s.Event
		key := slices.IndexFunc(s.Keys, func(k trace.Key) bool {
			return (k.Name == lock || k.Name == strings.Replace(lock, r.Lock, another, 1)) &&
				slices.ContainsFunc(e.Effects, func(x trace.Effect) bool { return x.Kind == trace.Installed && x.Key == k.Name })
		})
		if key < 0 {
			continue
		}
		owner, value := s.Keys[key].Owner, s.Keys[key].Entries[0].ID()
		_, err := strconv.Atoi(value)
		if value != owner.Label && (len(value) < 8 || len(value) < 10 && err == nil) {
			short++
		}
		switch {
		case e.Client == "O" && !r.broken.IsBroken() && owner.Value() == written[len(written)-1]:
			r.broken = Broken{Text: clockValue.Args(), Advice: longValue.Args(), Source: *e.Source}
		case e.Client == "O":
		case slices.Contains(written, owner.Value()):
			r.broken = Broken{Text: sameValue.Args(), Advice: newValue.Args(), Source: *e.Source}
			return
		case short == holds:
			r.broken = Broken{Text: fewValues.Args("n", holds, "value", value), Advice: longValue.Args(), Source: *e.Source}
		}
		written = append(written, owner.Value())
	}
}

var (
	stillLocked = i18n.New("Redis refuses A's Unlock. A gets the error and unlocks again, but {key} is still in Redis.")
	keepValue   = i18n.New("Keep what Unlock needs until Redis has answered: after an error it may be called again.")
)

// A lock with a callback cannot be freed again: its second Unlock returns ErrNoHold.
func (r *run) unlockAgain() {
	a := r.Client("A")
	if !a.Lock(world.Within(r.Lease / 4)).Held() {
		return
	}
	a.Before(world.Of(trace.OpUnlock, world.Write)).Fail("MISCONF Redis is configured to save RDB snapshots, but it cannot")
	first := a.Unlock(world.Within(r.Lease / 4))
	if !first.Over() || r.result(first).Error == "" {
		return
	}
	again := a.Unlock(world.Within(r.Lease / 4))
	r.Sleep(r.Lease / 15) // a goroutine may still be freeing it
	if r.ends(again) && r.result(again).Error != adapters.ErrNoHold.Error() && r.lockKey() != "" {
		r.fault(again, keepValue, stillLocked, "key", r.lockKey())
	}
}

var (
	unlocksEarly = i18n.New("{command} of A's Unlock reaches Redis while a renewal has not been answered yet.")
	joinDog      = i18n.New("Let Unlock stop the watchdog and wait until its goroutine has ended, for instance on a channel that it closes, and then delete.")
)

// A gets the answer to the renewal so soon that no timeout ends its wait.
func (r *run) renewal() {
	a := r.Client("A")
	renewal := a.After(world.Extends).IfSent()
	renewal.Delay(3 * moment / 5)
	a.Lock(world.Within(r.Lease / 4))
	r.SleepUntil(renewal, r.Lease, moment/5)
	a.Unlock(world.Within(r.Lease / 4))
	for _, s := range r.Trace().Scenes() {
		isLate := func(q *trace.Request) bool {
			leases := func(x trace.Effect) bool { return x.Kind == trace.Leased }
			return q.Call == 0 && q.Executed >= 0 && slices.ContainsFunc(s.Trace.Events[q.Executed].Effects, leases)
		}
		if e := s.Event; e.Kind == trace.Executed && e.Op == trace.OpUnlock && slices.ContainsFunc(s.UnderWay, isLate) {
			r.broken = Broken{Text: unlocksEarly.Args("command", e.Command[0]), Advice: joinDog.Args(), Source: *e.Source}
			return
		}
	}
}

var (
	outlives = i18n.New("A's Unlock has returned, and the context of its hold has not ended.")
	endIt    = i18n.New("End the context of the hold in Unlock: what still works with it has to stop before the lock is free.")
)

func (r *run) holdEnds() {
	a := r.Client("A")
	lock := a.Lock(world.Within(r.Lease / 4))
	unlock := a.Unlock(world.Within(r.Lease / 4))
	r.Sleep(moment) // a goroutine may still have to end it
	if lock.Ended() == nil || r.result(unlock).Error != "" {
		return
	}
	select {
	case <-lock.Ended():
	default:
		r.fault(unlock, endIt, outlives)
	}
}

var (
	keepsListening = i18n.New("B has waited {n} times, one time after the other, and {n} of its connections are still subscribed.")
	endListening   = i18n.New("End the subscription when the wait is over, also after an error: with defer sub.Close().")
)

func (r *run) listening() {
	const waits = 3
	a, b := r.Client("A"), r.Client("B")
	a.Lock(world.Within(r.Lease / 4))
	for range waits {
		b.Lock(world.Within(r.Lease / 10))
	}
	if b.Listens() >= waits {
		r.broken = Broken{Text: keepsListening.Args("n", waits), Advice: endListening.Args()}
	}
}

var (
	lowToken   = i18n.New("A's hold has the token {first}, and B's, which came after it, has {second}.")
	writeToken = i18n.New("Write Token(ctx context.Context) int64: the token of the present hold, higher than all before it.")
)

// The ledger records the token of each write.
func (r *run) tokens() {
	for _, name := range []string{"A", "B"} {
		c := r.Client(name)
		c.Lock(world.Within(r.Lease / 4))
		c.Insert("order of " + name)
		c.Unlock(world.Within(r.Lease / 4))
	}
	orders := r.Trace().End().Orders
	if first, second := orders[0].Token, orders[1].Token; first <= 0 || second <= first {
		r.broken = Broken{Text: lowToken.Args("first", first, "second", second), Advice: writeToken.Args()}
	}
}
