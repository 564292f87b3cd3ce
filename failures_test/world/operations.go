package world

import (
	"context"
	"io"

	"lockkata/failures_test/trace"
)

// Locker returns the lock object of the client, for calls of methods that a Locker lacks; see [Client.Start].
func (c *Client) Locker() Locker { return c.locker }

// Lock waits until the client holds the lock, a fault stops it, or the horizon is reached.
func (c *Client) Lock(options ...Option) *Call { return c.StartLock(options...).Wait() }

// TryLock makes one attempt.
func (c *Client) TryLock(options ...Option) *Call { return c.StartTryLock(options...).Wait() }

// Unlock frees the lock.
func (c *Client) Unlock(options ...Option) *Call { return c.StartUnlock(options...).Wait() }

// StartLock begins a Lock and does not wait for it.
func (c *Client) StartLock(options ...Option) *Call {
	return c.Start(trace.OpLock, func(ctx context.Context) (trace.Result, error) {
		return trace.Result{Held: true}, c.locker.Lock(ctx)
	}, options...)
}

// StartTryLock begins a TryLock and does not wait for it.
func (c *Client) StartTryLock(options ...Option) *Call {
	return c.Start(trace.OpTryLock, func(ctx context.Context) (trace.Result, error) {
		held, err := c.locker.TryLock(ctx)
		return trace.Result{Held: held}, err
	}, options...)
}

// StartUnlock begins an Unlock and does not wait for it.
func (c *Client) StartUnlock(options ...Option) *Call {
	return c.Start(trace.OpUnlock, func(ctx context.Context) (trace.Result, error) {
		return trace.Result{Claim: trace.ClaimDone}, c.locker.Unlock(ctx)
	}, options...)
}

// ForceUnlock frees the lock from outside, even if another client holds it.
func (c *Client) ForceUnlock() *Call {
	forcing, ok := c.locker.(Forcing)
	if !ok {
		panic(scenarioError{MissingError{c.Name, "ForceUnlock(ctx) (bool, error)"}})
	}
	return c.Start(trace.OpForce, func(ctx context.Context) (trace.Result, error) {
		freed, err := forcing.ForceUnlock(ctx)
		if freed {
			return trace.Result{Claim: trace.ClaimDone}, err
		}
		return trace.Result{}, err
	}).Wait()
}

// Close closes the lock object of the client's process, as a process does before it exits.
func (c *Client) Close() *Call {
	closer, ok := c.locker.(io.Closer)
	if !ok {
		panic(scenarioError{MissingError{c.Name, "Close() error"}})
	}
	return c.Start(trace.OpClose, func(context.Context) (trace.Result, error) {
		return trace.Result{Claim: trace.ClaimDone}, closer.Close()
	}).Wait()
}

// HoldCount asks the lock how often the client holds it. Without support for that the call does
// nothing.
func (c *Client) HoldCount() *Call {
	counting, ok := c.locker.(Counting)
	if !ok {
		return &Call{Client: c, Op: trace.OpCount, over: true}
	}
	return c.Start(trace.OpCount, func(ctx context.Context) (trace.Result, error) {
		n, err := counting.HoldCount(ctx)
		return trace.Result{Count: n, Claim: trace.ClaimDone}, err
	}).Wait()
}

// StartRun sends a command of the application to the first server, on the connections that the process's
// lock uses, and does not wait for the reply.
func (c *Client) StartRun(args ...any) *Call {
	if c.process.driver == nil {
		fail("%s has no connections for %v: its lock did not ask for a driver", c.Name, args)
	}
	return c.Start(trace.OpRun, func(ctx context.Context) (trace.Result, error) {
		return trace.Result{Claim: trace.ClaimDone}, c.process.driver.Do(ctx, args...)
	})
}

// Check asks the ledger whether an order's name is free. It uses the token that the client has at
// the start of the call.
func (c *Client) Check(order string) *Call { return c.StartCheck(order).Wait() }

// StartCheck begins a Check and does not wait for it.
func (c *Client) StartCheck(order string) *Call {
	return c.storeCall(trace.OpCheck, order, c.world.ledger.check)
}

// Insert writes an order into the ledger, with the client's token if its lock has tokens. It uses
// the token that the client has at the start of the call.
func (c *Client) Insert(order string) *Call { return c.StartInsert(order).Wait() }

// StartInsert begins an Insert and does not wait for it.
func (c *Client) StartInsert(order string) *Call {
	return c.storeCall(trace.OpInsert, order, c.world.ledger.insert)
}

// Begin begins a transaction of the ledger: other clients see the client's inserts only after
// Commit.
func (c *Client) Begin() *Call { return c.storeCall(trace.OpBegin, "", c.world.ledger.begin).Wait() }

// Commit ends the client's transaction.
func (c *Client) Commit() *Call { return c.storeCall(trace.OpCommit, "", c.world.ledger.commit).Wait() }

// storeCall sends an operation to the ledger, with the client's token and the version that it has
// read. It has its own wire, so that faults can delay it like a command to Redis.
func (c *Client) storeCall(op, order string, store func(trace.Order) trace.Answer) *Call {
	w, call := c.world, c.newCall(op, nil)
	row := trace.Order{Name: order, Client: c.Name, Version: w.ledger.read[c.Name]}
	if fenced, ok := c.locker.(Fenced); ok {
		row.Token = fenced.Token(call.ctx)
	}
	if w.ledger.guard == IdempotencyGuard {
		row.Request = c.Request
	}
	w.requests++
	call.record(trace.Called, trace.Event{Request: w.requests, Order: order})
	on := newWire(c.process, w.Server(1))
	c.process.wires = append(c.process.wires, on)
	r := &request{id: w.requests, wire: on, client: c, call: call, store: func() trace.Answer { return store(row) }}
	r.Command = Command{Args: []string{op, order}, Name: op, Op: op, Client: c.Name}
	on.requests, call.write = append(on.requests, r), r
	return call
}
