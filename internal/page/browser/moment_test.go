package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// Another stage, or a comparison, opens at the same moment of the run.
func TestOtherStagesStartAtTheSameMoment(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#check-then-delete/3/step-9", wide, high)
	says := b.text(".says")
	require.Equal(t, "#check-then-delete/3/step-9", b.hash())
	b.press("b")
	require.Equal(t, says, b.sentences()[0])
	b.press("b")
	require.Equal(t, "#check-then-delete/3/step-9", b.hash(), "and back")
	b.press("n")
	require.Equal(t, says, b.text(".says"), "the same event on stage 4")
	b.click(`.choose a[href="#check-then-delete/2"]`)
	require.Equal(t, says, b.text(".says"))
	b.click(`.choose a[href="#check-then-delete/2"]`)
	require.Equal(t, says, b.text(".says"), "a click on the same stage changes nothing")

	b.press(kb.End, "n")
	require.False(t, b.isShown(".verdict"), "the end of another run is not told")
	b.press(kb.ArrowRight)
	require.True(t, b.isShown(".verdict"))
	b.press("b", kb.End, "b")
	require.True(t, b.isShown(".verdict"), "its end is known")
}

// An event that both runs have is found, and other moments differ by less than the time between such events.
func TestEachMomentIsFoundOnEachStage(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), 800, 600)
	require.Empty(t, value[[]string](b, `(() => {
		Code.prototype.sheet = () => el('ol', {class: 'lines'});
		history.replaceState = scrollTo = Player.prototype.follow = () => {};
		const wrong = [];
		for (const failure of data.failures.filter(({lesson}) => lesson)) {
			const ids = data.stages.map((s) => s.id).filter((id) => cellAt(failure, id).run);
			for (const from of ids) for (const to of ids) {
				showFailure({failure, stages: [from], step: 1});
				const was = {stages: [from], stepper};
				showFailure({failure, stages: [to], step: 1});
				let last = 0;
				was.stepper.together.forEach((_, at) => {
					was.stepper.position = at;
					const now = momentOf(was);
					const [a, b] = [was.stepper.players[0].states[at], stepper.players[0].states[now]];
					if (now < last || from === to && now !== at) wrong.push([failure.id, from, to, at, now].join(' '));
					last = now;
					if (Math.abs(a.ms - b.ms) > 31000) wrong.push([failure.id, from, to, at, now, a.ms, b.ms].join(' '));
				});
			}
		}
		return wrong;
	})()`))
}
