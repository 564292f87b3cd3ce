//go:build live && unix

package soak

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unseenLateness is how late a timer may be without a probe that is due soon after, with some time
// for the granularity of clocks.
const unseenLateness = lease / 20

// probes measure how late the timers of a process are, which is not the lock's fault. Each probe is
// a timer like the watchdog's: it ends a context, and a function that waits for that runs next.
type probes struct {
	clock clock
	mu    sync.Mutex
	due   [8]time.Duration // when each probe should run next
	late  []span           // from when a probe was due until it ran; only those of the last lease
}

func newProbes(c clock) *probes {
	p := &probes{clock: c}
	for n := range p.due {
		p.start(n)
	}
	return p
}

// start starts a probe, which starts itself again. Each has another period, 10 to 80 ms.
func (p *probes) start(n int) {
	period := lease / 50 * time.Duration(n+1)
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.due[n] = p.clock.now() + period
	p.mu.Unlock()
	context.AfterFunc(ctx, func() {
		p.ran(n, p.clock.now())
		p.start(n)
	})
	time.AfterFunc(period, cancel)
}

// ran records that a probe ran.
func (p *probes) ran(n int, now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = slices.DeleteFunc(p.late, func(s span) bool { return s.to < now-lease })
	p.late = append(p.late, span{p.due[n], now})
}

// longest returns how late the latest probe of the last lease was, or is by now.
func (p *probes) longest(now time.Duration) (late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.late {
		if s.to >= now-lease {
			late = max(late, s.to-s.from)
		}
	}
	for _, due := range p.due {
		late = max(late, now-due)
	}
	return late
}

func TestProbesSeeLateTimersOfTheLastLease(t *testing.T) {
	p := &probes{}
	for n := range p.due {
		p.due[n] = time.Hour
	}
	p.due[3] = ms(1000)
	require.Zero(t, p.longest(ms(999)))
	require.Equal(t, ms(40), p.longest(ms(1040)), "it has not run yet")
	p.ran(3, ms(1200))
	p.due[3] = ms(1600)
	require.Equal(t, ms(200), p.longest(ms(1210)))
	require.Equal(t, ms(200), p.longest(ms(1700)))
	require.Equal(t, ms(101), p.longest(ms(1701)), "another one is late")
}
