package mutants_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// What a mutant of the re-entrant lock does wrong.
const (
	publishesAlways     mistake = "publishes at every unlock"
	publishesNothing    mistake = "publishes nothing"
	innerUnlockFrees    mistake = "frees the lock at the first unlock"
	countsAtOnce        mistake = "lets two re-entries change the count at once"
	triesInTurn         mistake = "waits in TryLock while another re-entry changes the count"
	takesBackTooMuch    mistake = "frees the outer hold when an inner acquire fails"
	countsLocally       mistake = "counts in its own memory only"
	countsUp            mistake = "adds to the count instead of setting it"
	vanishedIsUnlocked  mistake = "takes a lock that is gone for unlocked"
	oneOwnerForAll      mistake = "takes the whole process for one owner"
	zeroIsGranted       mistake = "takes a lease of less than a millisecond for a grant"
	publishesFirst      mistake = "publishes before it deletes"
	publishesAfterwards mistake = "publishes with a command of its own when it has deleted"
	freesTheNewest      mistake = "frees the newest hold of its process, whoever unlocks"
	losesForAll         mistake = "ends all renewals of its process when one hold is lost"
	forcesSilently      mistake = "publishes nothing when it is forced"
	renewsOnceClosed    mistake = "renews on when it is closed"
	closesSilently      mistake = "tells its holders nothing when it is closed"
	waitsOnceClosed     mistake = "waits on when it is closed"
	closesEarly         mistake = "does not wait for an Unlock when it is closed"
)

// reentrant is a small correct lock of stage 6's kind, which mutants damage: a
// hash {owner: count}, absolute counts, and waiters that listen for messages.
type reentrant struct {
	rdb     redis.UniversalClient
	key     string
	channel string
	lease   time.Duration
	fixed   bool // the lease is not renewed
	wrong   mistake

	id      string // of the process; owners begin with it
	mu      sync.Mutex
	owners  int
	holds   map[string]*hold // lane → what it holds
	closed  bool
	newest  string          // the owner that came last
	dogless atomic.Bool     // nothing is renewed any more
	over    context.Context // ends with Close
	end     context.CancelFunc
	line    line
	unlocks sync.WaitGroup
}

// hold is one lane's ownership.
type hold struct {
	owner string
	count int
	stop  chan struct{} // closed by the final Unlock
	ended chan struct{} // closed when the watchdog has ended
	turn  chan struct{} // capacity 1: full while an acquire changes the count
	lost  atomic.Bool
}

func reentrantSubject(wrong mistake) failures.Subject {
	return failures.Subject{
		Name: "re-entrant", New: newReentrant(wrong, false),
		Variants: map[failures.Variant]world.Constructor{failures.FixedLease: newReentrant(wrong, true)},
		Has: []failures.Feature{
			failures.Scripts, failures.Watchdog, failures.Reentry, failures.PubSub, failures.Force, failures.Closing,
		},
	}
}

func newReentrant(wrong mistake, fixed bool) world.Constructor {
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		r := &reentrant{
			rdb: rdb, key: "lock:{" + name + "}", channel: "lock__channel:{" + name + "}", lease: lease,
			fixed: fixed, wrong: wrong, id: uuid.NewString(), holds: map[string]*hold{},
		}
		r.over, r.end = context.WithCancel(context.Background())
		return r, nil
	}
}

// Answers of the scripts that are no counts and no times to live.
const (
	granted = -3
	gone    = -4
)

var (
	// acquireScript sets the owner's count to ARGV[2]. It answers -3, or how long the
	// lock is still taken, or -4 if the hold that it should count up is gone.
	acquireScript = redis.NewScript(`-- acquire
local mine = redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1
if not mine and ARGV[2] ~= "1" then return -4 end
if not mine and redis.call("EXISTS", KEYS[1]) == 1 then return redis.call("PTTL", KEYS[1]) end
redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
redis.call("PEXPIRE", KEYS[1], ARGV[3])
return -3`)
	// releaseScript sets the owner's count to ARGV[2]. At 0 the lock is free, and the
	// waiters are told. It answers the count, or -4 if the hold is gone.
	releaseScript = redis.NewScript(`-- release
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return -4 end
if ARGV[2] ~= "0" then
	redis.call("PEXPIRE", KEYS[1], ARGV[3])
	redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
	if ARGV[5] == "always" then redis.call("PUBLISH", ARGV[4], "0") end
	return tonumber(ARGV[2])
end
redis.call("DEL", KEYS[1])
if ARGV[5] ~= "never" then redis.call("PUBLISH", ARGV[4], "0") end
return 0`)
	forceScript = redis.NewScript(`-- force
local freed = redis.call("DEL", KEYS[1])
if freed == 1 and ARGV[2] ~= "never" then redis.call("PUBLISH", ARGV[1], "0") end
return freed`)
	renewScript = redis.NewScript(`-- renew
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then return 0 end
return redis.call("PEXPIRE", KEYS[1], ARGV[2])`)
	// incrementScript is an acquire that counts by itself: a repetition counts twice.
	incrementScript = redis.NewScript(`-- acquire
if redis.call("EXISTS", KEYS[1]) == 1 and redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
	return redis.call("PTTL", KEYS[1])
end
redis.call("HINCRBY", KEYS[1], ARGV[1], 1)
redis.call("PEXPIRE", KEYS[1], ARGV[3])
return -3`)
)

var errLost = errors.New("mutant: the hold is lost")

// lane is who calls.
func (r *reentrant) lane(ctx context.Context) string {
	if r.wrong == oneOwnerForAll {
		return ""
	}
	return world.Lane(ctx)
}

func (r *reentrant) holdOf(ctx context.Context) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holds[r.lane(ctx)]
}

// try makes one attempt. It answers granted, or how long the lock is still taken.
func (r *reentrant) try(ctx context.Context) (time.Duration, error) {
	h := r.holdOf(ctx)
	if h != nil && r.wrong == countsLocally {
		h.count++
		return granted, nil
	}
	if h == nil {
		r.mu.Lock()
		r.owners++
		h = &hold{owner: fmt.Sprintf("%s:%d", r.id, r.owners), stop: make(chan struct{}), ended: make(chan struct{}), turn: make(chan struct{}, 1)}
		r.mu.Unlock()
	}
	if r.wrong != countsAtOnce {
		h.turn <- struct{}{}
		defer func() { <-h.turn }()
	}
	script := acquireScript
	if r.wrong == countsUp {
		script = incrementScript
	}
	answer, err := script.Run(ctx, r.rdb, []string{r.key}, h.owner, h.count+1, r.lease.Milliseconds()).Int64()
	switch {
	case err != nil:
		return 0, errors.Join(err, r.takeBack(ctx, h))
	case answer == gone:
		return 0, errLost
	case answer == granted, answer == 0 && r.wrong == zeroIsGranted:
		r.enter(ctx, h)
		return granted, nil
	case answer < 0:
		return r.lease, nil
	}
	return time.Duration(answer) * time.Millisecond, nil
}

func (r *reentrant) enter(ctx context.Context, h *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.count++; h.count == 1 {
		r.holds[r.lane(ctx)], r.newest = h, h.owner
		go r.keep(h)
	}
}

// takeBack undoes an attempt of unknown outcome: the count is again what it was.
func (r *reentrant) takeBack(ctx context.Context, h *hold) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.lease/10)
	defer cancel()
	count := h.count
	if r.wrong == takesBackTooMuch {
		count = 0
	}
	return r.release(ctx, h.owner, count).Err()
}

func (r *reentrant) release(ctx context.Context, owner string, count int) *redis.Cmd {
	publish := ""
	switch r.wrong {
	case publishesFirst:
		if err := r.rdb.Publish(ctx, r.channel, "0").Err(); err != nil {
			return redis.NewCmdResult(nil, err)
		}
		publish = "never"
	case publishesNothing, publishesAfterwards:
		publish = "never"
	case publishesAlways:
		publish = "always"
	case innerUnlockFrees:
		count = 0
	}
	freed := releaseScript.Run(ctx, r.rdb, []string{r.key}, owner, count, r.lease.Milliseconds(), r.channel, publish)
	if r.wrong == publishesAfterwards && count == 0 {
		r.rdb.Publish(ctx, r.channel, "0")
	}
	return freed
}

// keep renews the lease, or with a fixed one waits for its end.
func (r *reentrant) keep(h *hold) {
	defer close(h.ended)
	if r.fixed {
		select {
		case <-h.stop:
		case <-time.After(r.lease):
			h.lost.Store(true)
		}
		return
	}
	tick := time.NewTicker(r.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-h.stop:
			return
		case <-tick.C:
		}
		if r.dogless.Load() {
			return
		}
		n, err := renewScript.Run(context.Background(), r.rdb, []string{r.key}, h.owner, r.lease.Milliseconds()).Int()
		if err == nil && n == 0 {
			h.lost.Store(true)
			r.dogless.Store(r.wrong == losesForAll)
			return
		}
	}
}

func (r *reentrant) TryLock(ctx context.Context) (bool, error) {
	if h := r.holdOf(ctx); h != nil && len(h.turn) > 0 && r.wrong != triesInTurn {
		return false, nil
	}
	left, err := r.try(ctx)
	return left == granted, err
}

func (r *reentrant) Unlock(ctx context.Context) error {
	r.unlocks.Add(1)
	defer r.unlocks.Done()
	h := r.holdOf(ctx)
	if h == nil {
		if r.wrong == vanishedIsUnlocked {
			h = &hold{}
		} else {
			return errNotHeld
		}
	} else if h.count--; h.count == 0 {
		close(h.stop)
		<-h.ended
		r.mu.Lock()
		delete(r.holds, r.lane(ctx))
		r.mu.Unlock()
	} else if r.wrong == countsLocally {
		return nil
	}
	owner := h.owner
	if r.wrong == freesTheNewest {
		owner = r.newest
	}
	answer, err := r.release(ctx, owner, h.count).Int64()
	if err == nil && answer == gone && r.wrong != vanishedIsUnlocked {
		return errNotHeld
	}
	return err
}

func (r *reentrant) ForceUnlock(ctx context.Context) (bool, error) {
	publish := ""
	if r.wrong == forcesSilently {
		publish = "never"
	}
	return forceScript.Run(ctx, r.rdb, []string{r.key}, r.channel, publish).Bool()
}

func (r *reentrant) HoldCount(ctx context.Context) (int, error) {
	h := r.holdOf(ctx)
	if h == nil {
		return 0, nil
	}
	n, err := r.rdb.HGet(ctx, r.key, h.owner).Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}

func (r *reentrant) Lost(ctx context.Context) (<-chan struct{}, func() bool) {
	h := cmp.Or(r.holdOf(ctx), &hold{})
	return h.ended, h.lost.Load
}

// Close ends the waits, and the watchdogs of holds that nobody has released, and tells their
// holders. The leases do the rest.
func (r *reentrant) Close() error {
	if r.wrong != closesEarly {
		defer r.unlocks.Wait()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong != waitsOnceClosed {
		r.end()
	}
	if r.wrong == renewsOnceClosed && !r.closed {
		r.closed = true // the world closes each lock at its end
		return nil
	}
	for lane, h := range r.holds {
		h.lost.Store(r.wrong != closesSilently)
		close(h.stop)
		delete(r.holds, lane)
	}
	return nil
}
