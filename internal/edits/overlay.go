package edits

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/adapters"
	"lockkata/failures_test/catalogue"
	"lockkata/failures_test/world"
)

// Package is the import path of a package that only a build with [Files] has. Its variable
// Active is the number of the edit to run, counted from 1, or 0 for none.
const Package = "lockkata/internal/edited"

// Files returns the files of a build in which each edit can be chosen at run time, by their
// paths in the repository. sources is the repository's root. Line numbers are those of the file
// without an edit, or with the active edit.
func Files(sources fs.FS) (map[string]string, error) {
	files := map[string]string{"internal/edited/edited.go": "package edited\n\nvar Active int\n"}
	for _, e := range All {
		if path.Ext(e.File) != ".go" || files[e.File] != "" {
			continue
		}
		raw, err := fs.ReadFile(sources, e.File)
		if err != nil {
			return nil, err
		}
		if files[e.File], err = withAllEdits(e.File, string(raw)); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// withAllEdits returns a file in which a function has one more body for each edit that changes it.
func withAllEdits(file, source string) (string, error) {
	whole, err := Declarations(source)
	if err != nil {
		return "", err
	}
	cases := make([]string, len(whole)) // the other bodies of each function
	for i, e := range All {
		if e.File != file {
			continue
		}
		text, err := e.Apply(source)
		if err != nil {
			return "", err
		}
		edited, err := Declarations(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", e.Name, err)
		}
		for n, d := range edited {
			if d.Body != whole[n].Body {
				cases[n] += fmt.Sprintf("case %d:\n%s", i+1, numbered(file, text, d))
			}
		}
	}
	as := source // the import stays
	for n, d := range whole {
		if cases[n] != "" {
			all := fmt.Sprintf("{\nswitch edited.Active {\n%sdefault:\n%s%s}}", cases[n], numbered(file, as, d), line(file, as, d.Text))
			source = strings.Replace(source, d.Text, strings.TrimSuffix(d.Text, d.Body)+all, 1)
		}
	}
	if strings.Contains(source, "edited.Active") { // on the same line, so that no line number changes
		source = strings.Replace(source, "\n\nimport (", fmt.Sprintf("; import %q\n\nimport (", Package), 1)
	}
	return source, nil
}

// numbered returns the body of a function with the line numbers of its file.
func numbered(file, source string, d Declaration) string {
	return line(file, source, strings.TrimSuffix(d.Text, d.Body)) + d.Body + "\n"
}

// line returns a directive that gives the following code the line number at which text ends.
func line(file, source, text string) string {
	before, _, _ := strings.Cut(source, text)
	return fmt.Sprintf("//line /lockkata/%s:%d\n", file, 1+strings.Count(before+text, "\n"))
}

// Overlay writes files into a folder, and returns a list of them for the go command's -overlay.
// root is the repository's folder, in which a file is unless its name is absolute.
func Overlay(folder, root string, files map[string]string) (list string, err error) {
	replace := map[string]string{}
	for name, text := range files {
		copied := filepath.Join(folder, strings.NewReplacer("/", "_", `\`, "_", ":", "_").Replace(name))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(root, filepath.FromSlash(name))
		}
		replace[name] = copied
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(folder, "overlay.json")
	return list, os.WriteFile(list, raw, 0o600)
}

// InScripts returns the lock with an edit of a Lua script: go-redis sends the edited script. Any
// other lock is returned unchanged. text is the edit's file; lock.Scripts must be set.
func (e Edit) InScripts(lock failures.Subject, text string) (failures.Subject, error) {
	for _, script := range lock.Scripts {
		if !strings.Contains(text, script) || !strings.Contains(script, e.Old) {
			continue
		}
		edited, err := e.Apply(script)
		if err != nil {
			return lock, err
		}
		lock.New = adapters.WithScript(lock.New, script, edited)
		variants := map[catalogue.Variant]world.Constructor{}
		for name, create := range lock.Variants {
			variants[name] = adapters.WithScript(create, script, edited)
		}
		lock.Variants = variants
		lock.SkipFrames = append(slices.Clip(lock.SkipFrames), "lockkata/failures_test/adapters.(*scriptHook).")
	}
	return lock, nil
}

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
