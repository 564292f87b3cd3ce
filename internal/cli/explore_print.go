package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/internal/game"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// What a search says.
var (
	howFar            = i18n.New("{stage}, {env}: cost {cost}, {runs} schedules, {states} states, {rate} schedules/s")
	askedOf           = i18n.New("{stage}, {question}")
	allSchedules      = i18n.New("{n} schedules of real locks and real go-redis clients on an embedded Redis.")
	someCut           = i18n.New("Cut short: {n} of {all} answers say only what was looked at until then.")
	tableTitle        = i18n.New("The shortest schedule that breaks each property: ✗ cost/steps. ✓ none up to that cost.")
	propertyColumn    = i18n.New("property")
	environmentColumn = i18n.New("environment")
	byChance          = i18n.New("  broken: {what}\n  by chance, after {n} schedules: {length}; there may be shorter ones")
	answerOn          = i18n.New("{property} in {env} on {stage}")
	notTheLesson      = i18n.New("not what the lesson says: {answers}")
	noneByChance      = i18n.New("  no violation in {n} schedules at random")
)

// progress shows on a terminal how far a search is; it ends with an empty one.
func (a *app) progress(j job, begun time.Time) func(schedule.Progress) {
	if !a.terminal {
		return func(schedule.Progress) {}
	}
	last := begun
	return func(p schedule.Progress) {
		switch {
		case p.Runs == 0:
			fmt.Fprint(a.err, term.EraseLine)
		case time.Since(last) > 250*time.Millisecond:
			last = time.Now()
			fmt.Fprint(a.err, term.EraseLine+a.say(howFar, "stage", j.stage.NameIn(a.lang), "env", j.question.Env, "cost", p.Bound,
				"runs", p.Runs, "states", p.States, "rate", int(float64(p.Runs)/time.Since(begun).Seconds())))
		}
	}
}

// printAnswers prints a table for all stages, or what was found about one, and
// fails when that is not what its lesson says.
func (a *app) printAnswers(x exploration, answers []answer) error {
	if x.stage == "all" {
		a.printTable(answers)
	} else {
		for _, one := range answers {
			a.printAnswer(one)
		}
		if best := cheapest(answers); best != nil && x.property != "" {
			if err := a.replay(best.Schedule); err != nil {
				return err
			}
			fmt.Fprintln(a.out)
		}
	}
	runs, wrong, cut := 0, []string{}, 0
	searches := map[string]int{} // answers of one search count once
	for _, one := range answers {
		searches[fmt.Sprint(one.Stage, one.Env, one.Clients, one.Runs, one.States)] = one.Runs
		if !one.Exhausted {
			cut++
		}
		if want, ok := one.lesson(); ok && want != one.Found && (one.Found || one.Exhausted) {
			wrong = append(wrong, a.say(answerOn, "property", one.Property, "env", one.Env, "stage", stages.MustFind(one.Stage).NameText()))
		}
	}
	for _, n := range searches {
		runs += n
	}
	fmt.Fprintln(a.out, a.say(allSchedules, "n", runs))
	if cut > 0 && x.random == 0 {
		fmt.Fprintln(a.out, a.say(someCut, "n", cut, "all", len(answers)))
	}
	if len(wrong) > 0 {
		return failedError{notTheLesson.Args("answers", strings.Join(wrong, ", "))}
	}
	return nil
}

// lesson tells whether the stage's lesson expects the property to be broken. It
// says nothing about a search that is smaller or larger than the suite's.
func (one answer) lesson() (broken, ok bool) {
	for _, q := range schedule.Suite {
		if q.Env == one.Env && slices.Contains(q.Properties, one.Property) && q.Clients == one.Clients && q.Bound == one.Bound {
			want := stages.MustFind(one.Stage).Search(one.Property, one.Env)
			return want != "none" && want != "-", !one.Random
		}
	}
	// What the lesson says is safe must not be found broken, however it is looked for.
	want := stages.MustFind(one.Stage).Search(one.Property, one.Env)
	return want != "none", one.Found && want != ""
}

// printTable prints stages × properties.
func (a *app) printTable(answers []answer) {
	fmt.Fprintf(a.out, "%s\n\n", a.say(tableTitle))
	header := term.Pad(a.say(propertyColumn), 14) + " " + term.Pad(a.say(environmentColumn), 13)
	for _, s := range stages.Public() {
		header += fmt.Sprintf(" %-7s", s.Subject.Name)
	}
	fmt.Fprintln(a.out, strings.TrimRight(header, " "))
	for _, q := range schedule.Suite {
		for _, p := range q.Properties {
			cells, any := "", false
			for _, s := range stages.Public() {
				text := "·"
				for _, one := range answers {
					if one.Stage == s.ID && one.Property == p && one.Env == q.Env {
						text, any = one.cell(), true
					}
				}
				cells += fmt.Sprintf(" %-7s", text)
			}
			if any {
				fmt.Fprintln(a.out, strings.TrimRight(fmt.Sprintf("%-14s %-13s%s", p, q.Env, cells), " "))
			}
		}
	}
	fmt.Fprintln(a.out)
}

// cell is an answer in a few letters.
func (one answer) cell() string {
	mark := ""
	if broken, ok := one.lesson(); ok && broken != one.Found && (one.Found || one.Exhausted) {
		mark = "!"
	}
	switch {
	case one.Found:
		return fmt.Sprintf("✗ %d/%d%s", one.Cost, one.Steps, mark)
	case one.Bound < 0:
		return "? cut"
	}
	return fmt.Sprintf("✓ ≤%d%s", one.Bound, mark)
}

// cheapest is the counterexample with the lowest cost, and the fewest steps with
// it; nil if there is none.
func cheapest(answers []answer) *answer {
	var best *answer
	for i, one := range answers {
		if one.Found && (best == nil || one.Cheaper(best.Answer)) {
			best = &answers[i]
		}
	}
	return best
}

// printAnswer prints what was found about one property.
func (a *app) printAnswer(one answer) {
	fmt.Fprintln(a.out, a.say(askedOf, "stage", stages.MustFind(one.Stage).NameIn(a.lang), "question", one.QuestionIn(a.lang)))
	switch {
	case one.Random && one.Found:
		fmt.Fprintf(a.out, "%s\n", a.say(byChance, "what", one.TextIn(a.lang), "n", one.Runs, "length", game.Length(one.Cost, one.Steps, a.lang)))
	case one.Random:
		fmt.Fprintf(a.out, "%s\n", a.say(noneByChance, "n", one.Runs))
	default:
		fmt.Fprint(a.out, one.Localize(a.lang))
	}
	if one.Found {
		fmt.Fprintf(a.out, "  go run . replay '%s'\n", one.Schedule)
	}
	fmt.Fprintln(a.out)
}
