package kata

import (
	"context"
	"fmt"
	"os"
	"slices"

	"lockkata/internal/kata/judge"
)

// blindBound is how far it is looked for a mistake of which the material says that
// no search sees it.
const blindBound = 2

// provenSearch: a search finds the mistake in the start, and nothing up to the same
// bound in the solution. Where it is said to be blind, it finds nothing in the start
// that it does not find as cheaply in the solution.
func (m *materials) provenSearch(ctx context.Context, e Exercise) proof {
	asked := Exploring{Property: e.Search.Property, Env: e.Search.Env, Bound: e.Search.Bound}
	if e.Search.Blind != "" {
		asked = Exploring{Bound: blindBound}
	}
	start, err := m.explore(ctx, e, e.Start, asked)
	if err != nil {
		return proof{"explore", false, err.Error()}
	}
	solution, err := m.explore(ctx, e, e.Solution, asked)
	switch {
	case err != nil:
		return proof{"explore", false, err.Error()}
	case e.Search.Blind != "":
		return provenBlind(start, solution)
	case len(solution) > 0:
		return proof{"explore", false, fmt.Sprintf("breaks %s in the solution: %s", solution[0].Property, solution[0].Text)}
	case len(start) == 0:
		return proof{"explore", false, fmt.Sprintf("finds nothing about %s in %s up to cost %d in the start", asked.Property, asked.Env, asked.Bound)}
	}
	return proof{"explore", true, fmt.Sprintf("breaks %s in %s with cost %d in %d steps, and not in the solution up to cost %d",
		start[0].Property, start[0].Env, start[0].Cost, start[0].Steps, asked.Bound)}
}

func provenBlind(start, solution []judge.Found) proof {
	for _, f := range start {
		same := func(s judge.Found) bool {
			return s.Property == f.Property && s.Env == f.Env && !f.Cheaper(s.Answer)
		}
		if !slices.ContainsFunc(solution, same) {
			return proof{"explore", false, fmt.Sprintf("is said to be blind, and breaks %s in %s with cost %d", f.Property, f.Env, f.Cost)}
		}
	}
	return proof{"explore", true, fmt.Sprintf("is blind to it: up to cost %d it finds nothing that it does not find as cheaply in the solution", blindBound)}
}

// explore is what a search breaks in a lock of the material.
func (m *materials) explore(ctx context.Context, e Exercise, material Material, asked Exploring) ([]judge.Found, error) {
	files, err := material.Files(os.DirFS(m.root))
	if err != nil {
		return nil, err
	}
	questions, err := asked.questions(Sought{})
	if err != nil {
		return nil, err
	}
	x := Explored{Exercise: e}
	task := e.task(m.names[files.key()])
	task.Patience = provingPatience
	if err := x.search(ctx, m.program, task, questions); err != nil {
		return nil, err
	}
	if x.Cause != nil {
		return nil, fmt.Errorf("%s: %s", x.Cause.Kind, x.Cause.Text)
	}
	for _, f := range x.Found {
		if !f.Exhausted {
			return nil, fmt.Errorf("the search in %s was cut short", f.Env)
		}
	}
	return slices.DeleteFunc(x.Found, func(f judge.Found) bool { return !f.Answer.Found }), nil
}
