package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon is how long a page may take to say that a lock hangs, and to have another engine. It
// is 3 s, and more where others work on the machine.
const soon = time.Minute

// A lock that hangs ends with its line, or where nobody can tell that with the failure in
// which it did; the page goes on with a fresh engine.
func TestLockThatHangsIsStoppedAndThePageGoesOn(t *testing.T) {
	page, _ := withEngine(t, true)
	b := open(t, onDisk(t, page), wide, high)
	b.click(`a[href="#write/3"]`)
	b.until("document.querySelector('.editor textarea')")
	b.eval("globalThis.same = true, 0")
	const at = "	value := uuid.NewString()\n"
	text := value[string](b, "document.querySelector('.editor textarea').value")
	text = strings.Replace(text, "import (\n", "import (\n\t\"strings\"\n\t\"sync\"\n", 1)
	text += "\nvar tries int\nvar _ sync.Mutex\nvar _ = strings.Repeat\n"
	line := strings.Count(text[:strings.Index(text, at)], "\n") + 1
	for name, c := range map[string]struct {
		code, says, note string // code has an @ at its line
	}{
		"waits in a library": {"if tries++; tries > 40 {\nvar once sync.Once\nonce.Do(func() {\n@once.Do(func() {}) }) }\n", "waits for what never comes in ", ""},
		"never ends in time": {"for {\n@time.Sleep(time.Nanosecond) }\n", "without end", ""},
		"loops":              {"@for {\n}\n", "an endless loop", ""},
		"loops on Redis":     {"if tries++; tries > 40 {\nfor {\n@m.rdb.Get(ctx, m.key) } }\n", "goes on without end, or|an endless loop", ""}, // whichever is noticed first
		"is busy elsewhere": {
			"if tries++; tries > 40 {\ntext := strings.Repeat(\"x\", 1<<22)\nfor { _ = strings.Contains(text, \"y\") } }\n", "",
			`^The engine was started again in [a-z-]+: it gave no sign of life\.$`,
		},
	} {
		before, after, _ := strings.Cut(c.code, "@")
		b.write(strings.Replace(text, at, before+after+at, 1))
		begun := time.Now()
		b.click(".write-view .turns button:nth-child(1)")
		b.until("document.querySelector('.wrong li') || document.querySelector('#note').innerText")
		b.until("engine.isReady")
		t.Logf("%s: a fresh engine after %v", name, time.Since(begun))
		require.Less(t, time.Since(begun), soon)
		require.Regexp(t, c.says, b.text(".wrong"))
		require.Regexp(t, c.note, b.text("#note"))
		if c.note == "" {
			require.Contains(t, b.text(".wrong button"), fmt.Sprintf("mutex.go:%d:", line+strings.Count(before, "\n")))
		}
	}
	b.write(text)
	b.grade()
	require.Equal(t, "✓", b.text(`a[href="#write/3/second-client"]`))
	require.True(t, value[bool](b, "globalThis.same"), "the page was not loaded again")
}

// An engine that gives no sign is given up soon with a lock that a visitor wrote. With ours it is only
// slow, as in its first request on a busy machine.
func TestSilentEngineIsGivenTimeWithOurLocks(t *testing.T) {
	page, _ := withEngine(t, true)
	b := open(t, onDisk(t, page), wide, high)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")
	b.eval("engine.worker.postMessage = () => {}, 0") // it hears nothing
	b.eval("asked({op: 'game', stage: '3'}), 0")
	b.until("engine.silent >= 7")
	require.Equal(t, 1, value[int](b, "engine.lives"))
	b.eval("engine.hear({kind: 'answer', text: '{}'}), 0")
	b.eval("asked({op: 'game', stage: '3', files: {}}), 0")
	b.until("engine.lives === 2 && engine.isReady")
	require.Equal(t, "The engine was started again: it gave no sign of life.", b.text("#note"))
}

// An engine that dies is replaced, and a game goes on where it was.
func TestEngineThatDiesIsReplacedInAGame(t *testing.T) {
	page, _ := withEngine(t, true)
	b := open(t, onDisk(t, page), wide, high)
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
	require.Equal(t, "The engine was started again: out of memory.", b.text("#note"))
	b.press("u")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
}
