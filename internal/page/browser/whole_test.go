package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// clipped is a function that returns what a reader of the page cannot read or reach: names of lanes, texts, controls. On
// a wide screen sentences and names have to be whole, and nothing may lie behind the bar with the steps.
const clipped = `const clipped = (isWide) => {
	const bad = new Set();
	const note = (what, e) => bad.add(what + ': ' + e.className + ' ' + (e.innerText || e.value || e.title || '').trim().slice(0, 30).replace(/\s+/g, ' '));
	const rectOf = (e) => e.getBoundingClientRect();
	const sizeOf = (e) => parseFloat(getComputedStyle(e).fontSize);
	const isShown = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && sizeOf(e) > 0;
	const isHit = (e, x, y) => {
		const at = document.elementFromPoint(x, y);
		return Boolean(at) && (e.contains(at) || at.contains(e) && !at.closest('.controls, .top'));
	};
	const boxesOf = (e) => {
		const boxes = [];
		for (let box = e; box && box !== document.documentElement; box = box.parentElement) {
			const style = getComputedStyle(box);
			if (style.overflowX !== 'visible' || style.overflowY !== 'visible') boxes.push({box, style});
		}
		return boxes;
	};
	for (const head of main.querySelectorAll('.timeline .head[class*=own-]')) {
		const {top, bottom} = rectOf(head.closest('.timeline'));
		const isInView = isShown(head.closest('.timeline')) && bottom > 30 && top < innerHeight - 30;
		const name = rectOf(head.querySelector('b') || head);
		if (isInView && !(name.width > 4 && name.height > 8 && isHit(head, (name.left + name.right) / 2, (name.top + name.bottom) / 2))) note('no name', head);
	}
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	const seen = new Set();
	for (let text; (text = texts.nextNode());) {
		const e = text.parentElement;
		if (!text.data.trim() || seen.has(e) || e.closest('script, style, noscript, select, .sheet, dialog, .skip') || !isShown(e)) continue;
		seen.add(e);
		const range = document.createRange();
		range.selectNodeContents(e);
		let part = range.getBoundingClientRect();
		if (part.width === 0) continue;
		if (part.right > innerWidth + 1 || part.left < -1) note('beside the window', e);
		for (const {box, style} of boxesOf(e)) {
			const {left, right, top, bottom} = rectOf(box);
			const scrolls = (overflow) => /auto|scroll/.test(overflow) && style.scrollbarWidth !== 'none';
			const isShort = style.textOverflow === 'ellipsis' && box.title && !isWide;
			if ((part.right > right + 1 || part.left < left - 1) && !scrolls(style.overflowX) && !isShort) note('cut', e);
			if ((part.bottom > bottom + 2 || part.top < top - 2) && !scrolls(style.overflowY)) note('cut below', e);
			part = {left: Math.max(part.left, left), right: Math.min(part.right, right), top: Math.max(part.top, top), bottom: Math.min(part.bottom, bottom)};
			if (part.right <= part.left || part.bottom <= part.top) break; // scrolled away
		}
	}
	const scrolls = !stepper && !(lesson && lesson.tried.size === 0); // the page, or a column of it
	for (const e of isWide ? main.querySelectorAll('.verdict, .choice button, .half h2, .on-wall, .stage-title, .head') : []) {
		if (!isShown(e)) continue;
		const {left, right, top, bottom} = rectOf(e);
		const isInside = left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight && isHit(e, left + 6, top + 4) && isHit(e, right - 6, bottom - 4);
		if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline' || !isInside && !scrolls) note('not whole', e);
	}
	const place = [scrollX, scrollY];
	for (const e of document.querySelectorAll('button, a, input, select, summary')) {
		if (!isShown(e) || e.closest('dialog, .skip, .sheet') || rectOf(e).width === 0) continue;
		if (rectOf(e).left < -1 || rectOf(e).right > innerWidth + 1) note('outside', e);
		const isClear = () => { const {left, right, top, bottom} = e.getClientRects()[0]; return isHit(e, (left + right) / 2, (top + bottom) / 2); };
		if (isClear() || e.closest('.top') && scrollY > 0) continue;
		const boxes = boxesOf(e).map(({box}) => [box, box.scrollTop]);
		if (!e.closest('.controls')) e.scrollIntoView({block: 'center'});
		if (!isClear()) note('covered', e);
		boxes.forEach(([box, top]) => { box.scrollTop = top; });
		scrollTo(...place);
	}
	const bar = main.querySelector('.controls');
	for (const card of isWide && bar ? main.querySelectorAll('.client, .keys') : []) {
		if (isShown(card) && rectOf(card).bottom > rectOf(bar).top + 1) note('behind the bar', card);
	}
	return bad;
};`

// tour steps through the first screen's runs, alone and beside the next stage, and the questions of the lesson with their
// right answers, and returns what is clipped or covered, with the places.
const tour = `(async (isWide, isAll) => {
	` + clipped + `
	history.replaceState = HTMLElement.prototype.focus = () => {};
	const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	const found = {};
	const look = async (place) => {
		await drawn();
		for (const what of clipped(isWide)) (found[what] ??= []).push(place);
	};
	for (const failure of data.failures.filter((f) => f.lesson)) {
		const last = failure.cells.findLastIndex(({outcome}) => outcome === 'x' || outcome === 'i');
		const {id} = data.stages.at(last);
		const next = beside(failure, id, 1);
		for (const stages of [[id], ...(next ? [[id, next]] : [])]) {
			showFailure({failure, stages, step: 1});
			const end = stepper.together.length - 1;
			for (let i = 0; i <= end; i++) {
				if (!isAll && i > 0 && i < end - 1) continue;
				stepper.go(i);
				await look(hashOf(failure, stages, i + 1));
			}
		}
	}
	for (const [n, {parts}] of data.lesson.entries()) {
		for (const [p, part] of parts.entries()) {
			showLesson('#learn/' + n + '/' + (p + 1));
			await look(n + '/' + p);
			pick(part.answers.findIndex(({right}) => right));
			for (; lesson.playing; lesson.more.querySelector('button').click()) if (isAll) await look(n + '/' + p + ' playing');
			await look(n + '/' + p + ' played');
		}
	}
	leave();
	showHome();
	await look('first screen');
	return Object.entries(found).map(([what, places]) => what + ' at ' + places[0] + ' and ' + (places.length - 1) + ' more');
})(%v, %v)`

// In every window the names, the texts and the controls are whole and in view.
func TestAllIsWholeAndInView(t *testing.T) {
	url := onDisk(t, bare(t))
	for _, one := range []struct {
		width, height    int64
		language         string
		onWall, eachStep bool
	}{
		{390, 844, "en", false, true}, {1024, 768, "en", false, true}, {1024, 768, "en", true, true},
		{844, 390, "en", false, false}, {1366, 625, "en", false, false}, {1366, 768, "en", false, false}, {1920, 1080, "en", false, false},
		{390, 844, "zh", false, false}, {1024, 768, "zh", true, false}, {844, 390, "zh", false, false}, {1366, 768, "zh", false, false},
	} {
		t.Run(fmt.Sprint(one), func(t *testing.T) {
			t.Parallel()
			b := open(t, url+"?lang="+one.language, one.width, one.height)
			if one.onWall {
				b.eval("document.documentElement.classList.add('projector'), 0")
			}
			require.Empty(t, value[[]string](b, fmt.Sprintf(tour, one.width >= 1024 && one.height >= 768, one.eachStep)))
		})
	}
}

// Of two runs on an old projector at least six rows each are seen.
func TestTwoRunsOnAnOldProjectorShowSixRowsEach(t *testing.T) {
	b := open(t, onDisk(t, bare(t)), 1024, 768)
	b.eval("document.documentElement.classList.add('projector'), 0")
	require.Empty(t, value[[]string](b, `data.failures.filter((f) => f.lesson).flatMap((failure) => rowOf(failure, ['1']).flatMap((id) => {
		const next = beside(failure, id, 1);
		if (!next) return [];
		showFailure({failure, stages: [id, next], step: 9999});
		return stepper.players.filter(({steps, scroll}) => {
			const [from, to] = [scroll.firstChild.getBoundingClientRect().bottom, scroll.getBoundingClientRect().bottom];
			const rows = [...steps.children].map((row) => row.getBoundingClientRect());
			return rows.filter(({top, bottom}) => top >= from - 1 && bottom <= to + 1).length < Math.min(6, rows.length);
		}).map(() => hashOf(failure, [id, next]));
	}))`))
}

// The first screen of a run says what comes, and the next step scrolls nothing away.
func TestFirstStepSaysWhatComesAndTheNextScrollsNothingAway(t *testing.T) {
	url := onDisk(t, bare(t))
	for _, hash := range []string{"#check-then-delete/3", "#check-then-delete/3..4"} {
		b := open(t, url+hash, 1366, 768)
		require.True(t, b.isShown(".begins"))
		b.press(kb.ArrowRight)
		require.False(t, b.isShown(".begins"))
		for _, place := range []string{"h1", ".choose", ".says"} {
			require.GreaterOrEqual(t, value[float64](b, fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().top", place)), 0.0, place)
		}
	}
}

// A phone has no keys, and no page names one.
func TestPhoneIsToldOfNoKey(t *testing.T) {
	b := open(t, onDisk(t, bare(t))+"#learn/1", 390, 844)
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, hash := range []string{"", "#check-then-delete/3", "#learn/1"} {
		b.eval(fmt.Sprintf("location.hash = %q, 0", hash))
		b.settle()
		if hash == "#learn/1" {
			b.eval("pick(0), 0")
		}
		require.Zero(t, value[int](b, "[...document.querySelectorAll('kbd:not(.number)')].filter((e) => e.checkVisibility()).length"), hash)
		require.False(t, b.isShown("#tool-help"))
	}
}
