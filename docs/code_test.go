package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// sourceOf is a declaration with its comment, or a whole file that is not Go:
// "stage1_setnx_expire/mutex.go Mutex.TryLock".
func sourceOf(words []string) (string, error) {
	if len(words) == 0 {
		return "", fmt.Errorf("which code? <!-- code stage1_setnx_expire/mutex.go Mutex.TryLock -->")
	}
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(words[0])))
	if err != nil {
		return "", err
	}
	isGo := strings.HasSuffix(words[0], ".go")
	switch {
	case !isGo && len(words) == 1:
		return string(raw), nil
	case !isGo || len(words) != 2:
		return "", fmt.Errorf("%s: name one declaration of a Go file, as in Mutex.TryLock", strings.Join(words, " "))
	}
	return declaration(words[0], string(raw), words[1])
}

// declaration is the declaration of that name, with its comment.
func declaration(file, source, name string) (string, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range tree.Decls {
		for _, n := range declared(d) {
			if n == name {
				return source[files.Position(begin(d)).Offset:files.Position(d.End()).Offset] + "\n", nil
			}
		}
	}
	return "", fmt.Errorf("%s declares no %s", file, name)
}

// declared are the names that a declaration declares; a method is Type.Method.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		return []string{fmt.Sprint(receiver, ".", d.Name.Name)}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// begin is where a declaration begins, with its comment.
func begin(d ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch d := d.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return d.Pos()
}
