package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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

// The votes stay through a reload and the way back, and have bars and a sum. Esc leaves the mode for a wall and nothing else.
func TestVotesStayAndEscEndsTheProjectorOnly(t *testing.T) {
	b := open(t, served(t, bare(t)), 1024, 768)
	b.eval("location.hash = '#learn/5', 0")
	b.settle()
	require.False(t, b.isShown(".learn-votes"))
	b.press("p")
	require.Equal(t, "Enter how many vote for each answer.", b.text(".learn-sum"))
	b.do(chromedp.Click(chromedp.CSS(".learn-choices li:nth-child(3) input")))
	b.press("8")
	b.do(chromedp.Click(chromedp.CSS(".learn-choices li:nth-child(5) input")))
	b.press("4", kb.Escape)
	require.Equal(t, "#learn/5", b.hash())
	require.False(t, b.isShown(".learn-votes"))
	b.press(kb.Escape)
	require.Empty(t, b.hash(), "the second one leads to the first screen")
	back := func() { // with the button of the browser
		b.eval("new Promise((done) => { addEventListener('hashchange', done, {once: true}); history.back(); }).then(() => 0)")
		b.settle()
	}
	back()
	b.press("p")
	votes := `[...document.querySelectorAll('.learn-votes')].map((box) => box.value + ' ' + getComputedStyle(box.parentElement.firstChild, '::before').width).join(', ')
		+ ': ' + document.querySelector('.learn-sum').innerText`
	whole := value[string](b, votes)
	require.Regexp(t, `^ 0px,  0px, 8 [1-9]\d\d.*px,  0px, 4 [1-9]\d.*px,  0px: Votes: 12\. A bar is an answer’s share of them\.$`, whole)
	b.do(chromedp.Reload())
	require.Equal(t, whole, value[string](b, votes))
	b.eval("location.hash = '#learn/6', 0")
	b.settle()
	require.Equal(t, "Enter how many vote for each answer.", b.text(".learn-sum"), "each question has its own")
	back()
	require.Equal(t, whole, value[string](b, votes))
	b.eval("localStorage.clear()")
}

// An answer is called right or not, in words and in colour.
func TestAnswerIsCalledRightOrNot(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#learn/5", 1366, 768)
	b.eval("finish = (i) => { pick(i); while (lesson.playing) beat(); }, finish(0)")
	require.Contains(t, b.text(".learn-says.is-wrong"), "✗ not this one")
	require.Zero(t, b.count(".chosen.is-right"))
	b.eval("finish(4)")
	require.True(t, value[bool](b, "lesson.rows.lastChild.getBoundingClientRect().bottom <= lesson.rows.parentElement.getBoundingClientRect().bottom"), "the last step is seen")
	require.Contains(t, b.text(".learn-says.is-right"), "✓ right")
	require.Equal(t, 1, b.count(".chosen.is-right"))
}
