package kata

import (
	"bytes"
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

	"lockkata/internal/kata/judge"
)

// Files are the files of a lock, by their names.
type Files map[string]string

func (f Files) names() []string { return slices.Sorted(maps.Keys(f)) }

// CompileError is the first thing that keeps a lock from being compiled.
type CompileError struct {
	File string `json:"file"` // "" if it is about no line
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

func (e *CompileError) Error() string {
	if e.File == "" {
		return e.Text
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Program is a compiled program that judges locks.
type Program struct {
	file string
	dir  string
}

// Close removes the program.
func (p *Program) Close() { _ = os.RemoveAll(p.dir) }

// locksDir is where the locks are while they are compiled. It exists in the
// compiler's overlay only, so a lock is part of the repository's module wherever
// its files really are.
var locksDir = strings.TrimPrefix(judge.LocksPath, "lockkata/")

// Build compiles a program that can judge these locks, by their names: Go
// identifiers. root is the repository. A *CompileError is about one of the locks.
func Build(ctx context.Context, root string, locks map[string]Files) (*Program, error) {
	dir, err := os.MkdirTemp("", "lockkata-")
	if err != nil {
		return nil, err
	}
	p := &Program{file: filepath.Join(dir, "judge.exe"), dir: dir}
	if err := p.build(ctx, root, locks); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Program) build(ctx context.Context, root string, locks map[string]Files) error {
	overlay := map[string]string{}
	put := func(name, text string) error {
		copied := filepath.Join(p.dir, strings.ReplaceAll(name, "/", "_"))
		overlay[filepath.Join(root, locksDir, filepath.FromSlash(name))] = copied
		return os.WriteFile(copied, []byte(text), 0o600)
	}
	var imports, cases strings.Builder
	for _, name := range slices.Sorted(maps.Keys(locks)) {
		found, err := inspect(locks[name])
		if err != nil {
			return err
		}
		for file, text := range locks[name] {
			if err := put(path.Join(name, file), text); err != nil {
				return err
			}
		}
		fmt.Fprintf(&imports, "\t%s %q\n", name, judge.LocksPath+"/"+name)
		fmt.Fprintf(&cases, "\t\t%q: %s,\n", name, found.subject(name))
	}
	if err := put("main.go", fmt.Sprintf(program, imports.String(), cases.String())); err != nil {
		return err
	}
	raw, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	file := filepath.Join(p.dir, "overlay.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		return err
	}
	cmd := goCommand(ctx, root, "build", "-overlay", file, "-buildvcs=false", "-ldflags=-s -w", "-o", p.file, "./"+locksDir)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return compileError(output.String(), err)
	}
	return nil
}

// program is the generated program: its imports and its locks are filled in.
const program = `package main

import (
	"time"

	"github.com/redis/go-redis/v9"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
	"lockkata/internal/kata/judge"
%s)

type (
	client  = redis.UniversalClient
	lease   = time.Duration
	creator = world.New
	locker  = failures.Locker
)

func main() {
	judge.Main(map[string]failures.Subject{
%s	})
}
`

// declared is what a lock's package offers to the program.
type declared struct {
	hasSubject, hasWithoutWatchdog bool
}

// subject is the expression that makes the lock a subject of the catalogue.
func (d declared) subject(name string) string {
	if d.hasSubject {
		return name + ".Subject()"
	}
	create := func(options string) string {
		return fmt.Sprintf("func(r client, n string, l lease) (locker, error) { return %s.NewMutex(r, n, l%s) }", name, options)
	}
	variants := ""
	if d.hasWithoutWatchdog {
		variants = fmt.Sprintf(", Variants: map[failures.Variant]creator{failures.FixedLease: %s}", create(", "+name+".WithoutWatchdog()"))
	}
	return fmt.Sprintf("{Name: \"mylock\", New: %s%s}", create(""), variants)
}

// mostBytes is the longest file that is read as a lock's.
const mostBytes = 1 << 20

// inspect looks at what the files declare, before the compiler does: what it
// would say about the generated program would mean nothing to their author.
func inspect(files Files) (declared, error) {
	var found declared
	hasNew, packageName := false, ""
	for _, name := range files.names() {
		if path.Ext(name) != ".go" {
			continue
		}
		if len(files[name]) > mostBytes {
			return found, &CompileError{File: name, Line: 1, Text: fmt.Sprintf("the file has %d MB: a lock has some kilobytes, so this is none", len(files[name])>>20)}
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, files[name], parser.SkipObjectResolution)
		if all, ok := err.(scanner.ErrorList); ok {
			err = all[0]
		}
		if err != nil {
			return found, compileError(err.Error(), err)
		}
		if packageName = tree.Name.Name; packageName == "main" {
			return found, &CompileError{File: name, Line: 1, Text: "the package is main, which nobody can import: call it mylock"}
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			hasNew = hasNew || f.Name.Name == "NewMutex"
			found.hasSubject = found.hasSubject || f.Name.Name == "Subject"
			found.hasWithoutWatchdog = found.hasWithoutWatchdog || f.Name.Name == "WithoutWatchdog"
		}
	}
	switch {
	case packageName == "":
		return found, &CompileError{Text: "there is no Go file: kata reset brings the start back"}
	case !hasNew && !found.hasSubject:
		return found, &CompileError{Text: "there is no func NewMutex(rdb redis.UniversalClient, name string, lease time.Duration), nor an adapter's func Subject() failures.Subject"}
	}
	return found, nil
}

var compilerLine = regexp.MustCompile(`(?m)^(?:vet: )?([^:\n]*\.go):(\d+)(?::\d+)?: (.*)$`)

// compileError finds the first error in what the compiler said.
func compileError(output string, err error) error {
	var exit *exec.ExitError
	at := compilerLine.FindStringSubmatch(output)
	switch {
	case at == nil && strings.HasPrefix(output, "go: "):
		first, _, _ := strings.Cut(output, "\n")
		return fmt.Errorf("the go command cannot build your lock (%s): go mod download, once, with a network, in the folder of the repository", first)
	case at == nil && errors.As(err, &exit):
		return &CompileError{Text: strings.TrimSpace(output)}
	case at == nil:
		return fmt.Errorf("go build: %w", err)
	}
	file, line := path.Base(filepath.ToSlash(at[1])), at[2]
	if _, own, copied := strings.Cut(file, "_"); copied && strings.Contains(at[1], "lockkata-") {
		file = own // the compiler names the copy
	}
	n, _ := strconv.Atoi(line) // digits, says the pattern
	if file == "main.go" {
		return &CompileError{Text: "NewMutex or Subject does not fit: " + at[3]}
	}
	return &CompileError{File: file, Line: n, Text: at[3]}
}
