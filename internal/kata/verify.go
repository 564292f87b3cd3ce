package kata

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/internal/kata/judge"
)

// provingPatience is how many times longer than a learner's lock the material may
// take: it is known to end.
const provingPatience = 4

// Verify proves the material of these exercises and prints a line for each proof:
// the start compiles and shows exactly the failures that the exercise fixes, the
// solution shows none that is required, there are three hints, and the marked
// answer of the prediction is what the world really does, and a search finds the
// mistake of a lock to repair in its start and not in its solution. It tells whether
// all hold.
func Verify(ctx context.Context, root string, list []Exercise, out io.Writer) (bool, error) {
	m := newMaterials(root)
	locks, err := m.locks(list)
	if err != nil {
		return false, err
	}
	if m.program, err = Build(ctx, root, locks); err != nil {
		return false, fmt.Errorf("a start or a solution does not compile: %w", err)
	}
	defer m.program.Close()
	return m.verify(ctx, list, out), nil
}

// verify proves exercises, as many at once as there are cores.
func (m *materials) verify(ctx context.Context, list []Exercise, out io.Writer) bool {
	results := make([]chan []proof, len(list))
	turns := make(chan struct{}, runtime.NumCPU())
	for i, e := range list {
		results[i] = make(chan []proof, 1)
		go func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			results[i] <- m.proofs(ctx, e)
		}()
	}
	proofs, held := 0, 0
	for i, e := range list {
		fmt.Fprintf(out, "%2d %s\n", e.Number, e.Title)
		for _, proof := range <-results[i] {
			proofs++
			sign := "✗"
			if proof.holds {
				held++
				sign = "✓"
			}
			fmt.Fprintf(out, "   %s %-11s %s\n", sign, proof.of, proof.text)
		}
	}
	fmt.Fprintf(out, "%d exercises, %d of %d proofs hold\n", len(list), held, proofs)
	return held == proofs
}

// proof is one thing that is shown about an exercise.
type proof struct {
	of    string
	holds bool
	text  string
}

// materials are all starts and solutions in one program, each once.
type materials struct {
	program *Program
	names   map[string]string // what a lock consists of → its name in the program
	root    string
}

func newMaterials(root string) *materials {
	return &materials{names: map[string]string{}, root: root}
}

// locks are the starts and solutions, by the names that they get in the program.
func (m *materials) locks(list []Exercise) (map[string]Files, error) {
	locks := map[string]Files{}
	for _, e := range list {
		for _, material := range []Material{e.Start, e.Solution} {
			files, err := material.Files(os.DirFS(m.root))
			if err != nil {
				return nil, fmt.Errorf("exercise %d: %w", e.Number, err)
			}
			if m.names[files.key()] == "" {
				m.names[files.key()] = fmt.Sprintf("lock%d", len(locks))
				locks[m.names[files.key()]] = files
			}
		}
	}
	return locks, nil
}

// key is the same for the same files.
func (f Files) key() string {
	sum := sha256.New()
	for _, name := range f.names() {
		fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(f[name]))
		_, _ = io.WriteString(sum, f[name])
	}
	return string(sum.Sum(nil))
}

func (m *materials) judge(ctx context.Context, e Exercise, material Material) (Report, error) {
	files, err := material.Files(os.DirFS(m.root))
	if err != nil {
		return Report{}, err
	}
	task := e.task(m.names[files.key()])
	task.Patience = provingPatience
	return m.program.Judge(ctx, task)
}

func (m *materials) proofs(ctx context.Context, e Exercise) []proof {
	start, err := m.judge(ctx, e, e.Start)
	if err != nil {
		return []proof{{"start", false, err.Error()}}
	}
	solution, err := m.judge(ctx, e, e.Solution)
	if err != nil {
		return []proof{{"solution", false, err.Error()}}
	}
	all := []proof{provenStart(e, start), provenSolution(e, solution), provenHints(e), provenPrediction(e, solution)}
	if e.Search.isSet() {
		all = append(all, m.provenSearch(ctx, e))
	}
	return all
}

// provenStart: the start compiles, and is red for what the exercise fixes and for
// nothing else. A start that does not lock at all is red for everything.
func provenStart(e Exercise, r Report) proof {
	if r.Cause != nil && !r.Cause.Optional && len(r.Verdicts) == 0 {
		all := slices.Equal(e.Required(), e.Fixes)
		return proof{"start", all && r.Cause.Kind == judge.NoDay, "compiles, and does not lock at all: " + r.Cause.Text}
	}
	var red []string
	for _, v := range r.Red() {
		red = append(red, v.Failure)
	}
	if missing, more := without(e.Fixes, red), without(red, e.Fixes); len(missing)+len(more) > 0 {
		return proof{"start", false, fmt.Sprintf("survives %v, and shows %v beside what the exercise fixes", missing, more)}
	}
	return proof{"start", len(red) > 0, fmt.Sprintf("compiles, and is red for exactly: %s", strings.Join(red, ", "))}
}

func provenSolution(e Exercise, r Report) proof {
	switch red := r.Red(); {
	case r.Cause != nil:
		return proof{"solution", false, r.Cause.Kind + ": " + r.Cause.Text}
	case len(red) > 0:
		return proof{"solution", false, fmt.Sprintf("shows %s: %s", red[0].Failure, red[0].Sentence)}
	}
	return proof{"solution", r.Passed(e.Required()), fmt.Sprintf("survives all %d failures that are asked for", len(e.Required()))}
}

func provenHints(e Exercise) proof {
	for i, hint := range e.Hints {
		if strings.TrimSpace(hint) == "" || i > 0 && slices.Contains(e.Hints[:i], hint) {
			return proof{"hints", false, fmt.Sprintf("hint %d is missing", i+1)}
		}
	}
	return proof{"hints", true, "there are three"}
}

func provenPrediction(e Exercise, r Report) proof {
	p := e.Predict
	if _, ok := failures.Find(p.Failure); !ok {
		return proof{"prediction", false, "there is no failure " + p.Failure}
	}
	v := r.Verdict(p.Failure)
	if v == nil || v.Trace == nil {
		return proof{"prediction", false, p.Failure + " was not played"}
	}
	_, really, err := p.on(v.Trace)
	switch {
	case err != nil:
		return proof{"prediction", false, err.Error()}
	case really != p.Answer:
		return proof{"prediction", false, fmt.Sprintf("%s: the world says %q, marked is %q", p.Failure, p.Choices[really].Text, p.Choices[p.Answer].Text)}
	}
	return proof{"prediction", true, fmt.Sprintf("%s: %s", p.Failure, p.Choices[really].Text)}
}

// without are the members of list that are not in other.
func without(list, other []string) []string {
	var rest []string
	for _, s := range list {
		if !slices.Contains(other, s) {
			rest = append(rest, s)
		}
	}
	return rest
}
