package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// goSide locks with stage 6, as a variant of it has it.
type goSide struct {
	rdb     redis.UniversalClient
	svc     *stage6.Service
	variant variant
	addr    string
}

func newGoSide(rdb redis.UniversalClient, v variant, addr string) (*goSide, error) {
	if len(v.Edits) > 0 {
		rdb.AddHook(editor{v.Edits})
	}
	opts := append([]stage6.Option{stage6.WithLayout(v.Layout), stage6.WithWatchdogTimeout(lease)}, v.Options...)
	svc, err := stage6.NewService(rdb, opts...)
	if err != nil {
		return nil, errors.Join(err, rdb.Close())
	}
	return &goSide{rdb, svc, v, addr}, nil
}

func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
}

func (s *goSide) Close() error { return errors.Join(s.svc.Close(), s.rdb.Close()) }

func (s *goSide) Name() string { return "Go" }

func (s *goSide) Owner(lock string) (owner, error) {
	m, err := s.svc.Mutex(lock)
	if err != nil {
		return nil, err
	}
	return &goOwner{mutex: m}, nil
}

func (s *goSide) IsLocked(ctx context.Context, lock string) (bool, error) {
	m, err := s.svc.Mutex(lock)
	if err != nil {
		return false, err
	}
	return m.IsLocked(ctx)
}

func (s *goSide) TTL(ctx context.Context, lock string) (time.Duration, error) {
	m, err := s.svc.Mutex(lock)
	if err != nil {
		return 0, err
	}
	return m.RemainingTTL(ctx)
}

func (s *goSide) ForceUnlock(ctx context.Context, lock string) (bool, error) {
	m, err := s.svc.Mutex(lock)
	if err != nil {
		return false, err
	}
	return m.ForceUnlock(ctx)
}

// goOwner is a context that carries holds, one more for each re-entry.
type goOwner struct {
	mutex *stage6.Mutex
	holds []*stage6.Hold
}

// carrying is ctx, or the context of the innermost hold, which re-enters.
func (o *goOwner) carrying(ctx context.Context) context.Context {
	if len(o.holds) == 0 {
		return ctx
	}
	return o.holds[len(o.holds)-1].Context()
}

func (o *goOwner) keep(h *stage6.Hold, err error) error {
	if err == nil {
		o.holds = append(o.holds, h)
	}
	return err
}

func (o *goOwner) Lock(ctx context.Context) error {
	return o.keep(o.mutex.Lock(o.carrying(ctx)))
}

func (o *goOwner) LockFor(ctx context.Context, d time.Duration) error {
	return o.keep(o.mutex.Lock(o.carrying(ctx), stage6.Lease(d)))
}

func (o *goOwner) TryLock(ctx context.Context) (bool, error) {
	err := o.keep(o.mutex.TryLock(o.carrying(ctx)))
	if errors.Is(err, stage6.ErrLocked) {
		return false, nil
	}
	return err == nil, err
}

func (o *goOwner) Unlock(context.Context) (bool, error) {
	if len(o.holds) == 0 {
		return false, nil
	}
	last := len(o.holds) - 1
	h := o.holds[last]
	o.holds = o.holds[:last]
	err := h.Unlock()
	if errors.Is(err, stage6.ErrLost) {
		return false, nil
	}
	return err == nil, err
}

func (o *goOwner) IsHeld(ctx context.Context) (bool, error) {
	return o.mutex.IsHeld(o.carrying(ctx)), nil
}

func (o *goOwner) HoldCount(ctx context.Context) (int, error) {
	// The context of a lost hold is over, and Redis is to be asked all the same.
	return o.mutex.HoldCount(context.WithoutCancel(o.carrying(ctx)))
}

// Doomed starts this program again, as a process that locks and stays.
func (s *goSide) Doomed(ctx context.Context, lock string) (doomed, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, holdCommand, s.variant.Name, s.addr, lock)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // it ends with its input, so with this program
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	process := doomedProcess{cmd}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		process.Kill()
		return nil, fmt.Errorf("the process that was to hold %s said %q: %w", lock, line, err)
	}
	return process, nil
}

type doomedProcess struct{ cmd *exec.Cmd }

// Kill kills the process and waits for its end.
func (p doomedProcess) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // that it was killed
}

const holdCommand = "hold-until-killed"

// holdUntilKilled is what a process does that Doomed has started. In every other
// it returns at once.
func holdUntilKilled() {
	if len(os.Args) != 5 || os.Args[1] != holdCommand {
		return
	}
	err := hold(os.Args[2], os.Args[3], os.Args[4])
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func hold(variantName, addr, lock string) error {
	v, err := variantNamed(variantName)
	if err != nil {
		return err
	}
	s, err := newGoSide(newClient(addr), v, addr)
	if err != nil {
		return err
	}
	o, err := s.Owner(lock)
	if err != nil {
		return err
	}
	if err := o.Lock(context.Background()); err != nil {
		return err
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return errors.New("the program that started this process is gone")
}
