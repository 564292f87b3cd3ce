package svg_test

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/timeline/svg"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

// element is an element of an SVG, as a reader of XML sees it.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// drawing is an SVG that has been read.
type drawing struct {
	element
	t *testing.T
}

func read(t *testing.T, svg string) drawing {
	t.Helper()
	d := drawing{t: t}
	require.NoError(t, xml.Unmarshal([]byte(svg), &d.element))
	require.Equal(t, "svg", d.XMLName.Local)
	return d
}

// of are the drawn elements of a class, such as "ov": two are inside.
func (d drawing) of(class string) []element {
	var found []element
	for _, e := range d.Children {
		for name := range strings.FieldsSeq(e.attr("class")) {
			if name == class {
				found = append(found, e)
			}
		}
	}
	return found
}

// texts are the lines of text, as they are read.
func (d drawing) texts() []string {
	var texts []string
	for _, e := range d.Children {
		if e.XMLName.Local == "text" {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// says counts the lines that begin with a text.
func (d drawing) says(text string) int {
	n := 0
	lines := d.texts()
	for i := range lines { // in a narrow lane a text is folded
		if strings.HasPrefix(strings.Join(lines[i:min(i+2, len(lines))], " "), text) {
			n++
		}
	}
	return n
}

// numbers are an element's attributes of those names.
func (e element) numbers(names ...string) []int {
	numbers := make([]int, len(names))
	for i, name := range names {
		_, _ = fmt.Sscan(e.attr(name), &numbers[i])
	}
	return numbers
}

func picture(t *testing.T, scenario func(*world.World)) drawing {
	t.Helper()
	tr, err := world.Run(t, world.Config{New: stages.MustFind("2").Subject.New}, scenario)
	require.NoError(t, err)
	return read(t, svg.Draw(tr, oracle.Judge(tr), svg.Caption{}))
}

func TestTwoInsideAreRedBlocksThatOverlap(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		w.Sleep(31 * time.Second)
		b.Lock()
		a.Unlock()
	})
	both := d.of("ov")[:2]
	require.Equal(t, both[0].numbers("y", "height"), both[1].numbers("y", "height"))
	require.Less(t, both[0].numbers("x")[0], both[1].numbers("x")[0])
	require.Len(t, d.of("k0"), 1+1, "A alone, and the legend")
	require.Len(t, d.of("k1"), 1, "B alone, once A has left")
	require.Equal(t, 1, d.says("B is inside, too"))
}

// TestEveryRunOfTheCatalogueIsDrawn asserts the texts of the other faults.
func TestLostLateAndHeldBackMessagesAreDrawn(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.After(world.Installs).Drop()
		a.TryLock()
		w.FlushAll()
		b.Cut()
		b.Heal()
		b.After(world.Installs).Delay(time.Second)
		b.TryLock()
		w.Sleep(2 * time.Second)
		b.Before(world.Of(trace.OpUnlock, world.Write)).Freeze()
		b.Unlock()
		w.Sleep(5 * time.Second)
		b.Thaw()
		a.Crash()
	})
	require.Len(t, d.of("x"), 1, "a reply that is lost is a broken arrow")
	require.Len(t, d.of("late"), 1, "a reply that is late is a long one")
	require.Len(t, d.of("z"), 1+1, "one stands still, and the legend")
	require.Len(t, d.of("ct"), 1, "no network")
	for _, text := range []string{
		"↯ the reply is lost", "has its network back", "… the reply is on its way for 1s", "DEL K → 1",
	} {
		require.Equal(t, 1, d.says(text), text)
	}
}

// A request that leaves late must not be drawn like one that takes long to arrive.
func TestPausedProcessSendsNothing(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Before(world.Of(trace.OpUnlock, world.Write)).Freeze()
		a.Unlock()
		w.Sleep(5 * time.Second)
		a.Thaw()
	})
	require.Empty(t, d.of("late"))
	require.Len(t, d.of("q"), 2, "SET and DEL")
}

func TestRequestThatNeverArrivesIsABrokenArrow(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		a.Cut()
		a.Unlock()
		w.Sleep(5 * time.Second)
	})
	require.Len(t, d.of("x"), 1)
	require.Len(t, d.of("ct"), 1, "no network")
	require.Len(t, d.of("q"), 1, "SET")
}

func TestDamageIsMarkedAtTheLedger(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Insert("tea")
		b.Insert("tea")
	})
	require.Equal(t, 1, d.says("✗ tea by B"))
	require.Equal(t, 1, d.says("✗ damage"))
	require.Zero(t, d.says("✗ tea by A"), "the first order is no damage")
}

var opacity = regexp.MustCompile(`stop-opacity="([0-9.]+)" class="s0"`)

func TestKeyFadesAsItsLeaseRunsOut(t *testing.T) {
	tr, err := world.Run(t, world.Config{New: stages.MustFind("2").Subject.New}, func(w *world.World) {
		w.Client("A").Lock()
		w.Sleep(31 * time.Second)
	})
	require.NoError(t, err)
	picture := svg.Draw(tr, nil, svg.Caption{})
	_, gradient, _ := strings.Cut(picture, `gradientUnits="userSpaceOnUse"`)
	stops := opacity.FindAllStringSubmatch(gradient, -1)
	require.Equal(t, "1.00", stops[0][1])
	require.Equal(t, "0.08", stops[len(stops)-1][1])
	require.IsNonIncreasing(t, column(stops))
}

func column(stops [][]string) []string {
	var values []string
	for _, s := range stops {
		values = append(values, s[1])
	}
	return values
}

func TestTimeAxisIsBrokenAtJumpsOnly(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a := w.Client("A")
		a.Lock()
		w.Sleep(200 * time.Millisecond)
		a.Unlock()
		w.Sleep(time.Hour)
		a.Lock()
	})
	require.Len(t, d.of("t"), 1)
	require.Equal(t, 1, d.says("1h"))
}

func TestRepetitionIsOneGroup(t *testing.T) {
	d := picture(t, func(w *world.World) {
		a, b := w.Client("A"), w.Client("B")
		a.Lock()
		b.Lock(world.Within(5050 * time.Millisecond))
	})
	require.Equal(t, 1, d.says("SET K locked NX PX 30000 → (nil), 51 times in 5s"))
	require.Len(t, d.of("q"), 2)
}

func TestPictureHasATextDescription(t *testing.T) {
	tr, err := world.Run(t, world.Config{New: stages.MustFind("2").Subject.New}, func(w *world.World) { w.Client("A").Lock() })
	require.NoError(t, err)
	d := read(t, svg.Draw(tr, nil, svg.Caption{Verdict: "A & B", Subject: "one <client>", ID: "x"}))
	require.Equal(t, "img", d.attr("role"))
	require.Equal(t, "t-x d-x", d.attr("aria-labelledby"))
	require.Equal(t, "title", d.Children[0].XMLName.Local)
	require.Equal(t, "A & B", d.Children[0].Text)
	require.Equal(t, "one <client>.\n0s A calls Lock().\n0s A sends SET K locked NX PX 30000, and Redis answers OK. [Redis: locked (A1), 30s left]\n0s A has the lock and is inside.\n", d.Children[1].Text)
}

func TestFindingAtACommandThatLeavesIsDrawn(t *testing.T) {
	tr, err := world.Run(t, world.Config{New: stages.MustFind("2").Subject.New}, func(w *world.World) { w.Client("A").Lock() })
	require.NoError(t, err)
	require.Equal(t, trace.Sent, tr.Events[1].Kind)
	found := []oracle.Finding{{Rule: oracle.LostWakeUp, Step: tr.Events[1].Step, Text: "nobody woke it"}}
	require.Contains(t, timeline.Text(tr, found, timeline.Options{}), "✗ lost wake-up: nobody woke it")
	require.Equal(t, 1, read(t, svg.Draw(tr, found, svg.Caption{})).says("✗ lost wake-up"))
}
