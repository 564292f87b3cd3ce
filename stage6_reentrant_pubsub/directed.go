package stage6

import (
	"context"
	_ "embed"
	"strconv"
	"time"
)

// WithDirectedWakeups wakes one process for each lock that becomes free, the one
// that has waited longest, instead of all: with many processes waiting, each
// hand-over costs one attempt, and nobody is overtaken. All processes that share
// a lock must use it, or none. In a Cluster it needs WithShardedPubSub. The
// default wakes all.
func WithDirectedWakeups() Option { return func(s *Service) { s.directed = true } }

var (
	//go:embed directed.lua
	directedSource string
	//go:embed directed_acquire.lua
	directedAcquireSource string
	//go:embed directed_leave.lua
	directedLeaveSource string
)

// The scripts of directed wake-ups are the ordinary ones with something around.
var (
	directedAcquire = newScript("-- acquire_directed\n" + directedSource +
		"local function acquire()\n" + acquireSource + "end\n" + directedAcquireSource)
	directedRelease = thenChoose("release", releaseSource)
	directedForce   = thenChoose("force", forceSource)
	directedLeave   = newScript("-- leave_directed\n" + directedSource + directedLeaveSource)
)

// thenChoose is a script that frees the lock, and then chooses who gets it.
func thenChoose(name, source string) script {
	return newScript("-- " + name + "_directed\n" + directedSource +
		"local function free()\n" + source + "end\nif free() == 0 then return 0 end\nchoose()\nreturn 1\n")
}

// waiters is the key of the rooms that wait for the lock.
func (m *Mutex) waiters() string { return m.svc.layout.Waiters(m.name) }

// askFor sends the acquire for a room, nil for one who does not wait.
func (m *Mutex) askFor(ctx context.Context, in *room, owner any, r request) (int64, error) {
	name, others := "", 0
	if in != nil {
		name = in.id
		if in.hasQueue() {
			others = 1
		}
	}
	answer, err := run(ctx, m.svc.rdb, directedAcquire, withKeys(m.key, m.token, m.waiters()),
		owner, r.lease.Milliseconds(), tokenKept, name, others, tokenKept).Int64()
	if in != nil {
		// After an error nobody knows.
		in.setKnown(err != nil || answer < 0 || others == 1)
	}
	return answer, err
}

// setKnown notes whether Redis may know the room, as one that waits or as the one
// that is chosen.
func (r *room) setKnown(known bool) {
	r.mu.Lock()
	r.known = known
	r.mu.Unlock()
}

// withdraw tells Redis that nobody waits in the room any more.
func (r *room) withdraw() {
	m := r.mutex
	s := m.svc
	ctx, cancel := context.WithTimeout(s.ctx, s.lease/6)
	defer cancel()
	err := run(ctx, s.rdb, directedLeave, withKeys(m.key, m.waiters()), m.channel, s.publish, r.id).Err()
	if err != nil { // a room that is chosen and does not come is passed over
		s.logger.Warn("leaving the queue failed", "name", m.name, "error", err)
	}
}

// told acts on a message to the room: it is chosen, or looks in that many
// milliseconds whether the room chosen before it has come.
func (r *room) told(message string) {
	if after, err := strconv.Atoi(message); err == nil {
		r.lookWithin(time.Duration(after) * time.Millisecond)
		return
	}
	r.signal()
}

// lookWithin has the first one look after d at the latest.
func (r *room) lookWithin(d time.Duration) {
	r.mu.Lock()
	if at := time.Now().Add(d + time.Millisecond); at.Before(r.again) {
		r.again = at
	}
	r.mu.Unlock()
	select {
	case r.sooner <- struct{}{}:
	default:
	}
}
