package oracle_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/internal/edits"
	"lockkata/internal/stages"
)

// Each rule has a lock that breaks it and, in the same failure, one that keeps it. A rule that is
// missing here has an edit: TestEachEditBreaksItsCell plays the lock with the edit and without it.
func TestEachRuleHasALockThatBreaksItAndOneThatKeepsIt(t *testing.T) {
	trials := map[oracle.Rule]struct {
		failure       string
		breaks, keeps failures.Subject
	}{
		oracle.WrongDelete:  {"check-then-delete", stage("3"), stage("4")},
		oracle.Leak:         {"crash-before-expire", stage("1"), stage("2")},
		oracle.Deadlock:     {"crash-before-expire", stage("1"), stage("2")},
		oracle.LossHidden:   {"loss-hidden-at-unlock", stage("2"), stage("3")},
		oracle.Truth:        {"stranger-unlock", stage("2"), stage("3")},
		oracle.Exclusion:    {"check-then-delete", stage("3"), stage("4")},
		oracle.EndlessHold:  {"renewed-for-ever", stage("5"), stage("6")},
		oracle.Polling:      {"idle-waiters", stage("5"), stage("6")},
		oracle.Damage:       {"work-outlives-ttl", stage("4"), stage("5")},
		oracle.RenewalCount: {"dog-per-reentry", stage("doc2"), stage("6")},
		oracle.BoundedWait:  {"fair-in-process", lastFirstSubject(), stage("6")},
	}
	for rule, trial := range trials {
		t.Run(string(rule), func(t *testing.T) {
			require.True(t, oracle.Violates(play(t, trial.failure, trial.breaks).Findings, rule), trial.breaks.Name)
			require.False(t, oracle.Violates(play(t, trial.failure, trial.keeps).Findings, rule), trial.keeps.Name)
		})
	}
	for _, rule := range oracle.Rules() {
		_, tried := trials[rule]
		require.True(t, tried || slices.ContainsFunc(edits.All, func(e edits.Edit) bool { return e.Rule == rule }), "%s: no lock breaks it", rule)
	}
}

func stage(id string) failures.Subject { return stages.MustFind(id).Subject }

func play(t *testing.T, id string, subject failures.Subject) failures.Verdict {
	t.Helper()
	f, ok := failures.Find(id)
	require.True(t, ok, id)
	v := failures.Run(t, f, subject)
	require.NoError(t, v.Err)
	return v
}

func TestTwoHoldersWithoutAWriteAreNoDamage(t *testing.T) {
	require.False(t, oracle.Violates(play(t, "slow-grant", stage("4")).Findings, oracle.Damage))
}
