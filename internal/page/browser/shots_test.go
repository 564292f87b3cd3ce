package browser

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var (
	shots   = flag.String("shots", "", "write pictures of the page into this folder")
	shotsOf = flag.String("shots-of", "", "only pictures whose names begin so")
)

// TestShots writes pictures of the page for people to look at.
func TestShots(t *testing.T) {
	if *shots == "" {
		t.Skip("-shots DIR writes pictures of the page")
	}
	url := onDisk(t, bare(t))
	for _, shot := range []struct {
		name, hash    string
		width, height int64
		scheme, keys  string
		full          bool // the whole page, not only the window
	}{
		{"matrix", "", 1280, 900, "light", "", false},
		{"matrix-dark", "", 1280, 900, "dark", "", false},
		{"start", "#check-then-delete/3", 1280, 800, "light", "", false},
		{"overlap", "#delete-foreign/2/step-10", 1280, 800, "light", "", false},
		{"overlap-dark", "#delete-foreign/2/step-10", 1280, 800, "dark", "", false},
		{"end", "#check-then-delete/3/step-17", 1280, 800, "light", "", false},
		{"watchdog", "#unlock-error-dog-lives/5/step-5", 1600, 1000, "light", "", false},
		{"pair", "#check-then-delete/3..4/step-13", 1440, 900, "light", "", false},
		{"pair-end", "#renew-partition/5..6/step-99", 1440, 900, "dark", "", false},
		{"projector", "#check-then-delete/3/step-17", 1280, 720, "light", "p", false},
		{"projector-pair", "#check-then-delete/3..4/step-13", 1920, 1080, "dark", "p", false},
		{"diff", "#check-then-delete/4/step-5", 1280, 800, "light", "d", false},
		{"help", "#check-then-delete/4/step-5", 1280, 800, "light", "?", false},
		{"phone-matrix", "", 360, 740, "light", "", false},
		{"phone", "#check-then-delete/3/step-13", 360, 740, "light", "", true},
		{"phone-pair", "#process-pause/5..6/step-10", 360, 740, "dark", "", true},
		{"tablet", "#process-pause/6/step-99", 820, 1100, "light", "", true},
		{"print", "#check-then-delete/3/step-2", 794, 1100, "light", "", true},
		{"print-pair", "#check-then-delete/3..4/step-2", 794, 1100, "light", "", true},
		{"fenced", "#process-pause-fenced/6/step-99", 1920, 1080, "light", "p", false},
		{"waiters", "#idle-waiters/6/step-99", 1280, 800, "light", "", false},
		{"zh-matrix", "?lang=zh", 1280, 900, "light", "", false},
		{"zh-end", "?lang=zh#check-then-delete/3/step-17", 1280, 800, "dark", "", false},
		{"zh-help", "?lang=zh#check-then-delete/4/step-5", 1280, 800, "light", "?", false},
		{"zh-projector", "?lang=zh#check-then-delete/3..4/step-13", 1280, 720, "light", "p", false},
		{"zh-phone-matrix", "?lang=zh", 360, 740, "light", "", false},
		{"zh-phone", "?lang=zh#check-then-delete/3/step-13", 360, 740, "dark", "", true},
	} {
		if !strings.HasPrefix(shot.name, *shotsOf) {
			continue
		}
		b := open(t, "about:blank", shot.width, shot.height)
		b.prefers(shot.scheme)
		b.do(chromedp.Navigate(url + shot.hash))
		if strings.HasPrefix(shot.name, "print") {
			call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		}
		if shot.keys != "" {
			b.press(shot.keys)
		}
		b.eval("new Promise((done) => setTimeout(() => done(0), 450))")
		camera := chromedp.CaptureScreenshot()
		if shot.full {
			camera = chromedp.FullScreenshot(100)
		}
		picture, err := chromedp.Run(b.ctx, camera)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*shots, shot.name+".png"), picture, 0o644))
		b.requests = []string{"about:blank"}
	}
}

// TestEngineShots writes pictures of the page with its engine.
func TestEngineShots(t *testing.T) {
	if *shots == "" {
		t.Skip("-shots DIR writes pictures of the page")
	}
	url := oneFile(t)
	for _, shot := range []struct {
		name, hash, until string
		width, height     int64
		scheme, keys      string
		full              bool
	}{
		{"play-matrix", "", ".matrix", 1280, 900, "light", "", false},
		{"play", "#take/check-then-delete/3/step-5", ".option", 1280, 800, "light", "", false},
		{"play-dark", "#play/5", ".option", 1280, 800, "dark", "", false},
		{"play-end", "#play/v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b", ".ending", 1280, 800, "light", "", false},
		{"play-projector", "#play/v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t", ".option", 1280, 720, "light", "p", false},
		{"play-phone", "#play/v1/stage3/2c/1x/async/wrong-delete/b.B.b.b", ".option", 360, 740, "light", "", true},
		{"break", "#break/2/nx-dropped", ".column .turned", 1280, 800, "light", "", false},
		{"break-dark", "#break/5", ".column li", 1280, 900, "dark", "", false},
		{"break-phone", "#break/3", ".column li", 360, 740, "light", "", true},
		{"break-run", "#break/2/nx-dropped/second-client/step-99", ".controls .take", 1280, 800, "light", "", false},
		{"zh-play", "?lang=zh#play/3", ".option", 1280, 800, "light", "", false},
		{"zh-play-end", "?lang=zh#play/v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b", ".ending", 360, 740, "light", "", true},
		{"zh-break", "?lang=zh#break/2/nx-dropped", ".column .turned", 1280, 900, "dark", "", false},
		{"zh-break-phone", "?lang=zh#break/5", ".column li", 360, 740, "light", "", true},
		{"play-phone-end", "#play/v1/stage3/2c/1x/async/wrong-delete/b.B.b.b.b.B.t.a.b", ".ending", 360, 740, "dark", "", true},
	} {
		if !strings.HasPrefix(shot.name, *shotsOf) {
			continue
		}
		b := open(t, "about:blank", shot.width, shot.height)
		b.prefers(shot.scheme)
		b.do(chromedp.Navigate(url + shot.hash))
		b.eval("engine.wanted = true, route(), 0")
		b.until("document.querySelector('" + shot.until + "')")
		if shot.keys != "" {
			b.press(shot.keys)
		}
		b.eval("new Promise((done) => setTimeout(() => done(0), 450))")
		camera := chromedp.CaptureScreenshot()
		if shot.full {
			camera = chromedp.FullScreenshot(100)
		}
		picture, err := chromedp.Run(b.ctx, camera)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(*shots, shot.name+".png"), picture, 0o644))
		b.requests = []string{"about:blank"}
	}
}
