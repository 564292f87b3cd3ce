package browser

import (
	"net/url"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// shownText returns the page's visible and spoken text without code: names, commands and files are
// not translated.
const shownText = `(() => {
	const said = [];
	const isCode = (e) => e.closest('code, pre, kbd, .lines, .source, .place, .tabs, option, [lang=en]');
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; node = walk.nextNode();) {
		const parent = node.parentElement;
		if (!isCode(parent) && !parent.closest('script, style, noscript') && (parent.getClientRects().length > 0 || parent.closest('dialog'))) said.push(node.data);
	}
	for (const e of document.querySelectorAll('[title], [aria-label]')) {
		if (!isCode(e)) said.push(e.title, e.getAttribute('aria-label') || '');
	}
	return [...said, document.title];
})()`

// English is recognized by three English words in a row, which no command or rule has.
var (
	english = regexp.MustCompile(`\b[A-Za-z]+[a-z],? [a-z]+ [a-z]+\b`)
	command = regexp.MustCompile(`go run \. [^。，]*|SET K [A-Z0-9a-z ]+|context deadline exceeded`)
)

// isChinese fails the test on an English sentence.
func (b *tab) isChinese() {
	b.t.Helper()
	require.Equal(b.t, "zh-CN", value[string](b, "document.documentElement.lang"))
	for _, said := range value[[]string](b, shownText) {
		require.NotRegexp(b.t, english, command.ReplaceAllString(said, ""), "at %s", b.hash())
	}
}

// If the browser prefers Chinese, every place of the page is in Chinese.
func TestChineseVisitorReadsChinese(t *testing.T) {
	b := open(t, "about:blank", wide, high)
	agent := value[string](b, "navigator.userAgent")
	call(b, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: "zh-CN,zh"})
	b.do(chromedp.Navigate(oneFile(t)))
	b.own = append(b.own, "file:", "about:")
	require.Equal(t, "一把 Redis 锁，逐个阶段看它怎么出问题", b.text("h1"))
	b.isChinese()
	b.click(`a[href="#check-then-delete/3"]`)
	b.isChinese()
	b.click(`button[aria-label="最后一步"]`)
	require.Contains(t, b.text(".verdict"), "失效：误删")
	b.isChinese()

	b.click(".take")
	b.until("document.querySelector('.option')")
	b.isChinese()
	b.eval("location.hash = '#play/3', 0")
	b.until("document.querySelector('.option') && location.hash.startsWith('#play/v1/stage3/2c')")
	b.isChinese()
	b.press("h")
	b.until("document.querySelector('.just-now').innerText.startsWith('提示：')")
	b.isChinese()

	b.eval("location.hash = '#break/2/nx-dropped', 0")
	b.until("document.querySelector('.column .turned')")
	require.Contains(t, b.text("h1"), "去掉 NX")
	b.isChinese()
	b.click(".search")
	b.until("document.querySelector('.found .see')")
	require.Contains(t, b.text(".found"), "没有更短的")
	b.isChinese()

	for _, hash := range []string{"#nothing", "#write/3", "#play/v1/stage3/2c/1x/async/wrong-delete/a.zz", "#break/2/none", "#take/late-unlock/3/step-999"} {
		b.eval("location.hash = '" + hash + "', 0")
		b.until("document.querySelector('#note').innerText")
		b.isChinese()
	}
}

// The language comes from the link, the switch or the last choice. The switch keeps the visitor's
// place.
func TestLanguageIsChosen(t *testing.T) {
	address := servedWithEngine(t, built)
	b := open(t, address+"#check-then-delete/3/step-5", wide, high)
	require.Equal(t, "en", value[string](b, "document.documentElement.lang"))
	says := b.text(".says")
	require.Contains(t, b.text("#tool-language"), "zh", "for a computer without Chinese letters")
	b.click("#tool-language")
	require.Equal(t, "zh-CN", value[string](b, "document.documentElement.lang"))
	require.Equal(t, "#check-then-delete/3/step-5", b.hash())
	require.NotEqual(t, says, b.text(".says"))
	require.Equal(t, "English", b.text("#tool-language"))
	b.do(chromedp.Reload())
	require.Equal(t, "zh-CN", value[string](b, "document.documentElement.lang"), "it is remembered")
	b.click("#tool-language")
	require.Equal(t, says, b.text(".says"))
	b.eval("localStorage.clear()")

	linked := open(t, address+"?lang=zh#late-unlock/3", wide, high)
	require.Equal(t, "zh-CN", value[string](linked, "document.documentElement.lang"))
	linked.click("#tool-language")
	at, err := url.Parse(value[string](linked, "location.href"))
	require.NoError(t, err)
	require.Equal(t, "en", at.Query().Get("lang"), "a link to what is shown brings what is shown")
	linked.eval("localStorage.clear()")
}

// A game continues in the other language.
func TestGameGoesOnInTheOtherLanguage(t *testing.T) {
	b := open(t, oneFile(t), wide, high)
	b.click(`a[href="#play/3"]`)
	b.until("document.querySelector('.option')")
	b.press("1")
	b.until("document.querySelector('.turns .count').innerText.startsWith('1 step')")
	b.click("#tool-language")
	b.until("document.querySelector('.turns .count')?.innerText.startsWith('1 步')")
	b.eval("localStorage.clear()")
}
