package locktest

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/trace"
	"lockkata/internal/term"
)

const columns = 100 // of a summary

// shown is the run that the stage's summary draws.
var shown failures.Verdict

// Summarize returns the tests of a stage, for goleak.VerifyTestMain. If all of them run and pass, and -v is
// set, they end with a summary of the stage.
func Summarize(m *testing.M, l Lock) interface{ Run() int } { return summarized{m, l} }

type summarized struct {
	*testing.M
	Lock
}

func (s summarized) Run() int {
	debug.SetGCPercent(400) // for many short runs
	status := s.M.Run()
	isAll := flag.Lookup("test.run").Value.String()+flag.Lookup("test.skip").Value.String() == ""
	if dir, err := os.Getwd(); err == nil && status == 0 && shown.Trace != nil && isAll && testing.Verbose() {
		fmt.Println(strings.Join(s.summary(shown, filepath.Base(dir)), "\n"))
	}
	return status
}

// show plays a failure for the summary: one that the stage fixes, or one that shows what the first stage is.
func (l Lock) show(t *testing.T) (run failures.Verdict) {
	n := l.stage()
	if n < 0 {
		return run
	}
	id := "second-client"
	if n > 0 {
		id = points[n-1].asks
	}
	f, _ := catalogue.Find(id)
	subject, err := failures.DiscoverScripts(t, l.Subject)
	require.NoError(t, err)
	run = failures.Run(t, f, subject)
	require.True(t, run.Is(failures.Expected(points[n].stage)(f)), "%s: %s", id, run.Sentence())
	return run
}

// stage returns the index of the stage in points, -1 for a step.
func (l Lock) stage() int {
	return slices.IndexFunc(points, func(p point) bool { return l.Name == "stage"+p.stage })
}

// summary returns the lines of a stage's summary.
func (l Lock) summary(run failures.Verdict, dir string) (lines []string) {
	p, before := points[l.stage()], point{}
	add := func(most int, head, text string) {
		all := term.Beside(head+"  ", text, columns-len(" …"))
		if len(all) > most {
			all = append(all[:most-1], all[most-1]+" …")
		}
		lines = append(lines, all...)
	}
	// which returns the failures that do this to the stage before, and that to the stage; "" is anything.
	which := func(was, now string) (ids []string) {
		for _, f := range l.Failures() {
			isIn := func(stage, some string) bool { return strings.ContainsRune(some, rune(failures.Expected(stage)(f))) }
			if (was == "" || isIn(before.stage, was)) && isIn(p.stage, now) {
				ids = append(ids, f.ID)
			}
		}
		return ids
	}
	list := func(most int, head string, ids []string) {
		if len(ids) > 0 {
			add(most, fmt.Sprintf("%s (%d)", head, len(ids)), strings.Join(ids, ", "))
		}
	}

	head := "── Stage " + p.stage + " in one screen "
	lines = append(lines, head+strings.Repeat("─", columns-term.Columns(head)))
	if p.is != "" {
		add(2, "IT IS", p.is)
	} else {
		before = points[l.stage()-1]
		add(3, "STAGE "+before.stage, run.Failure.Story)
		add(2, "FIXED  ", fmt.Sprintf("%s (%s)", run.Failure.Fixed, run.Failure.ID))
	}
	lines = append(lines, drawn(run, p.notes, before.stage)...)
	list(2, "ALSO FIXED", slices.DeleteFunc(which("x", "on"), func(id string) bool { return id == run.Failure.ID }))
	list(3, "NEW WITH STAGE "+p.stage+", and safe", which("-", "on"))
	worse := which("on", "x")
	for i, id := range worse {
		f, _ := catalogue.Find(id)
		worse[i] += " (" + f.Title + ")"
	}
	list(3, "WORSE THAN STAGE "+before.stage, worse)

	by, breaks := "BROKEN", which("", "x")
	if len(breaks) == 0 {
		by, breaks = "NOT BY THIS LOCK", which("", "i")
	}
	add(1, fmt.Sprintf("%s (%d)", by, len(breaks)), "one of them, as a question:")
	lines = append(lines, term.Beside("  ", p.question, columns)...)
	add(1, "  Answer first, then:  ", fmt.Sprintf("go run . learn %d", p.chapter))
	var counts []string
	for _, o := range []failures.Outcome{failures.Safe, failures.Noticed, failures.Broken, failures.Limit, failures.NotApplicable} {
		if n := len(which("", string(o))); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, o.Word()))
		}
	}
	add(1, "ALL AS EXPECTED", strings.Join(counts, " · "))
	headline := slices.IndexFunc(breaks, func(id string) bool {
		f, _ := catalogue.Find(id)
		return f.FirstScreen && id != p.asks // which would give the answer away
	})
	add(1, "ANY OF THEM, DRAWN", fmt.Sprintf("go test -v -run 'TestFailures/%s$' ./%s", breaks[headline], dir))
	return lines
}

// drawn returns the rows of a run, and next to them what the stage before does instead.
func drawn(run failures.Verdict, notes []note, before string) (lines []string) {
	rows, width := told(run), columns-2
	for _, n := range notes {
		width = min(width, columns-2-2-term.Columns(n.text(before)))
	}
	for i, beat := range timeline.Beats(rows, timeline.Options{Width: width}) {
		if len(notes) > 0 && notes[0].isOn(rows[i]) {
			beat[0] = term.Pad(beat[0], width+2) + notes[0].text(before)
			notes = notes[1:]
		}
		for _, line := range beat {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// told returns the rows of a run in short: what a client sends, what happens to it, its errors, and findings.
func told(run failures.Verdict) []timeline.Row {
	return slices.DeleteFunc(timeline.NewStory(run.Trace, run.Findings, "en").Rows(), func(r timeline.Row) bool {
		isQuiet := r.First < 0 || r.Event.Kind == trace.Called || r.Event.Kind == trace.Stored && r.Ledger == "" ||
			r.Event.Kind == trace.Returned && r.Event.Result.Error == ""
		return isQuiet && len(r.Found) == 0
	})
}

// isOn reports whether the note belongs to a row: by its client, and what it does or what becomes of the key.
func (n note) isOn(r timeline.Row) bool {
	return strings.HasPrefix(strings.TrimSpace(r.Event.Client+" "+cmp.Or(r.Text, r.Redis)), n.on)
}
