package engine

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// here returns the source of the lock of these tests: stage 2.
func here(t *testing.T) stages.Code {
	t.Helper()
	code, err := stages.MustFind("2").Code(os.DirFS("../../.."))
	require.NoError(t, err)
	return code
}

// line returns the number of the first line that contains a text.
func line(code stages.Code, text string) string {
	before, _, _ := strings.Cut(code.Files[0].Text, text)
	return trace.Source{File: code.Files[0].Name, Line: 1 + strings.Count(before, "\n")}.String()
}

// runOf returns the run of a scenario on stage 2.
func runOf(t *testing.T, scenario func(*world.World)) Run {
	t.Helper()
	tr, err := world.Run(t, world.Config{New: stages.MustFind("2").Subject.New}, scenario)
	require.NoError(t, err)
	return NewRun(tr, oracle.Judge(tr), here(t), i18n.English)
}

// find returns the first step whose sentence begins with a text.
func find(t *testing.T, r Run, says string) Step {
	t.Helper()
	for _, s := range r.Steps {
		if strings.HasPrefix(s.Says, says) {
			return s
		}
	}
	require.Fail(t, "no step says "+says)
	return Step{}
}

func TestStepsAreTheRowsOfTheText(t *testing.T) {
	r := runOf(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
		a.Unlock()
	})
	var sentences []string
	var at string
	for _, s := range r.Steps {
		at = cmp.Or(s.At, at) // a step has its time only where it changes
		sentences = append(sentences, at+" "+s.Says)
	}
	require.Equal(t, []string{
		"0s A calls Lock().",
		"0s A sends SET K locked NX PX 30000, and Redis answers OK.",
		"0s A has the lock and is inside.",
		"0s Time passes: 30s.",
		"30s The lease ends, and Redis removes the key.",
		"30s Time passes: 1s.",
		"31s B calls Lock().",
		"31s B sends SET K locked NX PX 30000, and Redis answers OK.",
		"31s B has the lock and is inside, while another client is inside: two are inside.",
		"31s A calls Unlock().",
		"31s A sends DEL K, and Redis answers 1.",
		"31s Unlock() of A returns: unlocked.",
	}, sentences)
	require.Equal(t, "xx", r.Steps[8].Inside)
	require.Contains(t, r.Steps[8].Found[0], "exclusion: B is inside the lock while A still is")
}

func TestStepKnowsTheLineThatEachClientRuns(t *testing.T) {
	code := here(t)
	r := runOf(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Unlock()
	})
	require.Equal(t, []string{line(code, "func (m *Mutex) Lock(")}, r.Steps[0].Lines, "where the call begins")
	require.Equal(t, []string{line(code, `m.rdb.Do(ctx, "SET"`)}, r.Steps[1].Lines, "where the command is sent")
	require.Equal(t, []string{""}, r.Steps[2].Lines, "A is in its own code")
	require.Equal(t, []string{line(code, "func (m *Mutex) Unlock(")}, find(t, r, "A calls Unlock").Lines)
	require.Equal(t, []string{line(code, `m.rdb.Do(ctx, "DEL"`)}, find(t, r, "A sends DEL").Lines)
	require.Nil(t, find(t, r, "Unlock() of").Keys, "they are as before")
}

func TestStepKnowsTheKeysAndWhenTheirLeasesEnd(t *testing.T) {
	r := runOf(t, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(31 * time.Second)
	})
	require.Empty(t, *r.Steps[0].Keys)
	require.Equal(t, []Held{{Name: "K", Value: "locked", Owner: "A1", Lane: 0, Until: 30000}}, *r.Steps[1].Keys)
	require.Nil(t, r.Steps[2].Keys, "they are as before")
	require.Empty(t, *find(t, r, "The lease ends").Keys)
}

func TestStepKnowsPausedDeadAndDisconnectedClients(t *testing.T) {
	r := runOf(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Freeze()
		b.Cut()
		b.Heal()
		a.Thaw()
		a.Crash()
	})
	var states []string
	for _, s := range r.Steps {
		states = append(states, s.State)
	}
	require.Equal(t, []string{"s-", "sn", "s-", "--", "d-"}, states)
}

func TestWriteToTheLedgerEndsWithItsReply(t *testing.T) {
	r := runOf(t, func(w *world.World) { w.Client("A").Insert("tea") })
	last := r.Steps[len(r.Steps)-1]
	require.Equal(t, `A asks the ledger to insert order "tea": inserted.`, last.Says)
	require.Equal(t, []string{"tea by A"}, last.Orders)
	require.Equal(t, []string{""}, last.Does)
}
