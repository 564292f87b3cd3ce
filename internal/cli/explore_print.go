package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/schedule"
	"lockkata/internal/columns"
	"lockkata/internal/term"
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
			fmt.Fprintf(a.err, term.EraseLine+"%s, %s: cost %d, %d schedules, %d states, %.0f schedules/s",
				j.stage.Name(), j.question.Env, p.Bound, p.Runs, p.States, float64(p.Runs)/time.Since(begun).Seconds())
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
			wrong = append(wrong, fmt.Sprintf("%s in %s on %s", one.Property, one.Env, columns.Must(one.Stage).Name()))
		}
	}
	for _, n := range searches {
		runs += n
	}
	fmt.Fprintf(a.out, "%d schedules of real locks and real go-redis clients on an embedded Redis.\n", runs)
	if cut > 0 && x.random == 0 {
		fmt.Fprintf(a.out, "Cut short: %d of %d answers say only what was looked at until then.\n", cut, len(answers))
	}
	if len(wrong) > 0 {
		return failedError{"not what the lesson says: " + strings.Join(wrong, ", ")}
	}
	return nil
}

// lesson tells whether the stage's lesson expects the property to be broken. It
// says nothing about a search that is smaller or larger than the suite's.
func (one answer) lesson() (broken, ok bool) {
	for _, q := range schedule.Suite {
		if q.Env == one.Env && slices.Contains(q.Properties, one.Property) && q.Clients == one.Clients && q.Bound == one.Bound {
			want := columns.Must(one.Stage).Search(one.Property, one.Env)
			return want != "none" && want != "-", !one.Random
		}
	}
	// What the lesson says is safe must not be found broken, however it is looked for.
	want := columns.Must(one.Stage).Search(one.Property, one.Env)
	return want != "none", one.Found && want != ""
}

// printTable prints stages × properties.
func (a *app) printTable(answers []answer) {
	fmt.Fprintf(a.out, "The shortest schedule that breaks each property: ✗ cost/steps. ✓ none up to that cost.\n\n")
	header := fmt.Sprintf("%-14s %-13s", "property", "environment")
	for _, s := range columns.Shown() {
		header += fmt.Sprintf(" %-7s", s.Subject.Name)
	}
	fmt.Fprintln(a.out, strings.TrimRight(header, " "))
	for _, q := range schedule.Suite {
		for _, p := range q.Properties {
			cells, any := "", false
			for _, s := range columns.Shown() {
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
	fmt.Fprintf(a.out, "%s, %s\n", columns.Must(one.Stage).Name(), one.Question())
	switch {
	case one.Random && one.Found:
		fmt.Fprintf(a.out, "  broken: %s\n  by chance, after %d schedules: %d steps, of which %d cost; there may be shorter ones\n", one.Text, one.Runs, one.Steps, one.Cost)
	case one.Random:
		fmt.Fprintf(a.out, "  no violation in %d schedules at random\n", one.Runs)
	default:
		fmt.Fprint(a.out, one.Answer)
	}
	if one.Found {
		fmt.Fprintf(a.out, "  go run . replay '%s'\n", one.Schedule)
	}
	fmt.Fprintln(a.out)
}
