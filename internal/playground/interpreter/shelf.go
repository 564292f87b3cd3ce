package interpreter

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/types"
	"path"
)

// The shelf has what is generic in Go's libraries, written in Go: reflection calls no generic
// function. It is interpreted as the lock is.
//
//go:embed shelf
var shelf embed.FS

// Import is the [types.Importer] of a lock: what a library has, with what the shelf has of it.
func (l *loader) Import(name string) (*types.Package, error) {
	if p, ok := l.shelved[name]; ok {
		return p, nil
	}
	file := path.Join("shelf", name, path.Base(name)+".go")
	text, err := shelf.ReadFile(file)
	if err != nil {
		return l.natives.Import(name)
	}
	tree, err := parser.ParseFile(l.fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: l.natives, GoVersion: goVersion}
	p, err := config.Check(name, l.fset, []*ast.File{tree}, l.info)
	if err != nil {
		return nil, err
	}
	if native, err := l.natives.Import(name); err == nil {
		for _, known := range native.Scope().Names() {
			p.Scope().Insert(native.Scope().Lookup(known))
		}
	}
	l.trees, l.shelved[name] = append(l.trees, tree), p
	return p, nil
}
