package cli

import (
	"cmp"
	"fmt"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

// Output of explore.
var (
	askedOf           = i18n.New("{stage}, {question}")
	allSchedules      = i18n.New("{n} schedules of real locks and real go-redis clients on an embedded Redis.")
	someCut           = i18n.New("Cut short: {n} of {all} answers are only partial.")
	tableTitle        = i18n.New("The shortest schedule that breaks each property: ✗ faults/steps. ✓ none up to so many faults.")
	propertyColumn    = i18n.New("property")
	environmentColumn = i18n.New("environment")
	searchLegend      = []i18n.Text{
		i18n.New("A fault is a delay, a crash, a pause or a loss; a step is anything that happens next."),
		i18n.New("A property is what the lock must do; an environment is what may go wrong: go run . explore --help"),
		i18n.New("A schedule is v1/LOCK/CLIENTS/ATTEMPTS/ENVIRONMENT/PROPERTY/STEPS: the command replay draws it."),
	}
)

// printAnswers prints a table for all stages, or what was found about one.
func (a *app) printAnswers(x exploration, answers []answer, schedules int) error {
	isTable := x.stage == "all"
	if isTable {
		a.printTable(answers)
	}
	cut := 0
	var best answer
	for _, one := range answers {
		if !isTable {
			a.printAnswer(one)
		}
		if one.Cheaper(best.Answer) {
			best = one
		}
		if !one.Exhausted {
			cut++
		}
	}
	if best.Found && !isTable && x.property != "" {
		if err := a.replay(best.Schedule); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, a.say(allSchedules, "n", schedules))
	if cut > 0 {
		fmt.Fprintln(a.out, a.say(someCut, "n", cut, "all", len(answers)))
	}
	a.printLegend()
	return nil
}

// printLegend explains the words of an answer.
func (a *app) printLegend() {
	for _, text := range searchLegend {
		a.prose(term.Dim, 0, a.say(text))
	}
}

// printTable prints a table of properties and stages.
func (a *app) printTable(answers []answer) {
	a.heading("", a.say(tableTitle))
	header := []string{a.say(propertyColumn), a.say(environmentColumn)}
	cells := map[[3]string]string{}
	for _, s := range stages.Public() {
		header = append(header, s.Subject.Name)
	}
	for _, one := range answers {
		cells[[3]string{one.Property, one.Env, one.Stage}] = one.cell()
		cells[[3]string{one.Property, one.Env}] = "asked"
	}
	rows := [][]string{header}
	for _, q := range schedule.Suite {
		for _, p := range q.Properties {
			if cells[[3]string{p, q.Env}] == "" {
				continue
			}
			row := []string{p, q.Env}
			for _, s := range stages.Public() {
				row = append(row, cmp.Or(cells[[3]string{p, q.Env, s.ID}], "·"))
			}
			rows = append(rows, row)
		}
	}
	fmt.Fprintf(a.out, "\n%s\n\n", strings.Join(align(rows), "\n"))
}

// cell returns an answer in a few letters.
func (one answer) cell() string {
	switch {
	case one.Found:
		return fmt.Sprintf("✗ %d/%d", one.Cost, one.Steps)
	case one.Bound < 0:
		return "? cut"
	}
	return fmt.Sprintf("✓ ≤%d", one.Bound)
}

// printAnswer prints the result for one property.
func (a *app) printAnswer(one answer) {
	fmt.Fprintln(a.out, a.say(askedOf, "stage", stages.MustFind(one.Stage).NameText(), "question", one.QuestionIn(a.lang)))
	fmt.Fprint(a.out, one.Localize(a.lang))
	if one.Found {
		fmt.Fprintf(a.out, "  go run . replay '%s'\n", one.Schedule)
	}
	fmt.Fprintln(a.out)
}
