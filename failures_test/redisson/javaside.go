package main

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"
)

// javaSide locks with Redisson.
type javaSide struct {
	*peer
	start   func(ctx context.Context) (*peer, error) // another process of the kind
	threads atomic.Int64
}

func (s *javaSide) Name() string { return "Redisson" }

func (s *javaSide) Owner(lock string) (owner, error) {
	return javaOwner{s.peer, strconv.FormatInt(s.threads.Add(1), 10), lock}, nil
}

// query is a thread that owns nothing.
const query = "query"

func (s *javaSide) IsLocked(ctx context.Context, lock string) (bool, error) {
	return isTrue(s.ask(ctx, query, "isLocked", lock))
}

func (s *javaSide) TTL(ctx context.Context, lock string) (time.Duration, error) {
	answer, err := s.ask(ctx, query, "ttl", lock)
	if err != nil {
		return 0, err
	}
	millis, err := strconv.ParseInt(answer, 10, 64)
	return time.Duration(max(millis, 0)) * time.Millisecond, err
}

func (s *javaSide) ForceUnlock(ctx context.Context, lock string) (bool, error) {
	return isTrue(s.ask(ctx, query, "forceUnlock", lock))
}

// Doomed starts another Java process that locks.
func (s *javaSide) Doomed(ctx context.Context, lock string) (doomed, error) {
	p, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := p.ask(ctx, "1", "lock", lock); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// javaOwner is a thread of the Java process.
type javaOwner struct {
	peer         *peer
	thread, lock string
}

func (o javaOwner) Lock(ctx context.Context) error {
	_, err := o.peer.ask(ctx, o.thread, "lock", o.lock)
	return err
}

func (o javaOwner) LockFor(ctx context.Context, d time.Duration) error {
	_, err := o.peer.ask(ctx, o.thread, "lock", o.lock, strconv.FormatInt(d.Milliseconds(), 10))
	return err
}

func (o javaOwner) TryLock(ctx context.Context) (bool, error) {
	return isTrue(o.peer.ask(ctx, o.thread, "tryLock", o.lock))
}

func (o javaOwner) Unlock(ctx context.Context) (bool, error) {
	answer, err := o.peer.ask(ctx, o.thread, "unlock", o.lock)
	return answer == "ok", err
}

func (o javaOwner) IsHeld(ctx context.Context) (bool, error) {
	return isTrue(o.peer.ask(ctx, o.thread, "isHeld", o.lock))
}

func (o javaOwner) HoldCount(ctx context.Context) (int, error) {
	answer, err := o.peer.ask(ctx, o.thread, "holdCount", o.lock)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(answer)
}

func isTrue(answer string, err error) (bool, error) { return answer == "true", err }
