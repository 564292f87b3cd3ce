package world

import (
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lockkata/failures_test/trace"
)

// stack is the call stack that sent a command. It keeps program counters only, because most stacks
// are never shown.
type stack struct {
	pcs   [40]uintptr
	depth int
}

// callerStack returns the stack of the caller's caller. It takes about two microseconds, cheap enough
// for every command.
func callerStack() *stack {
	s := &stack{}
	s.depth = runtime.Callers(3, s.pcs[:])
	return s
}

// isWhole reports whether the stack includes its first frame.
func (s *stack) isWhole() bool { return s.depth < len(s.pcs) }

// startedBy reports whether the goroutine of a whole stack began in the function with that entry point:
// its first frame except the runtime's.
func (s *stack) startedBy(entry uintptr) bool {
	return runtime.FuncForPC(s.pcs[s.depth-2]-1).Entry() == entry
}

// goroutineID returns the number that the runtime prints in stack traces. It shows which call sent
// a command: go-redis writes in the caller's goroutine, but passes no context to the connection. It
// takes ten microseconds, so it is used only in doubtful cases.
func goroutineID() uint64 {
	var buf [40]byte
	n := runtime.Stack(buf[:], false)
	id, _ := strconv.ParseUint(strings.Fields(string(buf[:n]))[1], 10, 64) // goroutine 7 [running]:
	return id
}

var creation = regexp.MustCompile(`\ncreated by (\S+) in goroutine (\d+)\n`)

// createdBy returns the function that started this goroutine, and the goroutine that ran it.
func createdBy() (function string, goroutine uint64) {
	buf := make([]byte, 1<<14)
	found := creation.FindSubmatch(buf[:runtime.Stack(buf, false)])
	if found == nil { // the stack does not fit into buf
		return "", 0
	}
	goroutine, _ = strconv.ParseUint(string(found[2]), 10, 64) // the pattern matches only digits
	return string(found[1]), goroutine
}

var sources sync.Map // sourceKey → Source

type sourceKey struct {
	pcs        [40]uintptr
	skipFrames string
}

// source returns the innermost line outside go-redis, the world and the functions whose name begins
// with one of skipFrames.
func (s *stack) source(skipFrames []string) trace.Source {
	key := sourceKey{s.pcs, strings.Join(skipFrames, "\n")}
	if known, ok := sources.Load(key); ok {
		return known.(trace.Source)
	}
	found := s.innermost(func(f runtime.Frame) bool {
		return !beginsWith(f.Function, skipFrames...) && !isLibrary(f.Function) && !strings.Contains(f.File, goRedis)
	})
	sources.Store(key, found)
	return found
}

// panicSource returns the innermost line outside Go, the module cache and the world. For a lock in the module cache
// it returns that of source.
func (s *stack) panicSource(skipFrames []string) trace.Source {
	found := s.innermost(func(f runtime.Frame) bool {
		return !isLibrary(f.Function) && !strings.HasPrefix(f.File, goRoot) && !strings.Contains(f.File, "/pkg/mod/")
	})
	if found.File == "" {
		return s.source(skipFrames)
	}
	return found
}

// goRoot is the folder of Go's own packages.
var goRoot = func() string {
	collect := runtime.FuncForPC(reflect.ValueOf(runtime.GC).Pointer())
	file, _ := collect.FileLine(collect.Entry())
	return path.Dir(path.Dir(file)) + "/"
}()

// innermost returns the innermost line for which is returns true.
func (s *stack) innermost(is func(runtime.Frame) bool) (found trace.Source) {
	frames := runtime.CallersFrames(s.pcs[:s.depth])
	for more := true; more && found.File == ""; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if is(frame) {
			dir, file := path.Split(frame.File)
			found = trace.Source{File: path.Join(path.Base(dir), file), Line: frame.Line, Function: shortFunction(frame.Function)}
		}
	}
	return found
}

// goRedis is part of the names of go-redis's functions and files. If the compiler inlines a
// function of go-redis, its closures are named after the lock's function: only the file shows it.
const goRedis = "github.com/redis/go-redis/"

// ours is the prefix of the names of this package's functions.
var ours = reflect.TypeFor[stack]().PkgPath() + "."

// driver is the prefix of the names of the methods that connect go-redis with the world.
var driver = strings.TrimSuffix(ours, "world.") + "adapters.(*driver)."

// isLibrary reports whether a function belongs to Go, go-redis, its driver or the world.
func isLibrary(function string) bool {
	return function == "" || beginsWith(function, goRedis, driver, ours, "bufio.", "context.", "crypto/tls.", "internal/", "io.", "net.",
		"runtime.", "sync.", "sync/", "testing.", "testing/", "time.")
}

// beginsWith reports whether text has one of the prefixes.
func beginsWith(text string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(text, start) })
}

// shortFunction shortens "example.com/mine.(*Mutex).TryLock" to TryLock, and a closure's
// "(*Mutex).start.func1" or a loop's "(*Mutex).start-range1" to start.
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
