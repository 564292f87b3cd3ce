package kata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"lockkata/internal/i18n"
)

// Package is a Go package on disk with a lock: a func Subject or a func NewMutex.
type Package struct {
	Dir    string
	Files  Files
	path   string  // its import path; "" outside a module
	module modFile // of its module
	root   string  // the module's folder
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
	if p.Files, err = readLock(os.DirFS(p.Dir), "."); err != nil {
		return p, err
	}
	if len(p.Files) == 0 {
		return p, noGoFileIn.Args("dir", p.Dir)
	}
	if err := p.Files.addEmbedded(os.DirFS(p.Dir)); err != nil {
		return p, err
	}
	return p, p.findModule(ctx)
}

var embeds = regexp.MustCompile(`(?m)^\s*//go:embed (.+)$`)

// addEmbedded adds the embedded files of subfolders: a package outside a module is compiled from a
// copy.
func (f Files) addEmbedded(from fs.FS) error {
	for _, name := range f.names() {
		for _, line := range embeds.FindAllStringSubmatch(f[name], -1) {
			for pattern := range strings.FieldsSeq(line[1]) {
				found, _ := fs.Glob(from, strings.TrimPrefix(pattern, "all:")) // the compiler reports a bad pattern
				for _, top := range found {
					if err := fs.WalkDir(from, top, f.add(from)); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// add returns a function that adds the files that it visits.
func (f Files) add(from fs.FS) fs.WalkDirFunc {
	return func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		raw, err := fs.ReadFile(from, name)
		f[name] = string(raw)
		return err
	}
}

// findModule finds the package's module. Its go.mod need not be tidy.
func (pkg *Package) findModule(ctx context.Context) error {
	named, err := goCommand(ctx, pkg.Dir, "env", "GOMOD").Output()
	if err != nil {
		return needsGo.Args("why", err)
	}
	name := strings.TrimSpace(string(named))
	if name == "" || name == os.DevNull {
		return nil // only its files are compiled
	}
	pkg.root = filepath.Dir(name)
	out, err := goCommand(ctx, pkg.root, "mod", "edit", "-json").Output()
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

// BuildPackage is [Build] for a package in its own folder, with the imports of its module. Outside a
// module it may import what this repository imports.
func BuildPackage(ctx context.Context, root string, pkg Package) (*Program, error) {
	if pkg.path == "" {
		return Build(ctx, root, pkg.Files)
	}
	sources, ours := pkg.root, pkg.module.Module.Path
	if ours == "lockkata" {
		sources, ours = pkg.Dir, pkg.path
	}
	p, err := newProgram(sources, ours)
	if err == nil {
		err = p.buildPackage(ctx, root, pkg)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Program) buildPackage(ctx context.Context, root string, pkg Package) error {
	s := shape{name: "mylock", path: pkg.path}
	p.names[pkg.Files.key()] = s.name
	if err := s.read(pkg.Files); err != nil {
		return err
	}
	code := overlay{root, p.dir, map[string]string{}}
	if pkg.module.Module.Path == "lockkata" {
		return p.compile(ctx, code, []shape{s})
	}
	modules, err := p.joinModules(ctx, root, pkg)
	if err != nil {
		return err
	}
	return p.compile(ctx, code, []shape{s}, "-modfile", modules, "-mod=mod")
}

// joinModules writes a copy of this repository's go.mod that also requires the package's module, with
// a replace directive for its folder, and returns the copy's name.
func (p *Program) joinModules(ctx context.Context, root string, pkg Package) (string, error) {
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	module := pkg.module.Module.Path
	text := string(ours) + fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, pkg.root)
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
