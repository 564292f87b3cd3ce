package kata

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockkata/internal/i18n"
	"lockkata/internal/kata/judge"
)

// Files are the files of a lock, by their names.
type Files map[string]string

func (f Files) names() []string { return slices.Sorted(maps.Keys(f)) }

// key is the same for the same files.
func (f Files) key() string { return fmt.Sprintf("%q", map[string]string(f)) }

// CompileError is the first thing that keeps a lock from being compiled.
type CompileError struct {
	File string       `json:"file"` // "" if it is about no line
	Line int          `json:"line,omitempty"`
	Text i18n.Message `json:"text"`
}

func (e *CompileError) Error() string { return e.Localize(i18n.English) }

// Localize returns the error in a language, but for what the compiler says.
func (e *CompileError) Localize(l i18n.Language) string {
	if e.File == "" {
		return e.Text.Localize(l)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text.Localize(l))
}

// Program is a compiled program that judges locks.
type Program struct {
	file, dir string
	names     map[string]string // what a lock consists of → its name in the program
	sources   string            // the folder of its locks, or the end of its name
	path      string            // what the import path of its lock begins with; "" for those of locksDir
}

// Close removes the program.
func (p *Program) Close() { _ = os.RemoveAll(p.dir) }

// locksDir is where the locks are while they are compiled. It exists in the
// compiler's overlay only, so a lock is part of the repository's module wherever
// its files really are.
var locksDir = strings.TrimPrefix(judge.LocksPath, "lockkata/")

// Build compiles a program that can judge these locks. root is the repository. A
// *CompileError is about one of the locks.
func Build(ctx context.Context, root string, locks ...Files) (*Program, error) {
	dir, err := os.MkdirTemp("", "lockkata-")
	if err != nil {
		return nil, err
	}
	p := &Program{file: filepath.Join(dir, "judge.exe"), dir: dir, names: map[string]string{}, sources: locksDir}
	if err := p.build(ctx, root, locks); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Program) build(ctx context.Context, root string, locks []Files) error {
	code := overlay{root, p.dir, map[string]string{}}
	imports, subjects := "", ""
	for _, files := range locks {
		if p.names[files.key()] != "" {
			continue
		}
		name := "mylock"
		if n := len(p.names); n > 0 {
			name += strconv.Itoa(n)
		}
		p.names[files.key()] = name
		subject, err := subjectOf(files, name, judge.LocksPath+"/"+name)
		if err != nil {
			return err
		}
		for file, text := range files {
			if err := code.put(path.Join(name, file), text); err != nil {
				return err
			}
		}
		imports += fmt.Sprintf("\t%s %q\n", name, judge.LocksPath+"/"+name)
		subjects += fmt.Sprintf("\t\t%q: %s,\n", name, subject)
	}
	if err := code.put("main.go", fmt.Sprintf(mainText, imports, subjects)); err != nil {
		return err
	}
	return p.compile(ctx, code)
}

// overlay are files that only the compiler sees, below locksDir.
type overlay struct {
	root, dir string            // the repository, and where the files really are
	files     map[string]string // where the compiler sees them → where they are
}

func (o overlay) put(name, text string) error {
	copied := filepath.Join(o.dir, strings.ReplaceAll(name, "/", "_"))
	o.files[filepath.Join(o.root, locksDir, filepath.FromSlash(name))] = copied
	return os.WriteFile(copied, []byte(text), 0o600)
}

// quickly tells the compiler not to optimize the locks. It then needs a third of the time, and
// a lock mostly waits for Redis anyhow.
const quickly = "-gcflags=" + judge.LocksPath + "/...=-N -l -dwarf=false"

// compile compiles what is in the overlay, with more flags of go build.
func (p *Program) compile(ctx context.Context, code overlay, flags ...string) error {
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

// mainText is the generated program: its imports and its locks are filled in.
const mainText = `package main

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
	"lockkata/internal/kata/judge"
%s)

var ( // a lock with a Subject needs none of these here
	_ = adapters.ErrNoHold
	_ world.Constructor
	_ redis.UniversalClient
	_ time.Duration
)

func main() {
	judge.Main(map[string]failures.Subject{
%s	})
}
`

// mostBytes is the longest file that is read as a lock's.
const mostBytes = 1 << 20

var (
	tooLong = i18n.New("the file has {n} MB: a lock has some kilobytes, so this is no lock")
	isMain  = i18n.New("the package is main, which nobody can import: call it mylock")
)

func parse(fset *token.FileSet, name, text string) (*ast.File, error) {
	if len(text) > mostBytes {
		return nil, &CompileError{File: name, Line: 1, Text: tooLong.Args("n", len(text)>>20)}
	}
	tree, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if all, ok := err.(scanner.ErrorList); ok {
		err = all[0]
	}
	if err != nil {
		return nil, compileError(err.Error(), err)
	}
	if tree.Name.Name == "main" {
		return nil, &CompileError{File: name, Line: 1, Text: isMain.Args()}
	}
	return tree, nil
}

var compilerLine = regexp.MustCompile(`(?m)^(?:vet: )?([^:\n]*\.go):(\d+)(?::\d+)?: (.*)$`)

var (
	cannotBuild = i18n.New("the go command cannot build your lock ({why}): go mod download, once, with a " +
		"network, in the folder of the repository")
	fitsNot = i18n.New("NewMutex or Subject does not fit: {why}")
)

// compileError finds the first error in what the compiler said.
func compileError(output string, err error) error {
	var exit *exec.ExitError
	at := compilerLine.FindStringSubmatch(output)
	switch {
	case at == nil && strings.HasPrefix(output, "go: "):
		first, _, _ := strings.Cut(output, "\n")
		return cannotBuild.Args("why", first)
	case at == nil && errors.As(err, &exit):
		return &CompileError{Text: i18n.Text(strings.TrimSpace(output)).Args()}
	case at == nil:
		return fmt.Errorf("go build: %w", err)
	}
	file, isCopy := path.Base(filepath.ToSlash(at[1])), strings.Contains(at[1], "lockkata-")
	if isCopy && file == "main.go" {
		return &CompileError{Text: fitsNot.Args("why", at[3])}
	}
	if _, own, found := strings.Cut(file, "_"); isCopy && found {
		file = own
	}
	line, _ := strconv.Atoi(at[2]) // digits, says the pattern
	return &CompileError{File: file, Line: line, Text: i18n.Text(at[3]).Args()}
}
