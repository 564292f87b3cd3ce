package kata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"lockkata/internal/kata/judge"
)

// Report is what came of a lock.
type Report struct {
	Compile  *CompileError   `json:"compile_error,omitempty"`
	Cause    *judge.Cause    `json:"cause,omitempty"` // why it could not be judged to the end
	Verdicts []judge.Verdict `json:"verdicts,omitempty"`
	Found    []judge.Found   `json:"found,omitempty"`   // by a search
	Printed  string          `json:"printed,omitempty"` // what the lock wrote to its standard output
}

// Passed tells whether every failure that was required came to a good end.
func (r Report) Passed(required []string) bool {
	return r.Compile == nil && (r.Cause == nil || r.Cause.Optional) && len(r.Red()) == 0 && r.judged() == len(required)
}

// judged is how many of the required failures have a verdict.
func (r Report) judged() int {
	n := 0
	for _, v := range r.Verdicts {
		if v.Required {
			n++
		}
	}
	return n
}

// Red are the required failures that the lock does not survive, in order.
func (r Report) Red() []judge.Verdict {
	var red []judge.Verdict
	for _, v := range r.Verdicts {
		if v.Required && !v.Good {
			red = append(red, v)
		}
	}
	return red
}

// Verdict is that on the failure, nil if it was not played.
func (r Report) Verdict(failure string) *judge.Verdict {
	for i := range r.Verdicts {
		if r.Verdicts[i].Failure == failure {
			return &r.Verdicts[i]
		}
	}
	return nil
}

// Judge runs a lock in a process of its own and reports, whatever the lock does.
// The error is one of the machine's, not of the lock.
func (p *Program) Judge(ctx context.Context, task judge.Task) (Report, error) {
	scratch, err := os.MkdirTemp(p.dir, "run-")
	if err != nil {
		return Report{}, err
	}
	defer os.RemoveAll(scratch)
	raw, err := json.Marshal(task)
	if err != nil {
		return Report{}, err
	}
	taskFile, outFile := filepath.Join(scratch, "task.json"), filepath.Join(scratch, "out.json")
	if err := os.WriteFile(taskFile, raw, 0o600); err != nil {
		return Report{}, err
	}
	limited, cancel := context.WithTimeout(ctx, task.Longest())
	defer cancel()
	cmd := exec.CommandContext(limited, p.file, taskFile, outFile)
	cmd.WaitDelay = time.Second
	cmd.Dir = scratch
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	if task.Search != nil { // several run at once, each on one core
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GOGC=200")
	}
	var stdout, stderr beginning
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	if ctx.Err() != nil {
		return Report{}, ctx.Err()
	}
	report, done, err := readReport(outFile)
	if err != nil {
		return report, err
	}
	report.Printed = stdout.String()
	if report.Cause == nil && !done {
		report.Cause = endedBadly(ended, stderr.String(), task.Longest(), limited.Err() != nil)
	}
	return report, nil
}

// readReport reads what a run has written. The last line may be half a line.
func readReport(file string) (report Report, done bool, err error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return report, false, nil // it ended before it began
	}
	if err != nil {
		return report, false, err
	}
	for line := range bytes.Lines(raw) {
		var l judge.Line
		if json.Unmarshal(line, &l) != nil {
			break
		}
		switch {
		case l.Verdict != nil:
			report.Verdicts = append(report.Verdicts, *l.Verdict)
		case l.Cause != nil:
			report.Cause = l.Cause
		case l.Found != nil:
			report.Found = append(report.Found, *l.Found)
		}
		done = done || l.Done
	}
	return report, done, nil
}

// endedBadly says why a run ended that could not say so itself.
func endedBadly(err error, stderr string, longest time.Duration, late bool) *judge.Cause {
	what, where := crash(stderr)
	var exit *exec.ExitError
	switch {
	case strings.Contains(what, "out of memory"), strings.Contains(what, "cannot allocate memory"):
		hoards := judge.Hoards(where)
		return &hoards
	case late:
		return &judge.Cause{Kind: judge.TooSlow, Text: fmt.Sprintf("Your lock did not end within %v and had to be killed.", longest), Next: "Look for a loop without a wait."}
	case what != "":
		return &judge.Cause{
			Kind: judge.Panics, Text: fmt.Sprintf("Your lock ends the whole process%s: %s.", where, what),
			Next: "A panic on a goroutine of its own ends the program that uses the lock. Mend its reason.",
		}
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return &judge.Cause{Kind: judge.Exits, Text: "The process of your lock was killed: " + exit.Error() + ".", Next: "Look for a signal that the lock sends, or for too much memory."}
	}
	code := 0
	if exit != nil {
		code = exit.ExitCode()
	}
	return &judge.Cause{
		Kind: judge.Exits, Text: fmt.Sprintf("Your lock ends the whole process with status %d, as os.Exit and log.Fatal do.", code),
		Next: "Return an error: whether the program ends is for its owner to say.",
	}
}

var (
	crashLine   = regexp.MustCompile(`(?m)^(?:panic|fatal error|runtime): (.*?)(?: \[recovered.*)?$`)
	crashSource = regexp.MustCompile(`(?m)^\t(\S*` + regexp.QuoteMeta(locksDir) + `/\S+\.go):(\d+)`)
)

// crash finds in what the Go runtime printed the reason, and the line of the lock.
func crash(stderr string) (what, where string) {
	reason := crashLine.FindStringSubmatchIndex(stderr)
	if reason == nil {
		return "", ""
	}
	what = strings.TrimSuffix(stderr[reason[2]:reason[3]], ".")
	if at := crashSource.FindStringSubmatch(stderr[reason[1]:]); at != nil {
		where = fmt.Sprintf(" at %s:%s", path.Base(at[1]), at[2])
	}
	return what, where
}

// beginning keeps the beginning of what is written to it: a lock may print for ever.
type beginning struct{ kept bytes.Buffer }

const keptBytes = 64 << 10

// Write never fails, so that the lock does not notice.
func (k *beginning) Write(b []byte) (int, error) {
	if room := keptBytes - k.kept.Len(); room > 0 {
		k.kept.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (k *beginning) String() string { return k.kept.String() }
