package kata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/internal/i18n"
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
	good := r.which(func(v judge.Verdict) bool { return v.Required && v.Good })
	return r.Compile == nil && (r.Cause == nil || r.Cause.Optional) && len(r.Red()) == 0 && len(good) == len(required)
}

// Red are the required failures that the lock does not survive, in order; those whose story
// could not happen come last, since they say less.
func (r Report) Red() []judge.Verdict {
	red := func(isTold bool) []judge.Verdict {
		return r.which(func(v judge.Verdict) bool { return v.Required && !v.Good && v.IsTold() == isTold })
	}
	return append(red(true), red(false)...)
}

// Verdict is that on the failure; it is empty if that was not played.
func (r Report) Verdict(failure string) judge.Verdict {
	for _, v := range r.which(func(v judge.Verdict) bool { return v.Failure == failure }) {
		return v
	}
	return judge.Verdict{}
}

func (r Report) which(is func(judge.Verdict) bool) (some []judge.Verdict) {
	for _, v := range r.Verdicts {
		if is(v) {
			some = append(some, v)
		}
	}
	return some
}

// Judge runs a lock of the program's in a process of its own and reports, whatever the
// lock does. The error is one of the machine's, not of the lock.
func (p *Program) Judge(ctx context.Context, files Files, task judge.Task) (Report, error) {
	return p.judge(ctx, files, task, nil)
}

// judge is [Program.Judge]; played is told how many failures have been played.
func (p *Program) judge(ctx context.Context, files Files, task judge.Task, played func(int)) (report Report, err error) {
	scratch, err := os.MkdirTemp(p.dir, "run-")
	if err != nil {
		return report, err
	}
	defer os.RemoveAll(scratch)
	task.Lock, task.Package = p.names[files.key()], p.path
	raw, err := json.Marshal(task)
	if err != nil {
		return report, err
	}
	limited, cancel := context.WithTimeout(ctx, task.Longest())
	defer cancel()
	out := filepath.Join(scratch, "out.json")
	cmd := exec.CommandContext(limited, p.file, string(raw), out)
	cmd.WaitDelay = time.Second
	cmd.Dir = scratch
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all")
	if task.Search != nil { // several run at once, each on one core
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GOGC=200")
	}
	var stdout, stderr beginning
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stop := follow(out, played)
	ended := cmd.Run()
	stop()
	if ctx.Err() != nil {
		return report, ctx.Err()
	}
	done, err := report.read(out)
	report.Printed = stdout.String()
	if err == nil && report.Cause == nil && !done {
		report.Cause = p.endedBadly(ended, stderr.String(), task.Longest(), limited.Err() != nil)
	}
	return report, err
}

// followPeriod is how often it is looked how far a run is.
const followPeriod = 200 * time.Millisecond

// follow looks how many verdicts a run has written, until stop is called.
func follow(file string, played func(int)) (stop func()) {
	if played == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(followPeriod)
		defer ticker.Stop()
		for {
			raw, _ := os.ReadFile(file) // there is none before the first verdict
			played(bytes.Count(raw, []byte("\n{\"verdict\":")) + 1)
			select {
			case <-over:
				return
			case <-ticker.C:
			}
		}
	}()
	return func() { close(over); <-ended }
}

// read reads what a run has written, and whether it came to its end. The last line may be
// half a line, and there is no file if it ended before it began.
func (r *Report) read(file string) (done bool, err error) {
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	for line := range bytes.Lines(raw) {
		var l judge.Line
		if json.Unmarshal(line, &l) != nil {
			break
		}
		switch {
		case l.Verdict != nil:
			r.Verdicts = append(r.Verdicts, *l.Verdict)
		case l.Cause != nil:
			r.Cause = l.Cause
		case l.Found != nil:
			r.Found = append(r.Found, *l.Found)
		}
		done = done || l.Done
	}
	return done, nil
}

// How a run ends that cannot say so itself, and what to change.
var (
	killedLate = i18n.New("Your lock did not end within {time} and had to be killed.")
	killedNext = i18n.New("Look for a loop without a wait.")
	dies       = i18n.New("Your lock ends the whole process{where}: {why}.")
	diesNext   = i18n.New("A panic on a goroutine of its own ends the program that uses the lock. Find the cause, and mend it.")
	otherRun   = i18n.New("A variable of the package keeps a channel or a timer from one run to the next{where}: {why}.")
	otherNext  = i18n.New("Keep channels and timers in the lock that NewMutex makes: each run has a clock of its own. A sync.Mutex may stay.")
	killed     = i18n.New("The process of your lock was killed: {why}.")
	signalNext = i18n.New("Look for a signal that the lock sends, or for too much memory.")
	exits      = i18n.New("Your lock ends the whole process with status {status}, as os.Exit and log.Fatal do.")
	exitsNext  = i18n.New("Return an error: its owner decides whether the program ends.")
)

// endedBadly says why a run ended that could not say so itself.
func (p *Program) endedBadly(err error, stderr string, longest time.Duration, late bool) *judge.Cause {
	what, where := crash(stderr, p.sources)
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	switch {
	case slices.ContainsFunc(noMemory, func(said string) bool { return strings.Contains(what, said) }):
		return judge.Hoards(where)
	case late:
		return judge.Because(judge.TooSlow, killedNext, killedLate.Args("time", longest))
	case strings.Contains(what, "synctest"):
		return judge.Because(judge.OtherRun, otherNext, otherRun.Args("where", where, "why", what))
	case what != "":
		return judge.Because(judge.Panics, diesNext, dies.Args("where", where, "why", what))
	case code < 0:
		return judge.Because(judge.Exits, signalNext, killed.Args("why", err))
	}
	return judge.Because(judge.Exits, exitsNext, exits.Args("status", code))
}

// noMemory is what the runtime says when the system refuses memory: to the heap, or to the stack
// of a new thread.
var noMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"}

var crashLine = regexp.MustCompile(`(?m)^(?:panic|fatal error|runtime|runtime/cgo): (.*?)(?: \[recovered.*)?$`)

// crash finds in what the Go runtime printed the reason, and the line of the lock, whose
// files are in that folder.
func crash(stderr, sources string) (what string, where i18n.Message) {
	crashSource := regexp.MustCompile(`(?m)^\t(.*` + regexp.QuoteMeta(filepath.ToSlash(sources)) + `/\S+\.go):(\d+)`)
	reason := crashLine.FindStringSubmatchIndex(stderr)
	if reason == nil {
		return "", where
	}
	what = strings.TrimSuffix(stderr[reason[2]:reason[3]], ".")
	if at := crashSource.FindStringSubmatch(stderr[reason[1]:]); at != nil {
		where = judge.At(path.Base(at[1]) + ":" + at[2])
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
