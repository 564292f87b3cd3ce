package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shared is the link to the lock in the editor.
func (b *tab) shared() string {
	b.t.Helper()
	b.eval("[...document.querySelectorAll('.turns button')].find((button) => button.innerText === 'Share').click(), 0")
	b.until("document.querySelector('a.share')")
	return value[string](b, "document.querySelector('a.share').getAttribute('href')")
}

// A lock that somebody wrote goes to a friend in a link, as do its runs and games, and
// nothing of it runs before the friend clicks.
func TestWrittenLockIsShared(t *testing.T) {
	page, _ := withEngine(t, true)
	url := onDisk(t, page)
	b := open(t, url, wide, high)
	b.click(`a[href="#write/3"]`)
	b.until("document.querySelector('.editor textarea')")
	b.edit(`"NX", `, "")
	b.edit("package stage3", "package stage3 // für 李雷")
	text := value[string](b, "document.querySelector('.editor textarea').value")
	link := b.shared()
	require.Regexp(t, `^#write/3/v1\.[A-Za-z0-9_-]+$`, link)
	require.Less(t, len(link), 8000)
	b.click(".write-view .search")
	b.until("document.querySelector('.found .see')")
	b.click(".found .see")
	b.until("document.querySelector('.ending a.share')")
	game := value[string](b, "document.querySelector('.ending a.share').getAttribute('href')")
	require.Regexp(t, `^#write/3/v1\.[A-Za-z0-9_-]+/play/v1/stage3~[0-9a-f]{8}/`, game)
	require.Contains(t, b.text(".ending"), "This lock is yours: its schedule replays in a page only.")
	b.eval("history.back(), 0")
	b.until("document.querySelector('.editor textarea')")
	require.Equal(t, text, value[string](b, "document.querySelector('.editor textarea').value"), "the way back from a game")

	friend := open(t, url+link, wide, high)
	friend.until("document.querySelector('.start')")
	require.Contains(t, friend.text("main"), "Somebody has written a lock and shares it: mutex.go. Nothing of it runs before you click.")
	require.False(t, value[bool](friend, "Boolean(engine.loading)"), "nothing is even loaded")
	friend.click(".start")
	friend.until("document.querySelector('.editor textarea')")
	require.Equal(t, text, value[string](friend, "document.querySelector('.editor textarea').value"))
	require.Equal(t, link, friend.shared(), "the same lock has the same link")
	for _, seen := range [][2]string{{link + "/second-client/step-3", ".controls .take"}, {game, ".ending"}} {
		hash, shows := seen[0], seen[1]
		friend.eval("written.clear(), 0") // as in a new page whose engine is there
		friend.eval(fmt.Sprintf("location.hash = %q, 0", hash))
		friend.until("document.querySelector('.start')")
		friend.click(".start")
		friend.until(fmt.Sprintf("document.querySelector(%q)", shows))
		require.Contains(t, friend.text(".lines"), "für 李雷")
	}
	require.Contains(t, friend.text(".ending"), "The goal is reached.")

	friend.eval(fmt.Sprintf("location.hash = %q, 0", strings.Replace(link, "v1.", "v2.", 1)))
	friend.until("document.querySelector('#note').innerText")
	require.Regexp(t, `^There is nothing to write at #write/3/v2\.[\w-]{48}…\. Choose a cell\.$`, friend.text("#note"), "a link of a later form")
	friend.eval("location.hash = '', 0")
	friend.until("document.querySelector('.matrix') && !document.querySelector('#note').innerText")
	for _, damaged := range []string{link[:len(link)-9], link[:len(link)/2] + "AAAA" + link[len(link)/2+4:], "#write/3/v1.", "#write/3/v1.%%%"} {
		friend.eval(fmt.Sprintf("location.hash = %q, 0", damaged))
		friend.until("document.querySelector('#note').innerText")
		require.Equal(t, "This link to a lock is damaged: ask for it again.", friend.text("#note"), damaged)
		friend.eval("location.hash = '', 0")
		friend.until("document.querySelector('.matrix') && !document.querySelector('#note').innerText")
	}
}

// A page without an engine says so, whatever is asked of it.
func TestPageWithoutAnEngineSaysSo(t *testing.T) {
	b := open(t, onDisk(t, page(t)), wide, high)
	for _, hash := range []string{"#play/3", "#take/late-unlock/3/step-2", "#break/2", "#write/3/v1.x", "#exercise/3"} {
		b.eval(fmt.Sprintf("location.hash = %q, 0", hash))
		b.until("document.querySelector('#note').innerText")
		require.Contains(t, b.text("#note"), "This page has no engine.")
		b.eval("location.hash = '', 0")
		b.until("!document.querySelector('#note').innerText")
	}
}

// A lock that is too long for a link is saved; one that does not compile stays open.
func TestLockThatCannotBeSharedOrPlayedSaysWhy(t *testing.T) {
	page, _ := withEngine(t, true)
	b := open(t, onDisk(t, page)+"#write/3", wide, high)
	b.click(".start")
	b.until("document.querySelector('.editor textarea')")
	b.write(value[string](b, "Array.from({length: 3000}, () => Math.random()).join('\\n')"))
	b.eval("[...document.querySelectorAll('.turns button')].find((button) => button.innerText === 'Share').click(), 0")
	b.until("document.querySelector('.write-view .shared').innerText")
	says := "It is too long for a link, which has 8000 characters at the most: save mutex.go and send that."
	require.Equal(t, says, b.text(".write-view .shared"))
	b.write("package stage3\n\nfunc {\n")
	b.click(".write-view .turns button:nth-child(2)")
	b.until("document.querySelector('.wrong li')")
	require.Contains(t, b.text(".wrong"), "mutex.go:3:6")
}
