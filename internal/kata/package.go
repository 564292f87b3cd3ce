package kata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lockkata/failures_test/schedule"
	"lockkata/internal/kata/judge"
)

// Package is a Go package on disk that has a lock: a func Subject, or a func NewMutex.
type Package struct {
	Dir    string
	Files  Files
	path   string // its import path; "" if it is in no module
	module string // the path of its module, and where that is
	root   string
}

// FindPackage looks at the package in a folder.
func FindPackage(ctx context.Context, dir string) (p Package, err error) {
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	if real, linkErr := filepath.EvalSymlinks(p.Dir); linkErr == nil {
		p.Dir = real // as the go command names it
	}
	if p.Files, err = readLock(os.DirFS(p.Dir), "."); err != nil {
		return p, err
	}
	if len(p.Files) == 0 {
		return p, fmt.Errorf("there is no Go file in %s: name the folder of your lock", p.Dir)
	}
	var listed struct {
		ImportPath string
		Module     *struct{ Path, Dir string }
	}
	list := goCommand(ctx, p.Dir, "list", "-e", "-json=ImportPath,Module", ".")
	if out, err := list.Output(); err != nil || json.Unmarshal(out, &listed) != nil || listed.Module == nil {
		return p, ctx.Err() // it is in no module: its files alone are compiled
	}
	p.path, p.module, p.root = listed.ImportPath, listed.Module.Path, listed.Module.Dir
	return p, nil
}

// BuildPackage is [Build] of a package where it is: what it imports, its own module says.
// One that is in no module may import what this repository does.
func BuildPackage(ctx context.Context, root string, pkg Package) (*Program, error) {
	if pkg.path == "" {
		return Build(ctx, root, pkg.Files)
	}
	dir, err := os.MkdirTemp("", "lockkata-")
	if err != nil {
		return nil, err
	}
	p := &Program{
		file: filepath.Join(dir, "judge.exe"), dir: dir, names: map[string]string{pkg.Files.key(): "mylock"},
		sources: pkg.root, path: pkg.module,
	}
	if pkg.isOurs() {
		p.sources, p.path = pkg.Dir, pkg.path
	}
	if err := p.buildPackage(ctx, root, pkg); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// isOurs tells whether the package is in this repository.
func (pkg Package) isOurs() bool { return pkg.module == "lockkata" }

func (p *Program) buildPackage(ctx context.Context, root string, pkg Package) error {
	subject, err := subjectOf(pkg.Files, "mylock")
	if err != nil {
		return err
	}
	code := overlay{root, p.dir, map[string]string{}}
	imports, subjects := fmt.Sprintf("\tmylock %q\n", pkg.path), fmt.Sprintf("\t\t%q: %s,\n", "mylock", subject)
	if err := code.put("main.go", fmt.Sprintf(mainText, imports, subjects)); err != nil {
		return err
	}
	if pkg.isOurs() {
		return p.compile(ctx, code)
	}
	modules, err := p.joinModules(ctx, root, pkg)
	if err != nil {
		return err
	}
	return p.compile(ctx, code, "-modfile", modules, "-mod=mod")
}

// joinModules writes a go.mod of this repository that requires the package's module too,
// where it is, with what that replaces, and returns its name.
func (p *Program) joinModules(ctx context.Context, root string, pkg Package) (string, error) {
	var theirs struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	out, err := goCommand(ctx, pkg.root, "mod", "edit", "-json").Output()
	if err == nil {
		err = json.Unmarshal(out, &theirs)
	}
	if err != nil {
		return "", fmt.Errorf("the go command cannot read the go.mod of %s: %w", pkg.root, err)
	}
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	text := string(ours) + fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", pkg.module, pkg.module, pkg.root)
	for _, r := range theirs.Replace {
		if r.Old.Path == "lockkata" {
			continue // that is this repository
		}
		if strings.HasPrefix(r.New.Path, ".") {
			r.New.Path = filepath.Join(pkg.root, r.New.Path)
		}
		text += fmt.Sprintf("replace %s => %q %s\n", strings.TrimSpace(r.Old.Path+" "+r.Old.Version), r.New.Path, r.New.Version)
	}
	var sums bytes.Buffer
	for _, dir := range []string{root, pkg.root} {
		raw, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		sums.Write(raw)
	}
	name := filepath.Join(p.dir, "go.mod")
	if err := os.WriteFile(filepath.Join(p.dir, "go.sum"), sums.Bytes(), 0o600); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, []byte(text), 0o600)
}

// Search asks everything that the suite asks about a lock of the program's.
func (p *Program) Search(ctx context.Context, files Files, task judge.Task) (Report, error) {
	questions, err := Exploring{Bound: -1}.questions(Sought{})
	if err != nil {
		return Report{}, err
	}
	return p.search(ctx, files, task, ofTwoClients(questions))
}

// ofTwoClients are the questions about two clients: those about three take minutes.
func ofTwoClients(all []schedule.Question) (some []schedule.Question) {
	for _, q := range all {
		if q.Clients == 2 {
			some = append(some, q)
		}
	}
	return some
}
