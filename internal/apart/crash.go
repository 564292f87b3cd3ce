package apart

import (
	"bytes"
	"cmp"
	"errors"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockkata/failures_test/guard"
	"lockkata/internal/i18n"
)

// Descriptions of a process that ended without a reply, and advice.
var (
	killedLate = i18n.New("Your lock did not end and had to be killed.")
	killedNext = i18n.New("Look for a loop without a wait.")
	dies       = i18n.New("Your lock ends the whole process: {why}.")
	diesAt     = i18n.New("Your lock ends the whole process at {line}: {why}.")
	diesNext   = i18n.New("A panic in a background goroutine ends the program that uses the lock. Find its cause and fix it.")
	stackNext  = i18n.New("The function calls itself without end. Use a loop that waits, or return.")
	killed     = i18n.New("The process of your lock was killed: {why}.")
	signalNext = i18n.New("Look for a signal that the lock sends, or for too much memory.")
	exits      = i18n.New("Your lock ends the whole process with status {status}, as os.Exit and log.Fatal do.")
	exitsNext  = i18n.New("Return an error: the caller decides whether the program ends.")
)

// endedBadly returns the cause if a process ended without a reply. used is its processor time.
func (p *Program) endedBadly(err error, stderr string, late bool, used time.Duration) *guard.Cause {
	what, line := crash(stderr, p.sources)
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	switch {
	case slices.ContainsFunc(noMemory, func(said string) bool { return strings.Contains(what, said) }):
		return guard.Hoards(line)
	case late && used < guard.Processor:
		return guard.CutOff(guard.Wall, used)
	case late:
		return guard.Because(guard.TooSlow, killedNext, killedLate.Args())
	case strings.HasPrefix(what, stackIsFull) && line != "":
		return guard.Because(guard.Panics, stackNext, diesAt.Args("line", line, "why", what))
	case what != "" && line != "":
		return guard.Because(guard.Panics, diesNext, diesAt.Args("line", line, "why", what))
	case what != "":
		return guard.Because(guard.Panics, diesNext, dies.Args("why", what))
	case code < 0:
		return guard.Because(guard.Exits, signalNext, killed.Args("why", err))
	}
	return guard.Because(guard.Exits, exitsNext, exits.Args("status", code))
}

// noMemory is what the runtime prints when it gets no memory for the heap or for a thread's stack.
var noMemory = []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to create new OS thread"}

var crashLine = regexp.MustCompile(`(?m)^(?:panic|fatal error|runtime|runtime/cgo): (.*?)(?: \[recovered.*)?$`)

// stackIsFull begins what the runtime prints at an endless recursion.
const stackIsFull = "goroutine stack exceeds"

// crash finds the reason in the output of the Go runtime, and the line of the lock: the innermost one, or that of the
// recursive call. sources is the folder of the lock's files.
func crash(stderr, sources string) (what, line string) {
	reason := crashLine.FindStringSubmatchIndex(stderr)
	if reason == nil {
		return "", ""
	}
	what = strings.TrimSuffix(stderr[reason[2]:reason[3]], ".")
	source := regexp.MustCompile(`(?m)^\t(.*` + regexp.QuoteMeta(filepath.ToSlash(sources)) + `/\S+\.go:\d+)`)
	seen := map[string]bool{}
	for _, at := range source.FindAllStringSubmatch(stderr[reason[1]:], -1) {
		found := path.Join(path.Base(path.Dir(at[1])), path.Base(at[1]))
		line = cmp.Or(line, found)
		if strings.HasPrefix(what, stackIsFull) && seen[found] {
			return what, found
		}
		seen[found] = true
	}
	return what, line
}

// beginning keeps the first bytes written to it, since a lock may print without end.
type beginning struct{ kept bytes.Buffer }

const keptBytes = 64 << 10

// Write never returns an error, so that the lock is not affected.
func (k *beginning) Write(b []byte) (int, error) {
	if room := keptBytes - k.kept.Len(); room > 0 {
		k.kept.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (k *beginning) String() string { return k.kept.String() }
