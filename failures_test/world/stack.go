package world

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// stack is where a command was sent from, kept as program counters because
// most are never looked at.
type stack struct {
	pcs   [40]uintptr
	depth int
	id    uint64 // of the goroutine; 0: nobody has asked
}

// callerStack is cheap enough for every command: some two microseconds.
func (w *World) callerStack() *stack {
	s := &stack{}
	s.depth = runtime.Callers(3, s.pcs[:])
	return s
}

// goroutine is the id of the goroutine whose stack it is. Only that goroutine may ask.
func (s *stack) goroutine() uint64 {
	if s.id == 0 {
		s.id = GoroutineID()
	}
	return s.id
}

// isWhole tells whether the stack is known from its beginning.
func (s *stack) isWhole() bool { return s.depth < len(s.pcs) }

// startedBy tells whether the goroutine began in the function whose entry that
// is: its last frame but the runtime's own.
func (s *stack) startedBy(entry uintptr) bool {
	if s.depth < 2 || !s.isWhole() {
		return false
	}
	return runtime.FuncForPC(s.pcs[s.depth-2]-1).Entry() == entry
}

// noteEntry keeps the entry of the function that calls it, which is where a goroutine begins.
func noteEntry(entry *atomic.Uintptr) {
	if entry.Load() == 0 {
		pc, _, _, _ := runtime.Caller(1)
		entry.Store(runtime.FuncForPC(pc).Entry())
	}
}

// GoroutineID reads the number that the runtime prints in every stack trace. It
// tells which of a process's goroutines sent a command: go-redis writes on the
// caller's own goroutine, and hands nothing of the caller's to the connection.
// It costs ten microseconds, so it is asked only where it is in doubt.
func GoroutineID() uint64 {
	var buf [40]byte
	n := runtime.Stack(buf[:], false)
	id, _ := strconv.ParseUint(strings.Fields(string(buf[:n]))[1], 10, 64) // goroutine 7 [running]:
	return id
}

var creation = regexp.MustCompile(`\ncreated by (\S+) in goroutine (\d+)\n`)

// createdBy is the function that has started this goroutine, and the goroutine that ran it.
func createdBy() (function string, goroutine uint64) {
	buf := make([]byte, 1<<14)
	found := creation.FindSubmatch(buf[:runtime.Stack(buf, false)])
	if found == nil { // the stack is deeper than that
		return "", 0
	}
	goroutine, _ = strconv.ParseUint(string(found[2]), 10, 64) // digits, says the pattern
	return string(found[1]), goroutine
}

// deepen makes the goroutine's stack as big as a call of go-redis needs. Done here
// it costs nothing; later the stack grows twice, and is full when it is copied.
//
//go:noinline
func deepen() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}

// Source is the line of the lock that sent a command.
type Source struct {
	File     string `json:"file"` // the last folder and the file's name: stage1_setnx_expire/mutex.go
	Line     int    `json:"line"`
	Function string `json:"function"` // TryLock
}

// String is "stage1_setnx_expire/mutex.go:57".
func (s Source) String() string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

var sources sync.Map // sourceKey → Source

type sourceKey struct {
	pcs        [40]uintptr
	skipFrames string
}

// source is the innermost line that is neither go-redis nor the world, nor in a
// function whose name begins as one of skipFrames does.
func (s *stack) source(skipFrames []string) Source {
	key := sourceKey{s.pcs, strings.Join(skipFrames, "\n")}
	if known, ok := sources.Load(key); ok {
		return known.(Source)
	}
	var found Source
	frames := runtime.CallersFrames(s.pcs[:s.depth])
	for more := true; more && found.File == ""; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if !beginsWith(frame.Function, skipFrames...) && !isLibrary(frame.Function) && !strings.Contains(frame.File, goRedis) {
			dir, file := path.Split(frame.File)
			found = Source{path.Join(path.Base(dir), file), frame.Line, shortFunction(frame.Function)}
		}
	}
	sources.Store(key, found)
	return found
}

// goRedis is in the names of go-redis's functions and files. Where the compiler has put a
// function of go-redis into one of the lock, a closure of it has the name of the lock's: then
// only the file tells.
const goRedis = "github.com/redis/go-redis/"

// ours is what the names of this package's functions begin with.
var ours = reflect.TypeFor[World]().PkgPath() + "."

// isLibrary reports whether a function is Go's, go-redis's or the world's.
func isLibrary(function string) bool {
	return function == "" || beginsWith(function, goRedis, ours, "bufio.", "context.", "crypto/tls.", "internal/", "io.", "net.",
		"runtime.", "sync.", "sync/", "testing.", "testing/", "time.")
}

// beginsWith tells whether a text begins with one of those.
func beginsWith(text string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) })
}

// shortFunction cuts "example.com/mine.(*Mutex).TryLock" to TryLock,
// and a closure's "(*Mutex).start.func1" or a loop's "(*Mutex).start-range1" to start.
func shortFunction(full string) string {
	name := full[strings.LastIndexByte(full, '/')+1:]
	_, name, _ = strings.Cut(name, ".")
	name = strings.TrimPrefix(name, "(")
	if _, method, ok := strings.Cut(name, ")."); ok {
		name = method
	}
	name, _, _ = strings.Cut(name, ".func")
	name, _, _ = strings.Cut(name, "-range")
	return name
}
