package kata

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockkata/internal/kata/judge"
)

// Files are a lock's files by name.
type Files map[string]string

func (f Files) names() []string { return slices.Sorted(maps.Keys(f)) }

// key returns a string that is the same for the same files.
func (f Files) key() string { return fmt.Sprintf("%q", map[string]string(f)) }

// Program is a compiled program that plays locks.
type Program struct {
	file, dir string
	names     map[string]string // a lock's key → its name in the program
	sources   string            // the end of the path of the locks' folder
	path      string            // the beginning of the import path of its lock; "": below locksDir
}

// Close deletes the program.
func (p *Program) Close() { _ = os.RemoveAll(p.dir) }

// locksDir is where the locks are while they are compiled. It exists in the compiler's overlay
// only, so a lock is part of the repository's module wherever its files really are.
var locksDir = strings.TrimPrefix(judge.LocksPath, "lockkata/")

func newProgram(sources, path string) (*Program, error) {
	dir, err := os.MkdirTemp("", "lockkata-")
	return &Program{file: filepath.Join(dir, "judge.exe"), dir: dir, names: map[string]string{}, sources: sources, path: path}, err
}

// Build compiles a program that can play these locks. root is the repository's folder. A
// *CompileError is about one of the locks.
func Build(ctx context.Context, root string, locks ...Files) (*Program, error) {
	p, err := newProgram(locksDir, "")
	if err == nil {
		err = p.build(ctx, root, locks)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Program) build(ctx context.Context, root string, locks []Files) error {
	code := overlay{root, p.dir, map[string]string{}}
	var all []shape
	for i, files := range locks {
		if p.names[files.key()] != "" {
			continue
		}
		s := shape{name: fmt.Sprintf("lock%d", i), path: fmt.Sprintf("%s/lock%d/mylock", judge.LocksPath, i)}
		p.names[files.key()] = s.name
		if err := s.read(files); err != nil {
			return err
		}
		for file, text := range files {
			if err := code.put(path.Join(s.name, "mylock", file), text); err != nil {
				return err
			}
		}
		all = append(all, s)
	}
	return p.compile(ctx, code, all)
}

// pathOf returns the beginning of a lock's import path.
func (p *Program) pathOf(lock string) string {
	return cmp.Or(p.path, judge.LocksPath+"/"+lock+"/mylock")
}

// overlay adds files to a build, below locksDir.
type overlay struct {
	root, dir string            // the repository, and the folder of the real files
	files     map[string]string // path in the build → path on disk
}

func (o overlay) put(name, text string) error {
	copied := filepath.Join(o.dir, strings.ReplaceAll(name, "/", "_"))
	o.files[filepath.Join(o.root, locksDir, filepath.FromSlash(name))] = copied
	return os.WriteFile(copied, []byte(text), 0o600)
}

// quickly keeps the compiler from optimizing the locks. It then needs a third of the time, and a
// lock mostly waits for Redis.
const quickly = "-gcflags=" + judge.LocksPath + "/...=-N -l -dwarf=false"

// compile compiles a program for these locks with the files of the overlay. flags are more flags
// for go build.
func (p *Program) compile(ctx context.Context, code overlay, all []shape, flags ...string) error {
	imports, subjects := "", ""
	for _, s := range all {
		imports += fmt.Sprintf("\t%s %q\n", s.name, s.path)
		subjects += fmt.Sprintf("\t\t%q: %s,\n", s.name, s.expression())
	}
	if err := code.put("main.go", fmt.Sprintf(mainText, imports, subjects)); err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"Replace": code.files})
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "overlay.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	args := append([]string{"build", "-overlay", file, "-buildvcs=false", "-ldflags=-s -w", quickly, "-o", p.file}, flags...)
	cmd := goCommand(ctx, code.root, append(args, "./"+locksDir)...)
	output, err := cmd.CombinedOutput()
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
	"lockkata/failures_test/world"
	"lockkata/internal/kata/judge"
%s)

var ( // a lock with a Subject needs none of these
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
