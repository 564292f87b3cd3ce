package kata

import (
	"fmt"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/timeline"
	"lockkata/failures_test/world"
	"lockkata/internal/kata/judge"
	"lockkata/internal/term"
)

// View is how a screen is drawn.
type View struct {
	Color term.Color
	Width int
	Keys  bool   // it is read by somebody who presses keys, not types commands
	Dir   string // " --dir …" where the commands need it
}

// prose is the widest that sentences are set.
const prose = 100

func (v View) wrap(text string) string {
	return strings.Join(term.Wrap(text, min(v.Width, prose)), "\n") + "\n"
}

// command is how to type a subcommand of kata.
func (v View) command(words string) string { return "go run . kata " + words + v.Dir }

func (v View) picture(trace *world.Trace, findings []oracle.Finding) string {
	return timeline.Text(trace, findings, timeline.Options{Color: v.Color, Width: v.Width})
}

// Screen shows one thing: the compiler's first error, why the lock cannot be
// judged, the first failure that shows, or what a pass means.
func (r Result) Screen(v View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Exercise.headline(v))
	red := r.Report.Red()
	switch {
	case r.Report.Compile != nil:
		showCompileError(&b, v, r.Report.Compile)
	case len(red) > 0:
		r.showFailure(&b, v, red)
	case !r.Passed && r.Report.Cause != nil:
		showCause(&b, v, r.Report.Cause)
	case r.Passed:
		r.showPass(&b, v)
		return b.String()
	}
	showPrinted(&b, r.Report.Printed)
	if !v.Keys {
		fmt.Fprintf(&b, "\nNext: change the lock, then %s. A hint: %s\n", v.command("check"), v.command("hint"))
	}
	return b.String()
}

// headline is the line above every screen.
func (e Exercise) headline(v View) string {
	return v.Color.Paint(term.Bold, fmt.Sprintf("exercise %d of %d: %s", e.Number, len(All), e.Title))
}

func showCompileError(b *strings.Builder, v View, err *CompileError) {
	fmt.Fprintf(b, "%s\n\n%s\n", v.Color.Paint(term.Red, "✗ it does not compile"), err)
}

func showPrinted(b *strings.Builder, printed string) {
	if printed != "" {
		fmt.Fprintf(b, "\nYour lock has printed:\n%s\n", firstLines(printed, 10))
	}
}

func (r Result) showFailure(b *strings.Builder, v View, red []judge.Verdict) {
	first := red[0]
	f, _ := failures.Find(first.Failure)
	fmt.Fprintf(b, "%s\n\n%s\n", v.Color.Paint(term.Red, fmt.Sprintf("✗ %s: %s", f.ID, f.Title)), v.wrap(f.Story))
	if first.Trace != nil {
		b.WriteString(v.picture(first.Trace, first.Findings) + "\n")
	}
	fmt.Fprintf(b, "%s\n", v.Color.Paint(term.Red, strings.TrimSuffix(v.wrap(strings.ToUpper(first.Outcome)+": "+sentence(first)+"."), "\n")))
	if more := len(red) - 1; more > 0 {
		fmt.Fprintf(b, "%s\n", v.Color.Paint(term.Dim, fmt.Sprintf("%s after this one.", counted(more, "more failure shows", "more failures show"))))
	}
}

// sentence is what broke. Where a scenario could not be played to its end, the
// reason is that the lock never did what the story waits for.
func sentence(v judge.Verdict) string {
	if text, ok := strings.CutPrefix(v.Sentence, "world: "); ok {
		if who, ok := strings.CutSuffix(text, " cannot thaw: it is not frozen"); ok {
			return fmt.Sprintf("%s never sends the command at which the story lets it stand still", who)
		}
		return "the story cannot be played to its end: " + text
	}
	return v.Sentence
}

func showCause(b *strings.Builder, v View, c *judge.Cause) {
	fmt.Fprintf(b, "%s\n\n%s\n", v.Color.Paint(term.Red, "✗ your lock "+c.Kind), v.wrap(c.Text))
	if c.Trace != nil && len(c.Trace.Events) > 0 {
		b.WriteString(v.picture(c.Trace, nil) + "\n")
	}
	if c.During != "" {
		fmt.Fprintf(b, "%s\n", v.Color.Paint(term.Dim, "It happened in: "+c.During+"."))
	}
	b.WriteString(v.wrap(c.Next))
}

func (r Result) showPass(b *strings.Builder, v View) {
	b.WriteString(r.fixed(v) + "\n" + r.goesOn(v))
	if !v.Keys && r.Exercise.Number < len(All) {
		fmt.Fprintf(b, "\nNext: %s\n", v.command(fmt.Sprintf("start %d", r.Exercise.Number+1)))
	}
}

// fixed is what a pass means.
func (r Result) fixed(v View) string {
	head := fmt.Sprintf("✓ passed: it survives all %d failures that are asked for", len(r.Exercise.Required()))
	return v.Color.Paint(term.Green, head) + "\n\n" + v.wrap("What you have fixed: "+r.Exercise.Fixed) + r.Exercise.unseen(v)
}

// goesOn is what comes after a pass.
func (r Result) goesOn(v View) string {
	text := r.stillBreaks(v) + "\n" + v.wrap("The interviewer's next question: "+r.Exercise.Question) +
		v.Color.Paint(term.Dim, "For the answer read "+r.Exercise.Read) + "\n"
	if c := r.Report.Cause; c != nil {
		text += "\n" + v.wrap(fmt.Sprintf("Beyond what is asked for, in %s: %s", c.During, c.Text))
	}
	return text
}

// stillBreaks names what is not asked for yet and shows all the same.
func (r Result) stillBreaks(v View) string {
	var broken []string
	inherent := 0
	for _, verdict := range r.Report.Verdicts {
		switch verdict.Outcome {
		case failures.Broken.String(), failures.Astray.String():
			broken = append(broken, verdict.Failure)
		case failures.Inherent.String():
			inherent++
		}
	}
	text := fmt.Sprintf("What still breaks in your lock: nothing of the catalogue but %d failures that no lock with a lease can prevent.", inherent)
	if len(broken) > 0 {
		named := broken[:min(3, len(broken))]
		text = "What still breaks in your lock: " + strings.Join(named, ", ")
		if more := len(broken) - len(named); more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		text += fmt.Sprintf("; and %d that no lock with a lease can prevent.", inherent)
	}
	return v.wrap(text)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func firstLines(text string, n int) string {
	lines := strings.SplitAfterN(text, "\n", n+1)
	return strings.TrimSuffix(strings.Join(lines[:min(n, len(lines))], ""), "\n")
}
