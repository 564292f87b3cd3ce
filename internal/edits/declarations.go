package edits

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// Declaration is a top-level declaration of a Go file, with its comment.
type Declaration struct {
	Name, Text string
	Body       string // of a function
}

// Declarations returns the declarations of a file, without its imports.
func Declarations(source string) (found []Declaration, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	text := func(from, to token.Pos) string { return source[files.Position(from).Offset:files.Position(to).Offset] }
	last := file.Name.End()
	for _, d := range file.Decls {
		if name := nameOf(d); name != "" {
			one := Declaration{Name: name, Text: text(last, d.End())}
			if f, ok := d.(*ast.FuncDecl); ok {
				one.Body = text(f.Body.Pos(), f.Body.End())
			}
			found = append(found, one)
		}
		last = d.End()
	}
	return found, nil
}

func nameOf(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		name := ""
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				name += ", " + spec.Name.Name
			case *ast.ValueSpec:
				name += ", " + spec.Names[0].Name
			}
		}
		return name[min(2, len(name)):]
	}
	return ""
}
