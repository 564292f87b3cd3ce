package timeline_test

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/timeline/svg"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

func TestMain(m *testing.M) {
	world.TuneForBatch()
	m.Run()
}

// TestRowsOfEveryRunAreItsEvents plays every failure on every lock: the stages, the steps, the locks of the
// documents, and those on several servers.
func TestRowsOfEveryRunAreItsEvents(t *testing.T) {
	for _, lock := range slices.Concat(stages.Table, stages.OfServers()[1:]) {
		subject, err := failures.DiscoverScripts(t, lock.Subject)
		require.NoError(t, err)
		for _, f := range catalogue.Everything {
			v := failures.Run(t, f, subject)
			if v.Trace == nil {
				continue
			}
			t.Run(lock.ID+"/"+f.ID, func(t *testing.T) {
				story := timeline.NewStory(v.Trace, v.Findings, i18n.English)
				rows := story.Rows()
				requireRowsAreEvents(t, story)
				requireTextShowsRows(t, v, rows)
				requirePictureShowsLabels(t, v, story)
				requirePageShowsRows(t, v, rows)
			})
		}
	}
}

// saysEvent are the kinds of events that at most one row may state.
var saysEvent = []trace.Kind{trace.Sent, trace.Arrived, trace.Executed, trace.Refused, trace.Stored, trace.Delivered}

// requireRowsAreEvents requires that each row states events that have happened, that no event has two such
// rows, and that a row of several prints how many.
func requireRowsAreEvents(t *testing.T, s *timeline.Story) {
	t.Helper()
	stated := map[string]int{}
	for _, l := range s.Labels {
		text := s.Text(l)
		kind := l.Event.Kind
		publishes := strings.HasPrefix(text, "PUBLISH → ")
		if !publishes && !slices.Contains(saysEvent, kind) {
			continue
		}
		require.NotEmpty(t, l.Events, "%q has no event", text)
		for _, i := range l.Events {
			e := s.Events[i]
			if publishes {
				kind = trace.Executed
				require.Equal(t, e.Step, e.Published, "%q: event %d publishes nothing", text, e.Step)
				require.Equal(t, l.Event.Listeners, e.Listeners, text)
			}
			require.Equal(t, kind, e.Kind, "%q: event %d", text, e.Step)
			if !publishes {
				require.Equal(t, said(l.Event), said(e), "%q: event %d", text, e.Step)
			}
			key := fmt.Sprintf("event %d, %s, published: %t", e.Step, e.Kind, publishes)
			require.Zero(t, stated[key], "%s has two rows: %q", key, text)
			stated[key]++
		}
		requireCount(t, l, text)
	}
	for _, e := range s.Events {
		if slices.Contains([]trace.Kind{trace.Executed, trace.Refused, trace.Stored}, e.Kind) {
			require.Equal(t, 1, stated[fmt.Sprintf("event %d, %s, published: false", e.Step, e.Kind)], "event %d has no row: %s", e.Step, e.Line())
		}
	}
}

// said returns what equal attempts have in common. The reply to SUBSCRIBE counts the channels.
func said(e trace.Event) string {
	if len(e.Command) > 0 && strings.HasSuffix(e.Command[0], "SUBSCRIBE") {
		e.Command, e.Reply = e.Command[:1], ""
	}
	return fmt.Sprint(e.Kind, e.Client, e.Call, e.Op, e.Command[:min(2, len(e.Command))], e.Reply)
}

var timesIn = regexp.MustCompile(`, (\d+) times`)

// requireCount requires that a row prints how many events it states, on each of its servers.
func requireCount(t *testing.T, l *timeline.Label, text string) {
	t.Helper()
	require.Zero(t, len(l.Events)%max(len(l.Servers), 1), "%q: each server has as many", text)
	printed := "1"
	if found := timesIn.FindStringSubmatch(text); found != nil {
		printed = found[1]
	}
	require.Equal(t, fmt.Sprint(len(l.Events)/max(len(l.Servers), 1)), printed, text)
}

// cells separates the columns of a text.
var cells = regexp.MustCompile(`[ \x{a0}]{2,}|[│║░] `)

// requireTextShowsRows requires that the text for a terminal has each row once.
func requireTextShowsRows(t *testing.T, v failures.Verdict, rows []timeline.Row) {
	t.Helper()
	want, got := map[string]int{}, map[string]int{}
	var across, marked []string // rows of Redis go across the lanes, and may have several lines
	for _, r := range rows {
		switch text := strings.Join(strings.Fields(r.Text), " "); {
		case r.Event.Kind == trace.Slept:
			want["⋮ "+text]++
		case r.Lane >= 0 && text != "":
			want[text]++
		case text != "":
			across = append(across, "▸ "+text)
		}
	}
	for line := range strings.Lines(timeline.Text(v.Trace, v.Findings, timeline.Options{Width: 5000})) {
		for _, cell := range cells.Split(line, -1) {
			cell = strings.TrimSpace(cell)
			if want[cell] > 0 {
				got[cell]++
			}
			if strings.HasPrefix(cell, "▸ ") {
				marked = append(marked, cell)
			}
		}
	}
	require.Equal(t, want, got)
	require.Len(t, marked, len(across))
	for i := range marked {
		require.True(t, strings.HasPrefix(across[i], marked[i]), "%q is not %q", marked[i], across[i])
	}
}

var spaces = regexp.MustCompile(`[\s\x{a0}]+`)

// requirePictureShowsLabels requires that the texts of a picture are those of the labels and findings, in their order.
func requirePictureShowsLabels(t *testing.T, v failures.Verdict, s *timeline.Story) {
	t.Helper()
	var want, got strings.Builder
	for _, l := range s.Labels {
		text, _ := s.Picture(l)
		want.WriteString(text)
		for _, f := range l.Found {
			want.WriteString(s.Shorten(f.Sentence(i18n.English)))
		}
	}
	var picture struct {
		Texts []string `xml:"text"`
	}
	require.NoError(t, xml.Unmarshal([]byte(svg.Draw(v.Trace, v.Findings, svg.Caption{})), &picture))
	for _, text := range picture.Texts {
		got.WriteString(text)
	}
	require.Equal(t, 1, strings.Count(spaces.ReplaceAllString(got.String(), ""), spaces.ReplaceAllString(want.String(), "")))
}

// requirePageShowsRows requires that the steps of a page are the rows.
func requirePageShowsRows(t *testing.T, v failures.Verdict, rows []timeline.Row) {
	t.Helper()
	steps := engine.NewRun(v.Trace, v.Findings, stages.Code{}, i18n.English).Steps
	require.Len(t, steps, len(rows))
	for i, row := range rows {
		require.Equal(t, []string{row.Text, row.Says}, []string{steps[i].Text, steps[i].Says})
	}
}
