// Package subject6 makes stage 6, which has its own API, a subject of the failures.
package subject6

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
	stage6 "lockkata/stage6_reentrant_pubsub"
)

// Subject returns stage 6 as a subject of the failures.
func Subject() failures.Subject {
	s := failures.Subject{
		Name: "stage6", New: variant(catalogue.Default), Variants: map[catalogue.Variant]world.Constructor{},
		Ignore: func(key string) bool {
			return strings.HasSuffix(key, ":token") || strings.Contains(key, adapters.Another)
		},
		// These functions only send scripts for their callers.
		SkipFrames: []string{"lockkata/stage6_reentrant_pubsub.(*Service).run", "lockkata/stage6_reentrant_pubsub.(*ownership).send"},
		Has: []catalogue.Feature{
			catalogue.Scripts, catalogue.Watchdog, catalogue.Reentry, catalogue.PubSub, catalogue.Fencing, catalogue.Force,
			catalogue.Closing, catalogue.HoldContext,
		},
	}
	for _, v := range []catalogue.Variant{
		catalogue.FixedLease, catalogue.LongLease, catalogue.Limited, catalogue.Beside, catalogue.BesideRenewed, catalogue.Crowded, catalogue.Nested,
	} {
		s.Variants[v] = variant(v)
	}
	return s
}

func variant(of catalogue.Variant) world.Constructor {
	return adapters.Plain(func(rdb redis.UniversalClient, name string, lease time.Duration) (failures.Locker, error) {
		options := []stage6.Option{stage6.WithWatchdogTimeout(lease)}
		var leases []stage6.LockOption
		switch of {
		case catalogue.Limited:
			options = append(options, stage6.WithMaxHold(3*lease))
		case catalogue.FixedLease, catalogue.BesideRenewed: // a third of the watchdog's lease, to distinguish them
			options = []stage6.Option{stage6.WithWatchdogTimeout(3 * lease)}
			leases = []stage6.LockOption{stage6.Lease(lease)}
		case catalogue.LongLease:
			options = []stage6.Option{stage6.WithWatchdogTimeout(lease / 20)}
			leases = []stage6.LockOption{stage6.Lease(lease)}
		}
		svc, err := stage6.NewService(rdb, options...)
		if err != nil {
			return nil, err
		}
		switch of {
		case catalogue.Beside:
			err = hold(svc, adapters.AnotherName(), stage6.Lease(20*lease))
		case catalogue.BesideRenewed:
			err = hold(svc, adapters.AnotherName())
		case catalogue.Crowded:
			for i := range 4 {
				err = cmp.Or(err, hold(svc, fmt.Sprint(adapters.Another, i), stage6.Lease(20*lease)))
			}
		}
		if err != nil {
			return nil, err
		}
		lock, err := lockerOf(svc, name, leases...)
		if err != nil || of != catalogue.Nested {
			return lock, err
		}
		outer, err := lockerOf(svc, adapters.AnotherName())
		return adapters.Around(outer, lock), err
	})
}

func lockerOf(svc *stage6.Service, name string, leases ...stage6.LockOption) (failures.Locker, error) {
	m, err := svc.Mutex(name)
	if err != nil {
		return nil, err
	}
	lock := func(ctx context.Context) (*stage6.Hold, error) { return m.Lock(ctx, leases...) }
	try := func(ctx context.Context) (*stage6.Hold, error) { return m.TryLock(ctx, leases...) }
	return locker{adapters.NewHolds(lock, try, stage6.ErrLocked, stage6.ErrLost), svc, m}, nil
}

// hold takes a lock. If another process holds it, hold waits for it in the background until the
// service is closed.
func hold(svc *stage6.Service, name string, leases ...stage6.LockOption) error {
	m, err := svc.Mutex(name)
	if err != nil {
		return err
	}
	if _, err = m.TryLock(context.Background(), leases...); err != stage6.ErrLocked {
		return err
	}
	go func() { _, _ = m.Lock(context.Background(), leases...) }()
	return nil
}

// locker makes stage 6 a Locker.
type locker struct {
	*adapters.Holds[*stage6.Hold]
	svc   *stage6.Service
	mutex *stage6.Mutex
}

// HoldCount returns how often the client holds the lock.
func (l locker) HoldCount(ctx context.Context) (int, error) {
	nested, cancel := l.Nest(ctx)
	defer cancel()
	return l.mutex.HoldCount(nested)
}

// ForceUnlock frees the lock, no matter which client holds it.
func (l locker) ForceUnlock(ctx context.Context) (bool, error) { return l.mutex.ForceUnlock(ctx) }

// Close ends the service.
func (l locker) Close() error { return l.svc.Close() }
