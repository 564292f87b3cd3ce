// Package apart is the bench of a lock in processes of its own: it compiles the lock's package into a test
// binary, and starts that for each task, so that a lock that loops, leaks or panics harms no other run.
package apart

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"lockkata/internal/edits"
)

// Program is a test binary that plays locks.
type Program struct {
	file, dir string
	locks     map[string]*compiledLock // by their keys
	sources   string                   // the end of the path of the locks' folder
	started   atomic.Int64             // its processes
}

// compiledLock is a lock in a program.
type compiledLock struct {
	test string // the test that plays it
	key  string // of its files
	shape
}

// Close deletes the program.
func (p *Program) Close() { _ = os.RemoveAll(p.dir) }

// Plays reports whether the program can play a lock. The system may have cleaned its temporary folder.
func (p *Program) Plays(l Lock) bool {
	if p == nil || p.locks[l.key()] == nil {
		return false
	}
	_, err := os.Stat(p.file)
	return err == nil
}

// locksDir is where the locks and their tests are while they are compiled. It exists in the compiler's overlay
// only, so a lock is part of the repository's module wherever its files really are.
const (
	locksDir  = "internal/apart/locks"
	locksPath = "lockkata/" + locksDir
)

// newProgram makes a folder for a program and builds it there.
func newProgram(sources string, build func(*Program) error) (*Program, error) {
	dir, err := os.MkdirTemp("", "lockkata-")
	p := &Program{file: filepath.Join(dir, "judge.exe"), dir: dir, locks: map[string]*compiledLock{}, sources: sources}
	if err == nil {
		err = build(p)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Build compiles a program that can play these locks. root is the repository's folder. A
// *CompileError is about one of the locks.
func Build(ctx context.Context, root string, locks ...Lock) (*Program, error) {
	return newProgram(locksDir, func(p *Program) error {
		code := Files{}
		for i, l := range locks {
			dir := path.Join(fmt.Sprintf("lock%d", i), "mylock")
			s := shape{path: path.Join(locksPath, dir), code: path.Join(locksPath, dir)}
			text, err := p.add(l, s)
			if err != nil {
				return err
			}
			for file, text := range l.Files {
				code[path.Join(locksDir, dir, file)] = text
			}
			code[path.Join(locksDir, dir, testFile)] = text
		}
		return p.compile(ctx, root, code)
	})
}

// add adds a lock to the program, and returns our file for its package.
func (p *Program) add(l Lock, s shape) (text string, err error) {
	if err := s.read(l.Files); err != nil {
		return "", err
	}
	if p.locks[l.key()] == nil {
		p.locks[l.key()] = &compiledLock{test: fmt.Sprintf("TestLock%d", len(p.locks)), key: l.Files.Key(), shape: s}
	}
	return l.testOf(s), nil
}

// noOptimization keeps the compiler from optimizing the locks. It then needs a third of the time, and a
// lock mostly waits for Redis.
const noOptimization = "-gcflags=" + locksPath + "/...=-N -l -dwarf=false"

// compile compiles the program with these files, which exist in this build only. flags are more flags
// for go test.
func (p *Program) compile(ctx context.Context, root string, code Files, flags ...string) error {
	imports, tests := "", ""
	for i, key := range slices.Sorted(maps.Keys(p.locks)) {
		l := p.locks[key]
		imports += fmt.Sprintf("\tlock%d %q\n", i, l.path)
		tests += fmt.Sprintf("func %s(t *testing.T) { lock%d.TestMyLock(t) }\n", l.test, i)
	}
	code[locksDir+"/locks_test.go"] = fmt.Sprintf("package locks\n\nimport (\n\t\"testing\"\n\n%s)\n\n%s", imports, tests)
	list, err := edits.Overlay(p.dir, root, code)
	if err != nil {
		return err
	}
	args := append([]string{"test", "-c", "-vet=off", "-overlay", list, "-buildvcs=false", "-ldflags=-s -w", noOptimization, "-o", p.file}, flags...)
	output, err := GoCommand(ctx, root, append(args, "./"+locksDir)...).CombinedOutput()
	if err != nil && ctx.Err() == nil {
		return compileError(string(output), err)
	}
	return ctx.Err()
}

// GoCommand returns the go command in a folder. It ignores the learner's own settings: a workspace, a
// vendor folder, flags that change go.mod.
func GoCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // an interrupted go command removes its temporary files
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
