package kata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	all, err := materials(root, list)
	if err != nil {
		return false, err
	}
	program, err := Build(ctx, root, all...)
	if err != nil {
		return false, fmt.Errorf("a start or a solution does not compile: %w", err)
	}
	defer program.Close()
	return program.verify(ctx, root, list, out), nil
}

// materials are the starts and solutions.
func materials(root string, list []Exercise) (all []Files, err error) {
	for _, e := range list {
		for _, material := range []Material{e.Start, e.Solution} {
			files, err := material.Files(os.DirFS(root))
			if err != nil {
				return nil, fmt.Errorf("exercise %s: %w", e.ID, err)
			}
			all = append(all, files)
		}
	}
	return all, nil
}

// proof shows one thing about an exercise, and says it in a line; the error says what
// does not hold.
type proof struct {
	of   string
	text string
	err  error
}

// verify proves exercises, as many at once as there are cores.
func (p *Program) verify(ctx context.Context, root string, list []Exercise, out io.Writer) bool {
	results := make([]chan []proof, len(list))
	for i := range results {
		results[i] = make(chan []proof, 1)
	}
	go atOnce(len(list), func(i int) { results[i] <- p.proofs(ctx, root, list[i]) })
	proofs, held := 0, 0
	for i, e := range list {
		fmt.Fprintf(out, "%-3s %s\n", e.ID, e.Title)
		for _, proof := range <-results[i] {
			proofs++
			sign := "✗"
			if proof.err == nil {
				held++
				sign = "✓"
			} else {
				proof.text = proof.err.Error()
			}
			fmt.Fprintf(out, "   %s %-11s %s\n", sign, proof.of, proof.text)
		}
	}
	fmt.Fprintf(out, "%d exercises, %d of %d proofs hold\n", len(list), held, proofs)
	return held == proofs
}

// provingTask is what is asked of a lock of the material: no more than it takes to prove it.
func (e Exercise) provingTask() judge.Task {
	task := e.task()
	task.Patience = provingPatience
	for _, f := range failures.All {
		if f.ID != e.Predict.Failure && !slices.Contains(task.Required, f.ID) {
			task.Skip = append(task.Skip, f.ID)
		}
	}
	return task
}

func (p *Program) proofs(ctx context.Context, root string, e Exercise) []proof {
	proven := func(of string) func(string, error) proof {
		return func(text string, err error) proof { return proof{of, text, err} }
	}
	locks, err := materials(root, []Exercise{e})
	if err != nil {
		return []proof{proven("material")("", err)}
	}
	task := e.provingTask()
	start, err := p.Judge(ctx, locks[0], task)
	if err != nil {
		return []proof{proven("start")("", err)}
	}
	solution, err := p.Judge(ctx, locks[1], task)
	if err != nil {
		return []proof{proven("solution")("", err)}
	}
	all := []proof{
		proven("start")(e.provenStart(start)), proven("solution")(e.provenSolution(solution)),
		proven("hints")(e.provenHints()), proven("prediction")(e.Predict.proven(solution)),
	}
	if e.Search != (Sought{}) {
		all = append(all, proven("explore")(p.provenSearch(ctx, e, locks[0], locks[1])))
	}
	return all
}

// provenStart: the start compiles, and is red for what the exercise fixes and for
// nothing else. A start that does not lock at all is red for everything. One that lacks
// what a story is about may survive it all the same.
func (e Exercise) provenStart(r Report) (string, error) {
	if r.Cause != nil && !r.Cause.Optional && len(r.Verdicts) == 0 {
		text := "compiles, and does not lock at all: " + r.Cause.Text.Error()
		if !slices.Equal(e.Required(), e.Fixes) || r.Cause.Kind != judge.NoDay {
			return "", errors.New(text)
		}
		return text, nil
	}
	var red []string
	for _, v := range r.Red() {
		red = append(red, v.Failure)
	}
	must := e.Fixes
	if e.onStairs() {
		must = slices.DeleteFunc(slices.Clone(e.Fixes), func(id string) bool {
			f, _ := failures.Find(id)
			return column(e.Before).Expect(f) != failures.Broken
		})
	}
	if missing, more := without(must, red), without(red, e.Fixes); len(red) == 0 || len(missing)+len(more) > 0 {
		return "", fmt.Errorf("survives %v, and shows %v beside what the exercise fixes", missing, more)
	}
	return "compiles, and is red for exactly: " + strings.Join(red, ", "), nil
}

func (e Exercise) provenSolution(r Report) (string, error) {
	switch red := r.Red(); {
	case len(red) > 0:
		return "", fmt.Errorf("shows %s: %s", red[0].Failure, red[0].Sentence)
	case r.Cause != nil:
		return "", fmt.Errorf("%s: %s", r.Cause.Kind, r.Cause.Text)
	case !r.Passed(e.Required()):
		return "", fmt.Errorf("was judged by %d failures, not by all %d", len(r.Verdicts), len(e.Required()))
	}
	return fmt.Sprintf("survives all %d failures that are asked for", len(e.Required())), nil
}

func (e Exercise) provenHints() (string, error) {
	for i, hint := range e.Hints {
		if strings.TrimSpace(string(hint)) == "" || slices.Contains(e.Hints[:i], hint) {
			return "", fmt.Errorf("hint %d is missing", i+1)
		}
	}
	return "there are three", nil
}

// proven: the marked answer is what the run of the solution says.
func (p Prediction) proven(solution Report) (string, error) {
	if _, ok := failures.Find(p.Failure); !ok {
		return "", fmt.Errorf("there is no failure %s", p.Failure)
	}
	v := solution.Verdict(p.Failure)
	if v.Trace == nil {
		return "", fmt.Errorf("%s was not played", p.Failure)
	}
	_, right, err := p.on(v.Trace)
	switch {
	case err != nil:
		return "", err
	case right != p.Answer:
		return "", fmt.Errorf("%s: the world says %q, marked is %q", p.Failure, p.Choices[right].Text, p.Choices[p.Answer].Text)
	}
	return fmt.Sprintf("%s: %s", p.Failure, p.Choices[right].Text), nil
}

// without are the members of list that are not in other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// provenSearch: a search finds the mistake in the start, and nothing up to the same
// bound in the solution. Where it is said to be blind, it finds nothing in the start
// that it does not find as cheaply in the solution.
func (p *Program) provenSearch(ctx context.Context, e Exercise, start, solution Files) (string, error) {
	asked := Exploring{Property: e.Search.Property, Env: e.Search.Env, Bound: e.Search.Bound}
	if e.Search.Blind != "" {
		asked = Exploring{Bound: -1}
	}
	inStart, err := p.breaks(ctx, e, start, asked)
	if err != nil {
		return "", err
	}
	inSolution, err := p.breaks(ctx, e, solution, asked)
	switch {
	case err != nil:
		return "", err
	case e.Search.Blind != "":
		return provenBlind(inStart, inSolution)
	case len(inSolution) > 0:
		return "", fmt.Errorf("breaks %s in the solution: %s", inSolution[0].Property, inSolution[0].Text)
	case len(inStart) == 0:
		return "", fmt.Errorf("finds nothing about %s in %s up to cost %d in the start", asked.Property, asked.Env, asked.Bound)
	}
	f := inStart[0]
	return fmt.Sprintf("breaks %s in %s with cost %d in %d steps, and not in the solution up to cost %d", f.Property, f.Env, f.Cost, f.Steps, asked.Bound), nil
}

func provenBlind(start, solution []judge.Found) (string, error) {
	for _, f := range start {
		same := func(s judge.Found) bool { return s.Property == f.Property && s.Env == f.Env && !f.Cheaper(s.Answer) }
		if !slices.ContainsFunc(solution, same) {
			return "", fmt.Errorf("is said to be blind, and breaks %s in %s with cost %d", f.Property, f.Env, f.Cost)
		}
	}
	return "is blind to it: what a check searches finds nothing that it does not find as cheaply in the solution", nil
}

// breaks is what a search breaks in a lock of the material.
func (p *Program) breaks(ctx context.Context, e Exercise, files Files, asked Exploring) ([]judge.Found, error) {
	questions, err := asked.questions(Sought{})
	if err != nil {
		return nil, err
	}
	most := 0
	if e.Search.Blind != "" { // as far as a check looks
		questions, most = ofTwoClients(questions), enoughSchedules
	}
	r, err := p.search(ctx, files, e.provingTask(), questions, most)
	if err != nil {
		return nil, err
	}
	if r.Cause != nil {
		return nil, fmt.Errorf("%s: %s", r.Cause.Kind, r.Cause.Text)
	}
	for _, f := range r.Found {
		if !f.Exhausted && most == 0 {
			return nil, fmt.Errorf("the search in %s was cut short", f.Env)
		}
	}
	return slices.DeleteFunc(r.Found, func(f judge.Found) bool { return !f.Answer.Found }), nil
}
