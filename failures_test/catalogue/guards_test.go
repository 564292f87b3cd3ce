package catalogue_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// guarded are the failures with a guard that needs nothing of the lock.
func guarded() (all []catalogue.Failure) {
	for _, f := range catalogue.All {
		if f.Family == catalogue.Guards {
			all = append(all, f)
		}
	}
	return all
}

func TestLedgerIsDamagedOnlyWithoutItsGuard(t *testing.T) {
	require.Len(t, guarded(), 8)
	for _, stage := range []string{"1", "6"} {
		for _, f := range guarded() {
			lock := stages.MustFind(stage).Subject
			require.Equal(t, failures.Safe, failures.Run(t, f, lock).Outcome, "%s on %s", f.ID, stage)
			f.Guard = world.NoGuard
			against, broken := failures.Run(t, f, lock).Against()
			require.True(t, broken, f.ID)
			require.Equal(t, oracle.Damage, against.Rule, f.ID)
		}
	}
}

// open is a lock that refuses no client.
type open struct{}

func (open) Lock(context.Context) error            { return nil }
func (open) TryLock(context.Context) (bool, error) { return true, nil }
func (open) Unlock(context.Context) error          { return nil }

func newOpen(redis.UniversalClient, string, time.Duration) (failures.Locker, error) {
	return open{}, nil
}

func TestGuardNeedsNoLock(t *testing.T) {
	for _, f := range guarded() {
		for guard, damaged := range map[world.Guard]bool{f.Guard: false, world.NoGuard: true} {
			f.Guard = guard
			v := failures.Run(t, f, failures.Subject{Name: "open", New: adapters.Plain(newOpen)})
			require.NoError(t, v.Err)
			require.Equal(t, damaged, oracle.Violates(v.Findings, oracle.Damage), "%s, guard %q", f.ID, guard)
		}
	}
}

// The mistake that the story names: A reads the new version, and writes all the same.
func TestVersionReadJustBeforeTheWriteDoesNotProtect(t *testing.T) {
	f, _ := catalogue.Find("process-pause-version")
	f.Script = func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		for _, c := range []*world.Client{a, b} {
			c.Lock()
			c.Check("tea")
			w.Sleep(w.Lease + time.Second)
		}
		for _, c := range []*world.Client{b, a} {
			c.Check("tea")
			c.Insert("tea")
		}
	}
	require.Equal(t, failures.Broken, failures.Run(t, f, stages.MustFind("4").Subject).Outcome)
}

func TestAnswersOfGuardsAreDrawnInBothLanguages(t *testing.T) {
	for id, says := range map[string][2]string{
		"process-pause-unique":     {"the name is taken (unique key)", "已有同名订单（唯一键）"},
		"process-pause-version":    {"refused: version 1, now 2", "拒绝：版本 1，现在是 2"},
		"write-delayed-stock":      {"0 rows: none left", "0 行：没有了"},
		"write-delayed-idempotent": {"request r1 done before: tea by B", "请求 r1 之前做过：tea（B）"},
		"unlock-before-commit":     {"inserted, not committed", "已创建，未提交"},
	} {
		f, _ := catalogue.Find(id)
		v := failures.Run(t, f, stages.MustFind("4").Subject)
		for i, lang := range []i18n.Language{i18n.English, i18n.Chinese} {
			require.Contains(t, timeline.Text(v.Trace, v.Findings, timeline.Options{Language: lang, Width: 200}), says[i], id)
		}
	}
}

func TestTwoLocksInOppositeOrdersEndInADeadlockOrTwoHolders(t *testing.T) {
	for stage, rule := range map[string]oracle.Rule{"4": oracle.Exclusion, "5": oracle.Deadlock, "6": oracle.Deadlock} {
		f, _ := catalogue.Find("two-locks-any-order")
		v := failures.Run(t, f, stages.MustFind(stage).Subject)
		require.Len(t, v.Findings, 1, stage)
		require.Equal(t, rule, v.Findings[0].Rule, stage)
		drawn := timeline.Text(v.Trace, v.Findings, timeline.Options{Width: 80})
		require.Contains(t, drawn, "L = lock:")
		require.Equal(t, rule == oracle.Exclusion, strings.Contains(drawn, "║"), stage)
		for line := range strings.Lines(drawn) {
			require.LessOrEqual(t, len([]rune(line)), 81, line)
		}
	}
}

// The cures of a job that is done twice work because of what they add: without it, the job is done twice.
func TestJobIsDoneTwiceWithoutItsCure(t *testing.T) {
	twice, _ := catalogue.Find("done-twice")
	kept, _ := catalogue.Find("done-twice-kept")
	idempotent, _ := catalogue.Find("done-twice-idempotent")
	kept.Script, idempotent.Guard = twice.Script, world.NoGuard
	for _, f := range []catalogue.Failure{kept, idempotent} {
		for _, stage := range []string{"1", "4", "6"} {
			against, isBroken := failures.Run(t, f, stages.MustFind(stage).Subject).Against()
			require.True(t, isBroken, "%s on %s", f.ID, stage)
			require.Equal(t, oracle.Damage, against.Rule)
		}
	}
}
