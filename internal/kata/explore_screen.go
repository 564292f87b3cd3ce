package kata

import (
	"cmp"
	"fmt"
	"slices"

	"lockkata/failures_test/schedule"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// Screen shows what was found about each property, and draws the shortest schedule
// that breaks it: for somebody at the keys, of all those that are broken, one.
func (x Explored) Screen(v View) string {
	text := x.Exercise.headline(v)
	if x.Compile != nil {
		return text + x.stopped(v)
	}
	for _, f := range x.Found {
		text += fmt.Sprintf("%s\n%s", f.Question(), f.Answer)
		if f.Answer.Found && x.given(f) > 0 { // then it is no mistake of the learner's
			text += fmt.Sprintf("  our lock of stage %d breaks it as well\n", x.Exercise.Base)
		}
		text += "\n"
	}
	shown := x.shortest()
	if v.Keys && len(shown) > 1 {
		shown = shown[:1]
	}
	for _, f := range shown {
		rule := f.Property
		if len(f.Findings) > 0 { // the name that it has in the picture
			rule = string(f.Findings[0].Monitor)
		}
		text += v.line(term.Bold, fmt.Sprintf("The shortest way to break %s, in %s:", f.Property, f.Env)) + v.picture(f.Trace, f.Findings) +
			v.verdict(fmt.Sprintf("BROKEN: %s: %s.", rule, f.Text)) + "\n"
	}
	return text + x.stopped(v) + x.printed() + v.wrapped(x.sum())
}

// given is 1 where the lesson of the exercise's stage says that the property is broken,
// and as cheaply, and else 0.
func (x Explored) given(f judge.Found) int {
	lesson := schedule.Answer{Found: true}
	_, err := fmt.Sscanf(column(x.Exercise.Base).Search(f.Property, f.Env), "%d/%d", &lesson.Cost, &lesson.Steps)
	if err != nil || f.Cheaper(lesson) { // there is no lesson, or nobody asks
		return 0
	}
	return 1
}

// shortest are the shortest ways to break each of the properties, first those that the
// stage does not break, each in the order of what they cost.
func (x Explored) shortest() []judge.Found {
	all := slices.DeleteFunc(slices.Clone(x.Found), func(f judge.Found) bool { return !f.Answer.Found })
	slices.SortStableFunc(all, func(a, b judge.Found) int {
		return cmp.Or(x.given(a)-x.given(b), a.Cost-b.Cost, a.Steps-b.Steps)
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(f judge.Found) bool {
		was := seen[f.Property]
		seen[f.Property] = true
		return was
	})
}

// sum is what it comes to.
func (x Explored) sum() string {
	runs, cut, broken := 0, 0, x.Cause != nil
	searches := map[string]bool{} // answers of one search count once
	for _, f := range x.Found {
		broken = broken || f.Answer.Found
		if search := fmt.Sprint(f.Env, f.Clients, f.Runs, f.States); !searches[search] {
			searches[search] = true
			runs += f.Runs
			if !f.Exhausted {
				cut++
			}
		}
	}
	text := term.Count(runs, "schedule") + " of your lock and real go-redis clients on an embedded Redis."
	if cut > 0 {
		were := "1 search was"
		if cut > 1 {
			were = fmt.Sprintf("%d searches were", cut)
		}
		text += fmt.Sprintf(" %s cut short, after %v or for want of memory, and says only what its lines say.", were, searchLimit)
	}
	if !broken {
		text += " Nothing is broken up to the costs above; that is no proof."
	}
	return text
}
