package kata

import (
	"context"
	"slices"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// What a search has shown of a mistake, and what it should not have.
var (
	foundInStart = i18n.New("a search breaks {property} in {env} at cost {cost}, {steps} steps; in the solution nothing breaks it up to cost {bound}")
	blindIndeed  = i18n.New("no search sees this mistake, as the exercise says: whatever a check's search finds here, it finds as cheaply in the solution")
	inSolution   = i18n.New("breaks {property} in the solution: {what}")
	notInStart   = i18n.New("finds nothing about {property} in {env} up to cost {bound} in the start")
	notBlind     = i18n.New("is said to be seen by no search, and breaks {property} in {env} with cost {cost}")
	cutShort     = i18n.New("the search in {env} was cut short")
)

// provenSearch: a search finds the mistake in the start, and nothing up to the same
// bound in the solution. Where it is said to be blind, it finds nothing in the start
// that it does not find as cheaply in the solution.
func (p prover) provenSearch(ctx context.Context, e Exercise, start, solution Files) (text i18n.Message, err error) {
	asked := Exploring{Property: e.Search.Property, Env: e.Search.Env, Bound: e.Search.Bound}
	if e.Search.Blind {
		asked = Exploring{Bound: -1}
	}
	inStart, err := p.breaks(ctx, e, start, asked)
	if err != nil {
		return text, err
	}
	inOurs, err := p.breaks(ctx, e, solution, asked)
	switch {
	case err != nil:
		return text, err
	case e.Search.Blind:
		return provenBlind(inStart, inOurs)
	case len(inOurs) > 0:
		return text, inSolution.Args("property", inOurs[0].Property, "what", inOurs[0].Text)
	case len(inStart) == 0:
		return text, notInStart.Args("property", asked.Property, "env", asked.Env, "bound", asked.Bound)
	}
	f := inStart[0]
	return foundInStart.Args("property", f.Property, "env", f.Env, "cost", f.Cost, "steps", f.Steps, "bound", asked.Bound), nil
}

func provenBlind(start, solution []judge.Found) (text i18n.Message, err error) {
	for _, f := range start {
		same := func(s judge.Found) bool { return s.Property == f.Property && s.Env == f.Env && !f.Cheaper(s.Answer) }
		if !slices.ContainsFunc(solution, same) {
			return text, notBlind.Args("property", f.Property, "env", f.Env, "cost", f.Cost)
		}
	}
	return blindIndeed.Args(), nil
}

// breaks is what a search breaks in a lock of the material.
func (p prover) breaks(ctx context.Context, e Exercise, files Files, asked Exploring) ([]judge.Found, error) {
	questions, err := asked.questions(Sought{})
	if err != nil {
		return nil, err
	}
	most := 0
	if e.Search.Blind { // as far as a check looks
		questions, most = ofTwoClients(questions), enoughSchedules
	}
	r, err := p.search(ctx, files, p.task(e), questions, most)
	if err != nil {
		return nil, err
	}
	if r.Cause != nil {
		return nil, ruinsRun.Args("kind", i18n.Text(r.Cause.Kind), "what", r.Cause.Text)
	}
	for _, f := range r.Found {
		if !f.Exhausted && most == 0 {
			return nil, cutShort.Args("env", f.Env)
		}
	}
	return slices.DeleteFunc(r.Found, func(f judge.Found) bool { return !f.Answer.Found }), nil
}
