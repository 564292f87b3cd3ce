//go:build live && unix

package soak

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/live/fleet"
	"lockkata/internal/stages"
)

// The flags of the test binary.
var (
	runFor   = flag.Duration("for", 6*time.Second, "how long a soak lasts")
	lockName = flag.String("lock", finalLock, "the lock of TestSoak: stage1 to stage6")
	seed     = flag.Uint64("seed", 0, "the seed of the faults and of the work; 0: a random one. It does not repeat how the processes interleave")
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	fleet.Serve(work)
	os.Exit(m.Run())
}

func TestSoak(t *testing.T) {
	requireClean(t, soakFor(t, settings{Lock: *lockName}))
}

func TestFinalLockSurvivesDataLoss(t *testing.T) {
	requireClean(t, soakFor(t, settings{Lock: finalLock, Lossy: true}))
}

// A few seconds on a busy machine may show only one of the two kinds of violations.
func TestStage4LosesItsLockAndUpdates(t *testing.T) {
	found := map[string]int{}
	for n := 0; n < 10 && (found[lockIllegal] == 0 || found[ledgerIllegal] == 0); n++ {
		t.Run("", func(t *testing.T) {
			for _, v := range soakFor(t, settings{Lock: "stage4"}).violations {
				found[v.kind]++
			}
		})
	}
	require.Positive(t, found[lockIllegal])
	require.Positive(t, found[ledgerIllegal])
}

func requireClean(t *testing.T, r *run) {
	t.Helper()
	require.Zero(t, len(r.violations), "violations")
	require.Zero(t, r.undecided, "histories that porcupine could not decide")
}

// soakFor runs one soak and prints its report.
func soakFor(t *testing.T, s settings) *run {
	t.Helper()
	_, err := stages.Find(strings.TrimPrefix(s.Lock, "stage"))
	require.NoError(t, err, "-lock")
	require.Positive(t, *runFor, "-for")
	for s.Seed = *seed; s.Seed == 0; {
		s.Seed = rand.Uint64N(1e9)
	}
	r := soak(t, s, *runFor)
	fmt.Fprint(t.Output(), r.report())
	require.Positive(t, r.counts[unlocked], "no worker unlocked anything")
	require.NotEmpty(t, r.faults)
	return r
}

// report returns the counts and violations of the run.
func (r *run) report() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	tally := func(title string, counts map[string]int) {
		line("%s", title)
		for _, kind := range slices.Sorted(maps.Keys(counts)) {
			line("  %6d  %s", counts[kind], kind)
		}
	}
	faults, found := map[string]int{}, map[string]int{}
	for _, f := range r.faults {
		faults[f.kind]++
	}
	tally(fmt.Sprintf("what the workers of %s did in %.1f s", r.Lock, r.until.Seconds()), r.counts)
	tally("faults", faults)
	const examples = 3 // of each kind
	for _, v := range r.violations {
		if found[v.kind]++; found[v.kind] <= examples {
			line("%s: %s\n%s", v.kind, v.text, r.timeline(v.of))
		}
	}
	bound := fmt.Sprintf("%d operations on %d locks and their ledgers (%d of the %d not decided within %v), seed %d",
		r.operations, locks, r.undecided, 2*locks, checkTime, r.Seed)
	if len(found) == 0 {
		line("no violation in %s. That is no proof.", bound)
	} else {
		tally("violations in "+bound, found)
	}
	return b.String()
}

// timeline returns the events of some holds, the faults of their workers during that time, and the
// losses of the lock during the first hold.
func (h *history) timeline(of []*hold) string {
	var lines []string
	add := func(at time.Duration, name any, what string) {
		lines = append(lines, fmt.Sprintf("  %11.6f s  %-6v  %s\n", at.Seconds(), name, what))
	}
	for i, o := range of {
		for _, e := range o.events {
			what := strings.TrimSpace(e.Kind + " " + e.Text)
			if e.Late > unseenLateness {
				what += fmt.Sprintf(" (timers up to %v late)", e.Late)
			}
			add(e.At, o, what)
		}
		for _, l := range h.losses {
			if i == 0 && l.hits(o.Lock) && l.meets(o) {
				add(l.from, "redis", fmt.Sprintf("its holder %s, until %.6f s", removed, l.to.Seconds()))
			}
		}
		for _, f := range h.faults {
			if f.target == o.by.name && f.meets(o) {
				add(f.from, f.target, fmt.Sprintf("fault: %s, until %.6f s", f.kind, f.to.Seconds()))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}
