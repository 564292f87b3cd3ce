package svg_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/timeline/svg"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// Every failure on every stage is drawn completely, is small, is the same each time, and
// shows two clients inside exactly where two were inside.
func TestEveryRunOfTheCatalogueIsDrawn(t *testing.T) {
	for _, s := range append(stages.Public(), stages.Wait) {
		subject, err := failures.DiscoverScripts(t, s.Subject)
		require.NoError(t, err)
		for i, f := range catalogue.Everything {
			if s.Hidden && !f.OnServers() {
				continue
			}
			v := failures.Run(t, f, subject)
			if v.Trace == nil {
				continue
			}
			t.Run(f.ID+"/"+s.ID, func(t *testing.T) {
				picture := svg.Draw(v.Trace, v.Findings, svg.Caption{})
				if i%10 == 0 {
					require.Equal(t, picture, svg.Draw(v.Trace, v.Findings, svg.Caption{}), "the same bytes twice")
				}
				require.Less(t, len(picture), 40_000)
				require.Equal(t, 1, strings.Count(picture, "http"), "the only link is its name space")
				d := read(t, picture)
				requireDrawn(t, d, v)
				requireReadable(t, d)
				requireForward(t, d)
				require.Equal(t, oracle.Violates(v.Findings, oracle.Exclusion), len(d.of("ov")) > 0)
			})
		}
	}
}

// A message has one row, at the command that published it: not where a client hears it, or never will.
func TestMessageHasOneRow(t *testing.T) {
	stage, err := stages.FindLock("6")
	require.NoError(t, err)
	for id, row := range map[string]string{"unlock-wakes": "PUBLISH → B", "wake-lost": "PUBLISH → nobody listens"} {
		f, _ := catalogue.Find(id)
		v := failures.Run(t, f, stage.Subject)
		var published []string
		for _, r := range timeline.NewStory(v.Trace, v.Findings, i18n.English).Rows() {
			if strings.HasPrefix(r.Text, "PUBLISH") {
				published = append(published, r.Text)
			}
		}
		require.Equal(t, []string{row}, published, id)
	}
}

// drawnAs has the words in which a picture shows the events of a kind.
var drawnAs = map[trace.Kind]string{
	trace.Frozen: "stands still", trace.Thawed: "goes on", trace.Crashed: "† dies", trace.Cut: "loses its network",
	trace.Lost: "is told: the hold is lost", trace.Server: "▸ ", trace.Arrived: "▸ ", trace.Expired: "lease over",
}

// requireDrawn requires a text for each fault, each result of a call and each finding, a hatched lane
// for a paused process, and no late arrow without a delay.
func requireDrawn(t *testing.T, d drawing, v failures.Verdict) {
	t.Helper()
	count := map[string]int{}
	subscribed := false
	for _, e := range v.Trace.Events {
		subscribed = subscribed || len(e.Command) > 0 && strings.HasSuffix(e.Command[0], "SUBSCRIBE")
		if e.Kind == trace.Executed && e.Published > 0 && subscribed {
			count["▸ "]++
		}
		switch words := drawnAs[e.Kind]; {
		case e.Kind == trace.Expired && len(v.Trace.Replicated) > 0:
			count["the lease ends"]++
		case words != "":
			count[words]++
		case e.Kind == trace.Returned && e.Result.Held:
			count[e.Client+" is inside"]++
		case e.Kind == trace.Returned && e.Result.Error != "":
			count["= error: "]++
		}
	}
	for _, f := range v.Findings {
		if f.Given {
			count["(given) "+string(f.Rule)+": "]++
		} else {
			count["✗ "+string(f.Rule)+": "]++
		}
	}
	for text, n := range count {
		require.Equal(t, n, d.says(text), text)
	}
	slow := slices.ContainsFunc(v.Trace.Events, func(e trace.Event) bool {
		return e.Kind == trace.Delayed || e.Kind == trace.Frozen || e.Kind == trace.Executed && e.Command[0] == "WAIT"
	})
	require.True(t, slow || len(d.of("late")) == 0, "nothing is late by itself")
	hatched := len(d.of("z"))
	require.Equal(t, count["stands still"] > 0, hatched > 0, "a paused process is hatched")
	require.NotEqual(t, 1, hatched, "and the legend explains it")
}

// requireReadable guesses, generously, how wide each text is: none may leave the
// picture, run into another one, or run out of its lane.
func requireReadable(t *testing.T, d drawing) {
	t.Helper()
	type box struct {
		left, right float64
		y           int
		text        string
	}
	var boxes []box
	var lanes [][]int // their left and right edges
	for _, e := range d.Children {
		if edges := e.numbers("x", "width", "height"); e.XMLName.Local == "rect" && edges[2] == 30 {
			lanes = append(lanes, []int{edges[0], edges[0] + edges[1] + 8})
		}
		if e.XMLName.Local != "text" {
			continue
		}
		class := " " + e.attr("class") + " "
		letter := 7.0
		switch {
		case strings.Contains(class, " v "):
			letter = 11.2
		case strings.Contains(class, " m ") || strings.Contains(class, " u "):
			letter = 7.22
		case strings.Contains(class, " h ") || strings.Contains(class, " r "):
			letter = 7.7
		case strings.Contains(class, " k "):
			letter = 6.4
		}
		at := e.numbers("x", "y")
		width := letter * float64(utf8.RuneCountInString(strings.TrimSpace(e.Text)))
		left := float64(at[0])
		switch {
		case strings.Contains(class, " u "):
			left -= width
		case strings.Contains(class, " c "):
			left -= width / 2
		}
		boxes = append(boxes, box{left, left + width, at[1], e.Text})
	}
	for i, a := range boxes {
		for _, lane := range lanes {
			if a.left == float64(lane[0]+13) && !strings.ContainsAny(a.text, "✗▸") {
				require.LessOrEqual(t, a.right, float64(lane[1]), a.text)
			}
		}
		require.Positive(t, a.left, a.text)
		require.Less(t, a.right, 900.0, a.text)
		for _, b := range boxes[i+1:] {
			apart := a.y-b.y >= 12 || b.y-a.y >= 12 || a.right <= b.left || b.right <= a.left
			require.True(t, apart, "%q runs into %q", a.text, b.text)
		}
	}
}

// requireForward checks that no message arrives before it leaves: time runs down.
func requireForward(t *testing.T, d drawing) {
	t.Helper()
	for _, arrow := range append(d.of("q"), d.of("a")...) {
		var x, from int
		_, err := fmt.Sscanf(arrow.attr("d"), "M%d %d", &x, &from)
		require.NoError(t, err)
		path := arrow.attr("d")
		var to int
		_, err = fmt.Sscan(path[strings.LastIndexByte(path, ' ')+1:], &to)
		require.NoError(t, err)
		require.LessOrEqual(t, from, to, path)
		require.True(t, to-from <= 30 || strings.Contains(arrow.attr("class"), "late"), path)
	}
}
