package browser

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A crashed engine is replaced, and the game continues at the same step.
func TestEngineThatDiesIsReplacedInAGame(t *testing.T) {
	b := open(t, oneFile(t), wide, high)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")
	b.press("1")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
	b.eval("engine.hear({kind: 'ended', text: 'out of memory'}), 0")
	b.until("engine.isReady")
	b.press("1")
	b.until("document.querySelector('.turns .count').innerText.startsWith('2 steps')")
	require.Equal(t, 2, value[int](b, "engine.lives"))
	b.eval("asked({op: 'search', stage: '6', goal: 'exclusion', env: 'async', bound: 9}), 0")
	b.until("engine.now")
	b.eval("engine.hear({kind: 'ended', text: 'out of memory'}), 0")
	b.until("document.querySelector('#note').innerText")
	require.Equal(t, "The engine was started again: out of memory.", b.text("#note p"))
	b.press("u")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
}
