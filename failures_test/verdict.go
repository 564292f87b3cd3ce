package failures

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/trace"
	"lockkata/failures_test/world"
	"lockkata/internal/i18n"
)

// Verdict is the result of one failure on one lock. Another process gets it as JSON from [Verdict.In].
type Verdict struct {
	Failure  catalogue.Failure `json:"failure"`
	Subject  string            `json:"-"`
	Outcome  Outcome           `json:"outcome"`
	Reason   string            `json:"sentence,omitempty"` // set by In; else see Sentence
	Line     string            `json:"line,omitempty"`     // of the lock, where it broke a rule; set by In
	Findings []oracle.Finding  `json:"findings,omitempty"`
	GivenBy  string            `json:"given_by,omitempty"` // the failure that is about the findings that are Given
	Trace    *trace.Trace      `json:"trace,omitempty"`
	Err      error             `json:"-"` // why the run did not end
	Missing  i18n.Message      `json:"-"` // the reason why the failure does not apply, is not tested, or not played (here)
}

// In returns the verdict with its texts in one language, as another process needs them.
func (v Verdict) In(l i18n.Language) Verdict {
	v.Reason = v.SentenceIn(l)
	if against, is := v.Against(); is && v.Trace != nil {
		v.Line = SourceOf(v.Trace, against).String()
	}
	v.Findings = oracle.In(l, v.Findings)
	return v
}

// Passes reports whether the failure does not count against the lock: it is good or not tested.
func (v Verdict) Passes() bool { return v.Outcome.IsGood() || v.Outcome == NotTested }

// Run runs one failure on one lock and judges it.
func Run(t *testing.T, f catalogue.Failure, s Subject) Verdict {
	return Judge(f, s, func(c world.Config, scenario func(*world.World)) (*trace.Trace, error) {
		return world.Run(t, c, scenario)
	})
}

// Play runs a scenario in a world of some kind.
type Play func(world.Config, func(*world.World)) (*trace.Trace, error)

// Judge is [Run] in the world that play makes.
func Judge(f catalogue.Failure, s Subject, play Play) Verdict {
	v := Verdict{Failure: f, Subject: s.Name, GivenBy: f.GivenBy}
	if f.Variant == catalogue.FixedLease && f.GivenBy == "work-outlives-ttl" && slices.Contains(s.Has, Watchdog) {
		v.GivenBy = "work-outlives-fixed-lease"
	}
	if v.Missing = s.lacks(f); v.Missing.Text != "" {
		v.Outcome = NotApplicable
		return v
	}
	v.Trace, v.Err = play(s.ConfigFor(f), f.Script)
	v.Findings = v.findings(s)
	if slices.ContainsFunc(v.Findings, oracle.Finding.IsOfEqualValues) {
		v.replayWithTime(s, play)
	}
	v.decide()
	v.markGiven()
	return v
}

// findings returns what the rules report of the run on the lock.
func (v *Verdict) findings(s Subject) []oracle.Finding {
	if v.Trace == nil {
		return nil
	}
	f := v.Failure
	about := slices.DeleteFunc(slices.Clone(f.Breaks), func(r oracle.Rule) bool { return r == oracle.Watchdog })
	if slices.Contains(s.Has, Watchdog) && f.Variant == catalogue.Default && !f.Loss {
		about = append(about, oracle.Watchdog)
	}
	if slices.Contains(f.Needs, PubSub) { // a waiter that is woken need not ask
		about = append(about, oracle.CommandCount)
	}
	found := oracle.Judge(v.Trace, about...)
	if !slices.Contains(s.Has, Reentry) { // a number in Redis is no count of holds
		found = slices.DeleteFunc(found, func(x oracle.Finding) bool { return x.Rule == oracle.HoldCount })
	}
	return found
}

// markGiven marks the findings by rules that the story itself breaks, up to the one for which the lock
// is reported. Later ones are its consequences.
func (v *Verdict) markGiven() {
	against, isBroken := v.Against()
	for i, found := range v.Findings {
		if isBroken && found.Step >= against.Step {
			return
		}
		v.Findings[i].Given = slices.Contains(v.Failure.Given, found.Rule)
	}
}

// replayWithTime plays the failure again with a microsecond for each command. If no values are equal then, this
// run counts: elsewhere too, time passes between two calls. A story about values says itself where it does.
func (v *Verdict) replayWithTime(s Subject, play Play) {
	if slices.Contains(v.Failure.Breaks, oracle.RepeatedValue) {
		return
	}
	again, config := *v, s.ConfigFor(v.Failure)
	config.Client.Pace = time.Microsecond
	again.Trace, again.Err = play(config, v.Failure.Script)
	again.Findings = again.findings(s)
	if again.Err == nil && v.Failure.Unmet(again.Trace).Text == "" && !slices.ContainsFunc(again.Findings, oracle.Finding.IsOfEqualValues) {
		*v = again
	}
}

// DiscoverScripts returns the lock with the Lua scripts that it uses in normal use, so that
// Redis knows them from the beginning. It returns an error if the lock fails in normal use.
func DiscoverScripts(t *testing.T, s Subject) (Subject, error) {
	var err error
	if _, s.Scripts, err = world.Discover(t, s.Config()); err != nil {
		err = fmt.Errorf("%s fails in normal use: %w", s.Name, err)
	}
	return s, err
}

// decide turns findings into the outcome. A violation of a rule that the story does not
// break by itself always counts, also if the run did not end.
func (v *Verdict) decide() {
	f := v.Failure
	against, isBroken := v.Against()
	ended := v.Err == nil || errors.Is(v.Err, world.ErrLeft)
	if v.Trace != nil {
		v.Missing = f.Unmet(v.Trace)
	}
	unknown := unknownCommand(v.Trace)
	switch about := slices.Contains(f.Breaks, against.Rule); {
	case unknown.Text != "":
		v.Outcome, v.Missing, v.Findings = NotPlayed, unknown, nil
	case isBroken && !(about && f.PreventedBy != ""):
		v.Outcome = Broken
	case !ended:
		v.Outcome, v.Missing = NotPlayed, i18n.Text(strings.TrimPrefix(v.Err.Error(), "world: ")).Args()
	case v.Missing.Text != "":
		v.Outcome = NotTested
	case isBroken:
		v.Outcome = Limit
	case f.Loss && oracle.Noticed(v.Trace):
		v.Outcome = Noticed
	default:
		v.Outcome = Safe
	}
}

// Is reports whether the verdict is the expected one. A lock of which it is expected that the failure
// breaks it has to break a rule that the failure is about, in a run that meets the failure's
// preconditions: otherwise something else breaks it. A lock of a document may break for any reason, since
// several of its mistakes show in most failures.
func (v Verdict) Is(want Outcome) bool {
	against, _ := v.Against()
	itself := slices.Contains(v.Failure.Breaks, against.Rule) && v.Missing.Text == ""
	return v.Outcome == want && (itself || want != Broken && want != Limit || strings.HasPrefix(v.Subject, "doc"))
}

var unknownCommandText = i18n.New("Redis does not know the command {command}, which {client} sends. Check how it is spelled; the embedded Redis lacks a few commands.")

// unknownCommand returns that Redis does not know a command of a call that failed, or no text.
func unknownCommand(tr *trace.Trace) i18n.Message {
	if tr == nil {
		return i18n.Message{}
	}
	unknown := map[int]i18n.Message{} // call → its unknown command
	for _, e := range tr.Events {
		switch {
		case e.Kind == trace.Executed && strings.HasPrefix(e.Reply, "(error) ERR unknown command"):
			unknown[e.Call] = unknownCommandText.Args("command", e.Command[0], "client", e.Client)
		case e.Kind == trace.Returned && e.Result.Error != "" && unknown[e.Call].Text != "":
			return unknown[e.Call]
		}
	}
	return i18n.Message{}
}

// Against returns the finding for which the lock is reported. It is the first of these:
//
//   - a lease that is not the one asked for, or that was not renewed before two were inside, since the rest follows from it;
//   - a finding by a rule that the failure is about;
//   - a finding by a rule that the failure's story does not break by itself.
//
// Findings after a call that outlived its context are its consequences, and do not count.
func (v Verdict) Against() (found oracle.Finding, ok bool) {
	other := func(x oracle.Finding) bool { return !slices.Contains(v.Failure.Given, x.Rule) }
	isTwo := func(x oracle.Finding) bool { return x.Rule == oracle.Exclusion }
	leadsToTwo := func(x oracle.Finding) bool {
		isLater := func(y oracle.Finding) bool { return isTwo(y) && y.Step > x.Step }
		isEarlier := func(y oracle.Finding) bool { return isTwo(y) && y.Step < x.Step && other(y) }
		return slices.ContainsFunc(v.Findings, isLater) && !slices.ContainsFunc(v.Findings, isEarlier)
	}
	root := func(x oracle.Finding) bool {
		return (x.Rule == oracle.Lease || x.Rule == oracle.Watchdog && leadsToTwo(x)) && other(x)
	}
	about := func(x oracle.Finding) bool { return slices.Contains(v.Failure.Breaks, x.Rule) }
	findings := v.Findings
	if late := slices.IndexFunc(findings, func(x oracle.Finding) bool { return x.Rule == oracle.Context && other(x) }); late >= 0 {
		findings = findings[:late+1]
	}
	for _, counts := range []func(oracle.Finding) bool{root, about, other} {
		if i := slices.IndexFunc(findings, counts); i >= 0 {
			return findings[i], true
		}
	}
	return found, false
}
