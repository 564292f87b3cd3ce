package kata

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// provingPatience is how many times longer than a learner's lock the material may
// take: it is known to end.
const provingPatience = 4

// What is proven of an exercise.
var (
	ofMaterial   = i18n.New("material")
	ofStart      = i18n.New("start")
	ofSolution   = i18n.New("solution")
	ofHints      = i18n.New("hints")
	ofPrediction = i18n.New("prediction")
	ofSearch     = i18n.New("explore")
)

// What a proof has shown.
var (
	locksNothing  = i18n.New("compiles, and does not lock at all: {why}")
	redFor        = i18n.New("compiles, and exactly these failures break it: {failures}")
	survivesAll   = i18n.New("survives all {n} failures that are asked for")
	threeHints    = i18n.New("there are three")
	predicted     = i18n.New("{failure}: {answer}")
	proofsHold    = i18n.NewPlural("{n} exercise, {held} of {proofs} proofs hold", "{n} exercises, {held} of {proofs} proofs hold")
	exerciseFails = i18n.New("exercise {id}: {error}")
)

// What does not hold.
var (
	materialFails = i18n.New("a start or a solution does not compile: {error}")
	redForOthers  = i18n.New("survives {missing}, and shows {more} beside what the exercise fixes")
	stillRed      = i18n.New("shows {failure}: {what}")
	ruinsRun      = i18n.New("{kind}: {what}")
	judgedByFew   = i18n.New("was judged by {n} failures, not by all {all}")
	hintMissing   = i18n.New("hint {n} is missing")
	unknownStory  = i18n.New("there is no failure {name}")
	wasNotPlayed  = i18n.New("{failure} was not played")
	saysOther     = i18n.New("{failure}: the world says \"{right}\", marked is \"{marked}\"")
)

// Verify proves the material of these exercises and prints a line for each proof:
// the start compiles and shows exactly the failures that the exercise fixes, the
// solution shows none that is required, there are three hints, and the marked
// answer of the prediction is what the world really does, and a search finds the
// mistake of a lock to repair in its start and not in its solution. It tells whether
// all hold.
func Verify(ctx context.Context, root string, list []Exercise, v View, out io.Writer) (bool, error) {
	all, err := materials(root, list)
	if err != nil {
		return false, err
	}
	program, err := Build(ctx, root, all...)
	if err != nil {
		return false, materialFails.Args("error", err)
	}
	defer program.Close()
	return prover{program, root, v}.verify(ctx, list, out), nil
}

// prover proves exercises whose locks are in a program.
type prover struct {
	*Program
	root string // of the repository
	view View
}

// materials are the starts and solutions.
func materials(root string, list []Exercise) (all []Files, err error) {
	for _, e := range list {
		for _, read := range []func(fs.FS) (Files, error){e.Start, e.Solution} {
			files, err := read(os.DirFS(root))
			if err != nil {
				return nil, exerciseFails.Args("id", e.ID, "error", err)
			}
			all = append(all, files)
		}
	}
	return all, nil
}

// proof shows one thing about an exercise, and says it in a line; the error says what
// does not hold.
type proof struct {
	of   i18n.Text
	text i18n.Message
	err  error
}

// lines are the proof as it is printed.
func (p proof) lines(v View) string {
	sign, text := "✓", p.text.Localize(v.Lang)
	if p.err != nil {
		sign, text = "✗", i18n.Words(p.err, v.Lang)
	}
	head := fmt.Sprintf("   %s %s ", sign, term.Pad(v.say(p.of), 11))
	return strings.Join(term.Beside(head, text, v.Width), "\n") + "\n"
}

// verify proves exercises, as many at once as there are cores.
func (p prover) verify(ctx context.Context, list []Exercise, out io.Writer) bool {
	results := make([]chan []proof, len(list))
	for i := range results {
		results[i] = make(chan []proof, 1)
	}
	go atOnce(len(list), func(i int) { results[i] <- p.proofs(ctx, list[i]) })
	proofs, held := 0, 0
	for i, e := range list {
		fmt.Fprintf(out, "%-3s %s\n", e.ID, e.Text(p.view.Lang).Title)
		for _, proof := range <-results[i] {
			if proofs++; proof.err == nil {
				held++
			}
			fmt.Fprint(out, proof.lines(p.view))
		}
	}
	fmt.Fprintln(out, proofsHold.Of(len(list), "held", held, "proofs", proofs).Localize(p.view.Lang))
	return held == proofs
}

// task is what the proof asks of a lock of the material.
func (p prover) task(e Exercise) judge.Task {
	task := e.task()
	task.Patience, task.Lang = provingPatience, p.view.Lang
	for _, f := range failures.All {
		if f.ID != e.Predict.Failure && !slices.Contains(task.Required, f.ID) {
			task.Skip = append(task.Skip, f.ID)
		}
	}
	return task
}

func (p prover) proofs(ctx context.Context, e Exercise) []proof {
	locks, err := materials(p.root, []Exercise{e})
	if err != nil {
		return []proof{{of: ofMaterial, err: err}}
	}
	start, err := p.Judge(ctx, locks[0], p.task(e))
	if err != nil {
		return []proof{{of: ofStart, err: err}}
	}
	solution, err := p.Judge(ctx, locks[1], p.task(e))
	if err != nil {
		return []proof{{of: ofSolution, err: err}}
	}
	proven := func(of i18n.Text) func(i18n.Message, error) proof {
		return func(text i18n.Message, err error) proof { return proof{of, text, err} }
	}
	all := []proof{
		proven(ofStart)(e.provenStart(start)), proven(ofSolution)(e.provenSolution(solution)),
		proven(ofHints)(e.provenHints()), proven(ofPrediction)(e.Predict.proven(solution)),
	}
	if e.Search != (Sought{}) {
		all = append(all, proven(ofSearch)(p.provenSearch(ctx, e, locks[0], locks[1])))
	}
	return all
}

// provenStart: the start compiles, and is red for what the exercise fixes and for
// nothing else. A start that does not lock at all is red for everything. One that lacks
// what a story is about may survive it all the same.
func (e Exercise) provenStart(r Report) (text i18n.Message, err error) {
	if r.Cause != nil && !r.Cause.Optional && len(r.Verdicts) == 0 {
		text = locksNothing.Args("why", r.Cause.Text)
		if !slices.Equal(e.Required(), e.Fixes) || r.Cause.Kind != judge.NoDay {
			return text, text
		}
		return text, nil
	}
	var red []string
	for _, v := range r.Red() {
		red = append(red, v.Failure)
	}
	must := e.Fixes
	if e.Level != Repair {
		must = slices.DeleteFunc(slices.Clone(e.Fixes), func(id string) bool {
			f, _ := failures.Find(id)
			return column(e.Before).Expect(f) != failures.Broken
		})
	}
	if missing, more := without(must, red), without(red, e.Fixes); len(red) == 0 || len(missing)+len(more) > 0 {
		return text, redForOthers.Args("missing", missing, "more", more)
	}
	return redFor.Args("failures", strings.Join(red, ", ")), nil
}

func (e Exercise) provenSolution(r Report) (text i18n.Message, err error) {
	switch red := r.Red(); {
	case len(red) > 0:
		return text, stillRed.Args("failure", red[0].Failure, "what", red[0].Sentence)
	case r.Cause != nil:
		return text, ruinsRun.Args("kind", i18n.Text(r.Cause.Kind), "what", r.Cause.Text)
	case !r.Passed(e.Required()):
		return text, judgedByFew.Args("n", len(r.Verdicts), "all", len(e.Required()))
	}
	return survivesAll.Args("n", len(e.Required())), nil
}

func (e Exercise) provenHints() (text i18n.Message, err error) {
	for i, hint := range e.Text(i18n.English).Hints {
		if hint == "" {
			return text, hintMissing.Args("n", i+1)
		}
	}
	return threeHints.Args(), nil
}

// proven: the marked answer is what the run of the solution says.
func (p Prediction) proven(solution Report) (text i18n.Message, err error) {
	if _, ok := failures.Find(p.Failure); !ok {
		return text, unknownStory.Args("name", p.Failure)
	}
	v := solution.Verdict(p.Failure)
	if v.Trace == nil {
		return text, wasNotPlayed.Args("failure", p.Failure)
	}
	_, right, err := p.on(v.Trace)
	switch {
	case err != nil:
		return text, err
	case right != p.Answer:
		return text, saysOther.Args("failure", p.Failure, "right", p.Means[right], "marked", p.Means[p.Answer])
	}
	return predicted.Args("failure", p.Failure, "answer", p.Means[right]), nil
}

// without are the members of list that are not in other.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}
