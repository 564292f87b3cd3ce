//go:build live

package live_test

import (
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/live"
	"lockkata/internal/stages"
)

func TestSameVerdictsAsTheWorld(t *testing.T) {
	s := servers(t, 12)
	var jobs []live.Job
	for _, stage := range stages.Public() {
		one := job(t, failures.All[0], stage)
		for _, f := range failures.All {
			one.Failure = f
			jobs = append(jobs, one)
		}
	}
	requireSame(t, s, jobs)
}

func TestReplicasHaveTheSameVerdictsAsTheWorld(t *testing.T) {
	var jobs []live.Job
	for _, lock := range []stages.Stage{stages.MustFind("4"), stages.Wait} {
		for _, f := range failures.OfReplicas {
			jobs = append(jobs, job(t, f, lock))
		}
	}
	requireSame(t, servers(t, 4), jobs)
}
