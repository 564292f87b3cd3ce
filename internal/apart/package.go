package apart

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// Package is a Go package on disk with a lock: a func Subject or a func NewMutex.
type Package struct {
	Dir    string
	Files  Files
	path   string  // its import path
	module modFile // of its module; outside a module it is one of its own
	root   string  // the module's folder
	alone  bool    // it is outside a module
}

// modFile is the part of a go.mod that is needed here.
type modFile struct {
	Module  struct{ Path string }
	Replace []struct{ Old, New version }
}

type version struct{ Path, Version string }

var (
	noFolder   = i18n.New("there is no folder {dir}: name the folder of your lock")
	noGoFileIn = i18n.New("there is no Go file in {dir}: name the folder of your lock")
	cannotRead = i18n.New("the go command cannot read {file}: {why}")
)

// FindPackage finds the package in a folder.
func FindPackage(ctx context.Context, dir string) (p Package, err error) {
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	if real, linkErr := filepath.EvalSymlinks(p.Dir); linkErr == nil {
		p.Dir = real // the go command resolves symbolic links
	}
	if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
		return p, noFolder.Args("dir", p.Dir)
	}
	if p.Files, err = stages.ReadFiles(os.DirFS(p.Dir), "."); err != nil {
		return p, err
	}
	if len(p.Files) == 0 {
		return p, noGoFileIn.Args("dir", p.Dir)
	}
	return p, p.findModule(ctx)
}

// findModule finds the package's module. Its go.mod need not be tidy.
func (pkg *Package) findModule(ctx context.Context) error {
	named, err := GoCommand(ctx, pkg.Dir, "env", "GOMOD").Output()
	if err != nil {
		return needsGo.Args("why", err)
	}
	name := strings.TrimSpace(string(named))
	if name == "" || name == os.DevNull {
		pkg.alone, pkg.root, pkg.path, pkg.module.Module.Path = true, pkg.Dir, "mylock", "mylock"
		return nil
	}
	pkg.root = filepath.Dir(name)
	out, err := GoCommand(ctx, pkg.root, "mod", "edit", "-json").Output()
	if err == nil {
		err = json.Unmarshal(out, &pkg.module)
	}
	if err != nil {
		return cannotRead.Args("file", name, "why", err)
	}
	below, err := filepath.Rel(pkg.root, pkg.Dir)
	pkg.path = path.Join(pkg.module.Module.Path, filepath.ToSlash(below))
	return err
}

// BuildPackage returns the bench of a package in its own folder, with the imports of its module. Outside a
// module it may import what this repository imports.
func BuildPackage(ctx context.Context, root string, pkg Package, has []failures.Feature) (*Bench, error) {
	s, sources := shape{path: pkg.path, code: pkg.module.Module.Path, isGraded: true}, pkg.root
	isOurs := s.code == "lockkata"
	if isOurs {
		s.code, sources = pkg.path, pkg.Dir
	}
	l := Lock{Files: pkg.Files, Has: has}
	p, err := newProgram(sources, func(p *Program) error {
		text, err := p.add(l, s)
		if err != nil {
			return err
		}
		code := Files{filepath.Join(pkg.Dir, testFile): text}
		if isOurs {
			return p.compile(ctx, root, code)
		}
		modules, err := p.joinModules(root, pkg, code)
		if err != nil {
			return err
		}
		return p.compile(ctx, root, code, "-modfile", modules, "-mod=mod")
	})
	if err != nil {
		return nil, err
	}
	return p.Bench(l), nil
}

// majorVersion finds the major version at the end of a module's path, or "".
var majorVersion = regexp.MustCompile(`(?:(?:/|^gopkg\.in/.*\.)v(\d+))?$`)

// joinModules writes a copy of this repository's go.mod that also requires the package's module, with
// a replace directive for its folder, and returns the copy's name. It adds a missing go.mod to the code.
func (p *Program) joinModules(root string, pkg Package, code Files) (string, error) {
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	module := pkg.module.Module.Path
	if pkg.alone {
		code[filepath.Join(pkg.root, "go.mod")] = strings.Replace(string(ours), "module lockkata\n", "module "+module+"\n", 1)
	}
	major := cmp.Or(majorVersion.FindStringSubmatch(module)[1], "0")
	text := string(ours) + fmt.Sprintf("\nrequire %s v%s.0.0\n\nreplace %s => %q\n", module, major, module, pkg.root)
	for _, r := range pkg.module.Replace {
		if r.Old.Path == "lockkata" {
			continue // this repository
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
