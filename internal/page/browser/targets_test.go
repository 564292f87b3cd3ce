package browser

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

var measure = flag.Bool("measure", false, "print how long the page takes for what a visitor does")

// TestTargets measures. It judges nothing: other work on the machine would.
func TestTargets(t *testing.T) {
	if !*measure {
		t.Skip("-measure prints how long things take")
	}
	bothWays(t, func(t *testing.T, url string) {
		b := open(t, url, wide, high)
		t.Logf("first screen: %.0f ms", value[float64](b, `new Promise((done) => new PerformanceObserver((seen) => done(seen.getEntries()[0].startTime)).observe({type: 'paint', buffered: true}))`))
		t.Logf("ready after a click: %.0f ms", value[float64](b, `(async () => { const begun = performance.now(); engine.wanted = true; await engine.ready(); return performance.now() - begun; })()`))
		t.Logf("started again: %.0f ms", value[float64](b, `(async () => {
			engine.hear({kind: 'ended'});
			const begun = performance.now(); await engine.ready(); return performance.now() - begun; })()`))
		b.eval("location.hash = '#play/3', 0")
		b.until("document.querySelector('.option')")
		var steps []float64
		for range 8 {
			steps = append(steps, value[float64](b, `new Promise((done) => { const begun = performance.now(), was = location.hash; choose(0);
				const look = () => (location.hash !== was ? requestAnimationFrame(() => done(performance.now() - begun)) : setTimeout(look, 1)); look(); })`))
		}
		t.Logf("a step, from click to screen: %.0f ms", steps)
		for name, request := range map[string]string{
			"the column of stage 2 with an edit":    "{op: 'column', stage: '2', edit: 'nx-dropped'}",
			"the column of stage 6":                 "{op: 'column', stage: '6'}",
			"search of stage 3, wrong-delete/async": "{op: 'search', stage: '3', goal: 'wrong-delete', env: 'async', bound: 3}",
		} {
			t.Logf("%s: %.0f ms", name, value[float64](b, fmt.Sprintf(`(async () => { const begun = performance.now(); await engine.ask(%s); return performance.now() - begun; })()`, request)))
		}
		require.Empty(t, b.said())
	})
}
