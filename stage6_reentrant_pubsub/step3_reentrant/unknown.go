package stage6

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// attempts is how often a count is sent while its outcome stays unknown.
const attempts = 3

// isAnswer tells whether Redis answered with this error: the command did nothing. Redis begins
// it with a code, such as OOM. What has none is the word of a proxy, which may have waited no
// longer: after that, as after any other error, nobody knows whether the command did anything.
func isAnswer(err error) bool {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return false
	}
	code, _, _ := strings.Cut(answer.Error(), " ")
	return code == strings.ToUpper(code)
}

// ended is why ctx is over, nil if it is not. Timers that go off at one moment do so
// in any order, so the deadline decides: nobody asks for a caller that has gone.
func ended(ctx context.Context) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// setCount sets the count of this owner, and tells whether it was in Redis. It takes
// a sixth of the lease at most, whatever became of the caller's context.
func (m *Mutex) setCount(owner string, count int) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), m.ttl/6)
	defer cancel()
	return countScript.Run(ctx, m.rdb, []string{m.key}, owner, count).Bool()
}

// cleanUp frees what an attempt of unknown outcome has got, or will get: its command
// may be on its way for longer than its caller waited. So it tries, less and less
// often, until it has found something or the lease would be over. The owner is that
// attempt's alone: nobody else's hold is in danger.
func (m *Mutex) cleanUp(owner string) {
	for wait := m.ttl / 60; wait < m.ttl; wait *= 2 {
		if freed, err := m.setCount(owner, 0); err == nil && freed {
			return
		}
		time.Sleep(wait)
	}
}
