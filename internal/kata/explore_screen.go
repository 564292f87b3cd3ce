package kata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// Screen shows what was found about each property, and draws the shortest schedule
// that breaks it: for somebody at the keys, of all those that are broken, one.
func (x Explored) Screen(v View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", x.Exercise.headline(v))
	if x.Compile != nil {
		showCompileError(&b, v, x.Compile)
		return b.String()
	}
	for _, f := range x.Found {
		fmt.Fprintf(&b, "%s\n%s%s\n", f.Question(), f.Answer, x.beside(f))
	}
	shown := x.shortest()
	if v.Keys && len(shown) > 1 {
		shown = shown[:1]
	}
	for _, f := range shown {
		fmt.Fprintf(&b, "%s\n", v.Color.Paint(term.Bold, fmt.Sprintf("The shortest way to break %s, in %s:", f.Property, f.Env)))
		fmt.Fprintf(&b, "%s\n", v.picture(f.Trace, f.Findings))
		fmt.Fprintf(&b, "%s\n\n", v.Color.Paint(term.Red, strings.TrimSuffix(v.wrap(broken(f)), "\n")))
	}
	if x.Cause != nil {
		showCause(&b, v, x.Cause)
	}
	showPrinted(&b, x.Printed)
	b.WriteString(v.wrap(x.sum()))
	return b.String()
}

// broken is what breaks, by the name that the rule has in the picture.
func broken(f judge.Found) string {
	rule := f.Property
	if len(f.Findings) > 0 {
		rule = string(f.Findings[0].Monitor)
	}
	return fmt.Sprintf("BROKEN: %s: %s.", rule, f.Text)
}

// beside tells that the stage which the exercise is measured by breaks the property as
// well, and as cheaply: then it is no mistake of the learner's.
func (x Explored) beside(f judge.Found) string {
	if !f.Answer.Found || !x.isGiven(f) {
		return ""
	}
	return fmt.Sprintf("  our lock of stage %d breaks it as well\n", x.Exercise.Base)
}

// isGiven tells whether the lesson of the exercise's stage says that it is broken, and
// as cheaply.
func (x Explored) isGiven(f judge.Found) bool {
	lesson := schedule.Answer{Found: true}
	if _, err := fmt.Sscanf(schedule.Lesson(f.Property, f.Env, x.Exercise.Base), "%d/%d", &lesson.Cost, &lesson.Steps); err != nil {
		return false // none, or nobody asks
	}
	return !f.Cheaper(lesson)
}

// shortest are the shortest ways to break each of the properties, first those that the
// stage does not break, each in the order of what they cost.
func (x Explored) shortest() []judge.Found {
	var best []judge.Found
	for _, given := range []bool{false, true} {
		best = append(best, x.shortestOf(given, best)...)
	}
	return best
}

// shortestOf are those that the stage breaks too, or does not, and that are not among
// the others.
func (x Explored) shortestOf(given bool, others []judge.Found) []judge.Found {
	var best []judge.Found
	for _, f := range x.Found {
		if !f.Answer.Found || x.isGiven(f) != given || indexOf(others, f.Property) >= 0 {
			continue
		}
		at := indexOf(best, f.Property)
		switch {
		case at < 0:
			best = append(best, f)
		case f.Cheaper(best[at].Answer):
			best[at] = f
		}
	}
	slices.SortStableFunc(best, func(a, b judge.Found) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Steps, b.Steps))
	})
	return best
}

func indexOf(list []judge.Found, property string) int {
	return slices.IndexFunc(list, func(f judge.Found) bool { return f.Property == property })
}

// sum is what it comes to.
func (x Explored) sum() string {
	runs, cut := 0, 0
	broken := map[string]bool{}
	searches := map[string]bool{} // answers of one search count once
	for _, f := range x.Found {
		search := fmt.Sprint(f.Env, f.Clients, f.Runs, f.States)
		if !searches[search] {
			runs += f.Runs
			if !f.Exhausted {
				cut++
			}
		}
		searches[search] = true
		if f.Answer.Found {
			broken[f.Property] = true
		}
	}
	text := fmt.Sprintf("%s of your lock and real go-redis clients on an embedded Redis.", counted(runs, "schedule", "schedules"))
	if cut > 0 {
		text += fmt.Sprintf(" %s cut short, after %v or for want of memory, and says only what its lines say.", counted(cut, "search was", "searches were"), searchLimit)
	}
	if len(broken) == 0 && x.Cause == nil {
		text += " Nothing is broken up to the costs above; that is no proof."
	}
	return text
}
