package kata

import (
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

var oursText = i18n.New("  our lock of {stage} breaks it as well")

// Screen shows the result for each property, and draws the shortest schedule that breaks it. At a
// keyboard it shows only one of the broken properties.
func (r SearchResult) Screen(v View) string {
	v.All = true
	text := v.headline(r.Exercise)
	if r.Compile != nil {
		return text + v.stopped(r.Report)
	}
	for _, f := range r.Found {
		text += f.QuestionIn(v.Lang) + "\n" + f.Answer.Localize(v.Lang)
		if f.Answer.Found && isOurs(r.Exercise, f) { // then it is not the learner's mistake
			text += v.say(oursText, "stage", stages.MustFind(r.Exercise.Lock).NameIn(v.Lang)) + "\n"
		}
		text += "\n"
	}
	shown := shortest(r.Exercise, r.Found)
	if v.Keys && len(shown) > 1 {
		shown = shown[:1]
	}
	for _, f := range shown {
		text += v.counterexample(f) + "\n"
	}
	return text + v.stopped(r.Report) + v.printed(r.Report) + v.differs(r.Report) + v.wrapped(r.sum(v))
}

var (
	scheduleCountText = i18n.NewPlural("{n} schedule of your lock and real go-redis clients on an embedded Redis.",
		"{n} schedules of your lock and real go-redis clients on an embedded Redis.")
	cutSearchText = i18n.NewPlural("After {time}, or because memory ran short, the search for {n} answer was cut short: the lines above show how far it got.",
		"After {time}, or because memory ran short, the search for {n} answers was cut short: the lines above show how far it got.")
	nothingBrokenText = i18n.New("Nothing is broken with up to the faults above. That is no proof.")
)

// sum returns how much was searched, and what follows from it.
func (r SearchResult) sum(v View) string {
	text, cut := scheduleCountText.Of(schedules(r.Found)).Localize(v.Lang), 0
	for _, f := range r.Found {
		if !f.Exhausted {
			cut++
		}
	}
	if cut > 0 {
		text = term.Joined(text, cutSearchText.Of(cut, "time", searchLimit).Localize(v.Lang))
	}
	if !r.IsBroken() {
		text = term.Joined(text, v.say(nothingBrokenText))
	}
	return text
}
