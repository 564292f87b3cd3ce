package judge

import (
	"fmt"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// LocksPath is the import path below which the locks are that are judged.
const LocksPath = "lockkata/internal/kata/locks"

// lockPath is what the import path of the lock's code begins with.
var lockPath = LocksPath

// isOfLock tells whether a function is the lock's own, as a stack trace names it.
func isOfLock(call string) bool {
	rest, found := strings.CutPrefix(call, lockPath)
	return found && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "."))
}

// frame is a line of the lock's code on some goroutine's stack.
type frame struct {
	function string
	file     string // its base name; "" is no frame
	line     int
}

func (f frame) place() string { return fmt.Sprintf("%s:%d", f.file, f.line) }

// goroutine is one that runs the lock's code, or was started by it.
type goroutine struct {
	state   string // as the runtime calls it, "" if it is not known
	inner   frame  // the innermost line of the lock
	created frame  // the line of the lock that started it
	redis   bool   // it is inside go-redis
}

// isRunning tells whether it needs the processor, and waits for nothing.
func (g goroutine) isRunning() bool { return g.state == "running" || g.state == "runnable" }

// isMutex tells whether it waits for a mutex.
func (g goroutine) isMutex() bool {
	return strings.HasPrefix(g.state, "sync.Mutex") || strings.HasPrefix(g.state, "sync.RWMutex")
}

// ofLock are the goroutines that have to do with the lock.
func ofLock() []goroutine {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			return parse(string(buf[:n]))
		}
		buf = make([]byte, 2*len(buf))
	}
}

// hasPubSub tells whether a goroutine of one of go-redis's subscriptions runs.
func hasPubSub() bool {
	buf := make([]byte, 1<<20)
	return strings.Contains(string(buf[:runtime.Stack(buf, true)]), "github.com/redis/go-redis/v9.(*channel)")
}

var (
	header   = regexp.MustCompile(`^goroutine \d+ [^\[]*\[([^\],]*)`)
	position = regexp.MustCompile(`^\t(.*):(\d+)( |$)`)
)

// parse reads a stack trace of all goroutines as the runtime prints it.
func parse(dump string) []goroutine {
	var all []goroutine
	for _, block := range strings.Split(dump, "\n\n") {
		lines := strings.Split(block, "\n")
		head := header.FindStringSubmatch(lines[0])
		if head == nil {
			continue
		}
		g := goroutine{state: strings.TrimSuffix(strings.TrimSpace(head[1]), " (durable)")}
		for i := 1; i+1 < len(lines); i += 2 {
			where := position.FindStringSubmatch(lines[i+1])
			if where == nil {
				break
			}
			call, started := strings.CutPrefix(lines[i], "created by ")
			if strings.HasPrefix(call, "github.com/redis/go-redis/") && g.inner.file == "" {
				g.redis = true
			}
			if !isOfLock(call) {
				continue
			}
			line, _ := strconv.Atoi(where[2]) // digits, says the pattern
			at := frame{function: functionName(call), file: path.Base(where[1]), line: line}
			switch {
			case started:
				g.created = at
			case g.inner.file == "":
				g.inner = at
			}
		}
		if g.inner.file != "" || g.created.file != "" {
			all = append(all, g)
		}
	}
	return all
}

// functionName cuts "lockkata/internal/kata/locks/mine.(*Mutex).Lock(0xc0, {…})"
// to Lock, and a closure's "….Lock.func1()" to Lock.
func functionName(call string) string {
	call, _, _ = strings.Cut(call, " in goroutine")
	path := call[:strings.IndexByte(call+"(", '(')] // behind a ( there may be slashes too
	_, name, _ := strings.Cut(call[strings.LastIndexByte(path, '/')+1:], ".")
	if method, ok := strings.CutPrefix(name, "(*"); ok {
		_, name, _ = strings.Cut(method, ").")
	}
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, ".func")
	return name
}
