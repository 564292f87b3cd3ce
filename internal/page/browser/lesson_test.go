package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/internal/i18n"
)

// rendered is what a reader or a screen reader gets: texts, names of elements, the title.
const rendered = `[document.title, document.querySelector('main').innerText,
	...[...document.querySelectorAll('main [title], main [aria-label]')].flatMap((e) => [e.title, e.getAttribute('aria-label')])].join('\n')`

// outcomes are texts about a run's end: the rules' names, the failures' ids and fixes.
func outcomes(l i18n.Language) (all []string) {
	for _, r := range oracle.Rules() {
		all = append(all, i18n.Text(r).Localize(l))
	}
	for _, f := range catalogue.Everything {
		all = append(all, i18n.Text(f.Fixed).Localize(l))
		if strings.Contains(f.ID, "-") {
			all = append(all, f.ID)
		}
	}
	return all
}

// The keyboard alone plays the whole lesson. Before an answer the page tells nothing of the outcome.
func TestLessonIsPlayedToItsEnd(t *testing.T) {
	for _, screen := range [][2]int64{{1366, 625}, {390, 844}} {
		for _, l := range i18n.Languages {
			t.Run(fmt.Sprint(screen, l.Tag()), func(t *testing.T) {
				b := open(t, onDisk(t, bare(t))+"?lang="+l.Tag()[:2]+"#learn", screen[0], screen[1])
				chapters := value[int](b, "data.lesson.length")
				for n := range chapters {
					require.Equal(t, n, value[int](b, "lesson.chapter"))
					parts := value[int](b, "data.lesson[lesson.chapter].parts.length")
					for p := range parts {
						require.Equal(t, p, value[int](b, "lesson.part"))
						shown := value[string](b, rendered)
						for _, outcome := range outcomes(l) {
							require.NotContains(t, shown, outcome)
						}
						answer := value[string](b, `(({moves, answers}) => moves ? answers.find((a) => a.right).order
							: String(1 + answers.findIndex((a) => a.right)))(data.lesson[lesson.chapter].parts[lesson.part])`)
						b.press(strings.Split(answer, "")...)
						for range 40 {
							if b.text(".learn-says") != "" && value[bool](b, "!lesson.playing") {
								break
							}
							b.press(" ")
						}
						require.NotEmpty(t, b.text(".learn-says"), "%d, question %d", n, p+1)
						b.press(" ")
					}
				}
				require.Empty(t, b.hash(), "after the last chapter the first screen")
				require.Equal(t, chapters, value[int](b, "progress.done.length"))
			})
		}
	}
}

// A question whose first answer was wrong is asked again on another day, until its first answer is right.
func TestMissedQuestionIsAskedAgain(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#learn/8", 1366, 625)
	answers := func(keys ...string) {
		b.press(keys...)
		for value[bool](b, "Boolean(lesson.playing)") {
			b.press(" ")
		}
	}
	answers("1") // wrong
	answers("3")
	visit := func() (place string) {
		b.eval("showHome(), showLesson('#learn'), 0")
		return value[string](b, "[lesson.chapter, lesson.part, lesson.again].join(' ')")
	}
	require.Equal(t, "0 0 false", visit(), "not on the same day")
	b.eval(`keep.set('lesson-missed', keep.get('lesson-missed').replace(/"[^"]*"/, '"2026-01-02"')), 0`)
	require.Equal(t, "8 0 true", visit())
	require.Contains(t, b.text(".learn"), "You missed this question the last time.")
	answers("3")
	b.press(" ")
	require.Equal(t, "0 0 false", visit(), "now it is known")
}
