// Package live plays the catalogue on a real redis-server: the same scenarios, in real time, with a
// lease of one second. A failure that can run there must have the same outcome as in the controlled
// world. That tests the controlled world.
//
//	servers, err := live.Start(ctx, 12)
//	defer servers.Close()
//	err = servers.Bench(subject).Play(ctx, failures.Tasks(catalogue.All), each)
//
// The processes store nothing on disk and end with Close. [At] uses a Redis that is already
// running. It touches only the lock's own keys there, so failures that disturb the whole server
// cannot run on it.
//
// Its folders are: realredis, which plays one scenario; redisserver and fleet, which start processes;
// proxy, a bad network; and tests of stage 6 (stage6, topology), with Redisson (redisson), and under
// random faults (soak).
package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/live/realredis"
	"lockkata/failures_test/live/redisserver"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Servers has the Redis servers. Each plays one failure at a time.
type Servers struct {
	Lease    time.Duration // of the first attempt; default a second
	Quiet    time.Duration // see [realredis.Process]
	Patience time.Duration // after which disturbed failures are not repeated; default 3 minutes

	free chan *realredis.Process
	own  []*realredis.Process
}

// Start starts that many redis-server processes. It returns [redisserver.ErrMissing] if
// redis-server is not installed.
func Start(ctx context.Context, count int) (*Servers, error) {
	s := &Servers{free: make(chan *realredis.Process, count)}
	for range count {
		p, err := realredis.Start(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.own = append(s.own, p)
		s.free <- p
	}
	return s, nil
}

var (
	noneAt      = i18n.New("no usable Redis at {address}: {error}")
	othersUseIt = i18n.New("it would disturb the other programs that use this Redis")
	tooBusy     = i18n.New("the machine is too busy for real time: with a lease of {lease} it was late by {late}")
)

// answerWithin is the timeout of the first PING.
const answerWithin = 3 * time.Second

// At returns servers for the Redis at that host and port, with that many failures at once. They
// write only keys of the lock, whose name is random, and remove them.
func At(ctx context.Context, addr string, count int) (*Servers, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := redisserver.Ping(ctx, addr); err != nil {
		return nil, noneAt.Args("address", addr, "error", err)
	}
	s := &Servers{free: make(chan *realredis.Process, count)}
	for range count {
		s.free <- realredis.At(addr)
	}
	return s, nil
}

// Close ends the processes.
func (s *Servers) Close() error {
	var err error
	for _, p := range s.own {
		err = errors.Join(err, p.Close())
	}
	return err
}

// DiscoverScripts is [failures.DiscoverScripts] on one of the servers, for a lock whose client
// cannot run in the controlled world.
func (s *Servers) DiscoverScripts(subject failures.Subject) (failures.Subject, error) {
	_, scripts, err := s.NormalUse(subject)
	subject.Scripts = scripts
	return subject, err
}

// NormalUse plays a lock's [world.NormalUse] on one of the servers, and returns its trace and scripts.
func (s *Servers) NormalUse(subject failures.Subject) (tr *trace.Trace, scripts []string, err error) {
	p := s.take()
	defer func() { s.free <- p }()
	config := subject.Config()
	config.Lease = s.Lease
	tr, err = p.Run(config, func(w *world.World) { scripts = world.NormalUse(w) })
	return tr, scripts, err
}

// Version returns the name and the version of the servers, such as "redis 7.0.15".
func (s *Servers) Version(ctx context.Context) (string, error) {
	p := s.take()
	defer func() { s.free <- p }()
	return p.Version(ctx)
}

// take waits for a server that plays nothing.
func (s *Servers) take() *realredis.Process {
	p := <-s.free
	p.Quiet = s.Quiet
	return p
}

// Bench returns the bench of a lock on the servers. Its subject needs the scripts of the lock, if it has any.
func (s *Servers) Bench(subject failures.Subject) failures.Bench { return &bench{s, subject} }

type bench struct {
	*Servers
	subject failures.Subject
}

func (b *bench) Learn(context.Context) (failures.Use, error) {
	return failures.Use{Scripts: b.subject.Scripts, Several: b.subject.NewOver != nil, Without: b.subject.Without(catalogue.Everything)}, nil
}

// Close does nothing: the servers are those of other benches too.
func (b *bench) Close() error { return nil }

// ErrBusy is the error of a failure that was disturbed in each attempt.
var ErrBusy = errors.New("the machine is too busy for real time")

// rounds is how often a disturbed failure is played at most.
const rounds = 5

// Play plays one failure on each server at a time. It repeats a disturbed run, each time with fewer runs at once
// and a longer lease. If the last one is disturbed too, the outcome is [failures.Elsewhere] with [ErrBusy]. When ctx
// ends it leaves the runs under way, which then end with the servers.
func (b *bench) Play(ctx context.Context, tasks []failures.Task, each func(failures.Cell)) error {
	played := make(chan []failures.Verdict, 1)
	go func() { played <- b.play(ctx, tasks) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case verdicts := <-played:
		for _, v := range verdicts {
			each(failures.Cell{Verdict: v})
		}
		return nil
	}
}

func (b *bench) play(ctx context.Context, tasks []failures.Task) []failures.Verdict {
	verdicts := make([]failures.Verdict, len(tasks))
	var pending []int
	for i := range tasks {
		pending = append(pending, i)
	}
	end := time.Now().Add(cmp.Or(b.Patience, 3*time.Minute))
	atOnce, lease := cap(b.free), cmp.Or(b.Lease, time.Second)
	for range rounds {
		room := make(chan struct{}, atOnce)
		var running sync.WaitGroup
		for _, i := range pending {
			room <- struct{}{}
			if ctx.Err() != nil || verdicts[i].Trace != nil && time.Now().After(end) {
				<-room
				continue
			}
			p := b.take()
			running.Go(func() {
				verdicts[i] = play(p, tasks[i].Failure, b.subject, lease)
				b.free <- p
				<-room
			})
		}
		running.Wait()
		pending = slices.DeleteFunc(pending, func(i int) bool { return !isDisturbed(verdicts[i]) })
		atOnce, lease = max(1, atOnce/2), lease+time.Second
	}
	for _, i := range pending {
		if v := &verdicts[i]; isLate(v.Trace) {
			v.Outcome, v.Err = failures.Elsewhere, ErrBusy
			v.Missing = tooBusy.Args("lease", v.Trace.Lease, "late", v.Trace.Late.Round(time.Millisecond))
		}
	}
	return verdicts
}

// play plays one failure. If it cannot run on this server, the outcome is [failures.Elsewhere].
func play(p *realredis.Process, f catalogue.Failure, subject failures.Subject, lease time.Duration) failures.Verdict {
	v := failures.Judge(f, subject,
		func(c world.Config, scenario func(*world.World)) (*trace.Trace, error) {
			if f.Live != "" {
				return nil, realredis.ErrNotLive
			}
			c.Lease = lease
			return p.Run(c, scenario)
		})
	switch {
	case errors.Is(v.Err, realredis.ErrShared):
		v.Outcome, v.Missing = failures.Elsewhere, othersUseIt.Args()
	case errors.Is(v.Err, realredis.ErrNotLive):
		v.Outcome, v.Missing = failures.Elsewhere, i18n.Text(f.Live).Args()
	}
	return v
}

// isDisturbed reports whether the outcome of a run does not count: the world was late, or replicas, for which the
// world does not wait, may have been late.
func isDisturbed(v failures.Verdict) bool {
	return isLate(v.Trace) || v.Failure.Replicas > 0 && v.Outcome == failures.NotTested
}

// isLate reports whether the world was late by more than the shortest pause between two steps whose order
// matters.
func isLate(tr *trace.Trace) bool { return tr != nil && tr.Late > tr.Lease/60 }
