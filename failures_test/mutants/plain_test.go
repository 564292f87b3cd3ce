package mutants_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

// What a mutant of the plain lock does wrong.
const (
	asksFirst   mistake = "asks with GET whether the lock is free, then sets it"
	leasesNot   mistake = "gives the key no lease at all"
	keepsValue  mistake = "keeps its value for as long as the object lives"
	waitsNot    mistake = "does not wait in Lock"
	tryWaits    mistake = "waits in TryLock"
	asksAtOnce  mistake = "asks again at once after an error"
	heedsNot    mistake = "waits on when the context has ended"
	clings      mistake = "goes on to free a hold whose Unlock failed, when it has another one"
	sticks      mistake = "unlocks no more when an Unlock has failed"
	owesOne     mistake = "takes an Unlock that was one too many for the next one"
	saysBoth    mistake = "says true when TryLock ends in an error"
	valueFirst  mistake = "remembers its value before it has the lock"
	asksOnAndOn mistake = "asks again each time a grant came too late"
	linesUp     mistake = "keeps a place in the line for a client whose TryLock was refused"
	oneBucket   mistake = "takes each name of its process for a re-entry of the first"
	freesLater  mistake = "goes on to free in the background what an Unlock could not free" // this is right
)

// plain is a small correct lock of stage 4's kind, which mutants damage.
type plain struct {
	rdb   redis.UniversalClient
	key   string
	lease time.Duration
	wrong mistake
	value string
	owes  bool                          // an Unlock failed, or was one too many
	holds map[redis.UniversalClient]int // of all names of a process
}

func plainSubject(wrong mistake) failures.Subject {
	return failures.Subject{Name: "plain", New: newPlain(wrong), Has: []failures.Feature{failures.Scripts}, Ignore: failures.IsAuxKey}
}

func newPlain(wrong mistake) world.Constructor {
	holds := map[redis.UniversalClient]int{}
	return func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return &plain{rdb: rdb, key: "lock:" + name, lease: lease, wrong: wrong, holds: holds}, nil
	}
}

func (p *plain) TryLock(ctx context.Context) (bool, error) {
	if p.wrong == tryWaits {
		wait, cancel := context.WithTimeout(ctx, p.lease/10)
		defer cancel()
		err := poll(wait, p.attempt)
		return err == nil, nil
	}
	sent := time.Now()
	held, err := p.attempt(ctx)
	if late := time.Since(sent) >= p.lease; held && late && p.wrong == asksOnAndOn {
		return p.TryLock(ctx)
	}
	return held, err
}

func (p *plain) attempt(ctx context.Context) (bool, error) {
	value := uuid.NewString()
	if p.wrong == keepsValue && p.value != "" {
		value = p.value
	}
	if p.wrong == valueFirst {
		p.value = value
	}
	if p.wrong == linesUp && p.rdb.Exists(ctx, p.key+":waiters").Val() == 1 {
		return false, nil
	}
	set := []any{"SET", p.key, value, "NX", "PX", p.lease.Milliseconds()}
	switch p.wrong {
	case asksFirst:
		if err := p.rdb.Get(ctx, p.key).Err(); !errors.Is(err, redis.Nil) {
			return false, err
		}
		set = slices.Delete(set, 3, 4)
	case leasesNot:
		set = set[:4]
	}
	err := p.rdb.Do(ctx, set...).Err()
	if errors.Is(err, redis.Nil) {
		if p.wrong == linesUp { // for five seconds
			err = p.rdb.SetNX(ctx, p.key+":waiters", p.key, p.lease/6).Err()
			return false, err
		}
		return false, nil
	}
	if err == nil && !(p.owes && p.wrong == clings) {
		p.value = value
		p.holds[p.rdb]++
	}
	return err == nil || p.wrong == saysBoth, err
}

func (p *plain) Lock(ctx context.Context) error {
	switch p.wrong {
	case waitsNot:
		held, err := p.TryLock(ctx)
		if err == nil && !held {
			return errNotHeld
		}
		return err
	case heedsNot:
		ctx = context.WithoutCancel(ctx)
	case asksAtOnce:
		return poll(ctx, func(ctx context.Context) (held bool, err error) {
			for held, err = p.TryLock(ctx); err != nil && ctx.Err() == nil; {
				held, err = p.TryLock(ctx)
			}
			return held, err
		})
	}
	return poll(ctx, p.TryLock)
}

var errNotHeld = errors.New("mutant: not held")

var freeScript = redis.NewScript(`-- free
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`)

func (p *plain) Unlock(ctx context.Context) error {
	if p.owes && p.wrong == sticks {
		return errNotHeld
	}
	if p.owes && p.wrong == owesOne {
		p.owes = false
		return nil
	}
	if p.holds[p.rdb]--; p.wrong == oneBucket && p.holds[p.rdb] > 0 {
		return nil
	}
	n, err := freeScript.Run(ctx, p.rdb, []string{p.key}, p.value).Int()
	if err != nil && p.wrong == freesLater {
		go p.free(p.value)
		p.value = ""
	}
	p.owes = err != nil || n == 0 && p.wrong == owesOne
	if err == nil && n == 0 {
		return errNotHeld
	}
	return err
}

// free asks until Redis has answered, or the lease is over.
func (p *plain) free(value string) {
	ctx, cancel := context.WithTimeout(context.Background(), p.lease)
	defer cancel()
	for freeScript.Run(ctx, p.rdb, []string{p.key}, value).Err() != nil && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
}

func poll(ctx context.Context, try func(context.Context) (bool, error)) error {
	for {
		held, err := try(ctx)
		if err != nil || held {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// theTime asks for a value that is made from the time of each attempt.
const theTime = "the time"

// remembering is a lock that keeps its value in a variable of all locks of that name, or has one
// value for all of its holds.
type remembering struct {
	*plain
	values map[string]string
}

func rememberingSubject(value func() string) failures.Subject {
	values := map[string]string{}
	return failures.Subject{Name: "remembering", New: func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		return remembering{&plain{rdb: rdb, key: name, lease: lease, value: value()}, values}, nil
	}}
}

func (l remembering) TryLock(ctx context.Context) (bool, error) {
	value := l.value
	switch value {
	case "":
		value = uuid.NewString()
	case theTime:
		value = strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	held, err := l.rdb.SetNX(ctx, l.key, value, l.lease).Result()
	if held {
		l.values[l.key] = value
	}
	return held, err
}

func (l remembering) Lock(ctx context.Context) error { return poll(ctx, l.TryLock) }

func (l remembering) Unlock(ctx context.Context) error {
	return freeScript.Run(ctx, l.rdb, []string{l.key}, l.values[l.key]).Err()
}

func TestWhoseValueItIsThatFreesAnothersLock(t *testing.T) {
	const of = "wrong delete: A's EVALSHA removes the lock of B (B1)"
	for says, value := range map[string]func() string{
		of + ": A sends the value of B, which it never wrote":                                         func() string { return "" },
		of + ": A and B wrote the same value":                                                         func() string { return "4dd9f4dc-2e29-4d52-a1fd-3b0e2c7f1a55" },
		of + ": A and B wrote the same value ":                                                        func() string { return "locked" },
		of + ": A and B wrote the same value, but only because no time passes here between two calls": func() string { return theTime },
	} {
		require.Equal(t, strings.TrimSpace(says), play(t, find(t, "double-unlock"), rememberingSubject(value)).Sentence())
	}
}
