package kata

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	failures "lockkata/failures_test"
	"lockkata/internal/edits"
	"lockkata/internal/i18n"
)

// Files are a lock's files by name.
type Files map[string]string

func (f Files) names() []string { return slices.Sorted(maps.Keys(f)) }

// key returns a string that is the same for the same files.
func (f Files) key() string { return fmt.Sprintf("%q", map[string]string(f)) }

// Program is a compiled program that plays locks.
type Program struct {
	file, dir string
	args      []string         // before the task
	locks     map[string]shape // by the keys of their files
	sources   string           // the end of the path of the locks' folder
	started   atomic.Int64     // its processes
}

// Close deletes the program.
func (p *Program) Close() { _ = os.RemoveAll(p.dir) }

// locksDir is where the locks are while they are compiled. It exists in the compiler's overlay
// only, so a lock is part of the repository's module wherever its files really are.
const (
	locksDir  = "internal/kata/locks"
	locksPath = "lockkata/" + locksDir
)

// newProgram makes a folder for a program and builds it there.
func newProgram(sources string, build func(*Program) error) (*Program, error) {
	dir, err := os.MkdirTemp("", "lockkata-")
	p := &Program{file: filepath.Join(dir, "judge.exe"), dir: dir, locks: map[string]shape{}, sources: sources}
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
func Build(ctx context.Context, root string, locks ...Files) (*Program, error) {
	return newProgram(locksDir, func(p *Program) error {
		code := Files{}
		for i, files := range locks {
			name := fmt.Sprintf("lock%d", i)
			importPath := path.Join(locksPath, name, "mylock")
			if err := p.add(shape{name: name, path: importPath, code: importPath}, files); err != nil {
				return err
			}
			for file, text := range files {
				code[path.Join(locksDir, name, "mylock", file)] = text
			}
		}
		return p.compile(ctx, root, code)
	})
}

// add adds a lock to the program.
func (p *Program) add(s shape, files Files) error {
	err := s.read(files)
	p.locks[files.key()] = s
	return err
}

// quickly keeps the compiler from optimizing the locks. It then needs a third of the time, and a
// lock mostly waits for Redis.
const quickly = "-gcflags=" + locksPath + "/...=-N -l -dwarf=false"

// compile compiles the program with these files, which exist in this build only. flags are more flags
// for go build.
func (p *Program) compile(ctx context.Context, root string, code Files, flags ...string) error {
	imports, subjects := "", ""
	for _, key := range slices.Sorted(maps.Keys(p.locks)) {
		s := p.locks[key]
		imports += fmt.Sprintf("\t%s %q\n", s.name, s.path)
		subjects += fmt.Sprintf("\t\t%q: %s,\n", s.name, s.expression())
	}
	code[locksDir+"/main.go"] = fmt.Sprintf(mainText, imports, subjects)
	list, err := edits.Overlay(p.dir, root, code)
	if err != nil {
		return err
	}
	args := append([]string{"build", "-overlay", list, "-buildvcs=false", "-ldflags=-s -w", quickly, "-o", p.file}, flags...)
	output, err := goCommand(ctx, root, append(args, "./"+locksDir)...).CombinedOutput()
	if err != nil && ctx.Err() == nil {
		return compileError(string(output), err)
	}
	return ctx.Err()
}

// mainText is the template of the program's main file.
const mainText = `package main

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
	"lockkata/internal/kata/judge"
%s)

var ( // a lock with a Subject needs none of these
	_ adapters.Holds[int]
	_ world.Constructor
	_ redis.UniversalClient
	_ time.Duration
)

func main() {
	judge.Main(map[string]failures.Subject{
%s	})
}
`

// goCommand returns the go command in a folder. It ignores the learner's own settings: a workspace, a
// vendor folder, flags that change go.mod.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // an interrupted go command removes its temporary files
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// PlayEdited compiles a lock of this repository with an edit, and plays a failure on it. root is the
// repository's folder, and sources has its files.
func PlayEdited(ctx context.Context, root string, sources fs.FS, e edits.Edit, failure string, l i18n.Language) (failures.Verdict, error) {
	raw, err := fs.ReadFile(sources, e.File)
	if err != nil {
		return failures.Verdict{}, err
	}
	text, err := e.Apply(string(raw))
	if err != nil {
		return failures.Verdict{}, err
	}
	files := Files{e.File: text}
	program, err := newProgram(e.Stage.Dir, func(p *Program) error {
		p.locks[files.key()] = shape{name: "stages", path: "lockkata/internal/stages", code: path.Join("lockkata", e.Stage.Dir), stage: e.Stage.ID}
		return p.compile(ctx, root, Files{e.File: text})
	})
	if err != nil {
		return failures.Verdict{}, err
	}
	defer program.Close()
	one := []string{failure}
	report, err := program.Judge(ctx, files, asked{failures: one, draw: one, lang: l})
	return report.Verdict(failure).Verdict, err
}
