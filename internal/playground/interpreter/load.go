package interpreter

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"lockkata/internal/texts"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
)

// Problem is why a lock does not run, or does not go on.
type Problem struct {
	File   string `json:"file"` // "" if it is about no line
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Text   string `json:"text"` // one sentence, in English
	said   texts.Said
}

// Error is the place and the sentence.
func (p Problem) Error() string {
	if p.File == "" {
		return p.Text
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// In is the problem with its sentence in a language.
func (p Problem) In(l texts.Language) Problem {
	if p.said.Text != "" {
		p.Text = p.said.In(l)
	}
	return p
}

// ProblemAt is a problem at a line of a file.
func ProblemAt(file string, line int, why texts.Said) Problem {
	return problemAt(token.Position{Filename: file, Line: line, Column: 1}, why)
}

const goVersion = "go1.26"

// Load reads the files of a lock, by their names: Go files of one package, and what they
// embed. dir is what the lines of the lock are said to be in.
func Load(dir string, files map[string]string) (*Lock, []Problem) {
	l := newLoader(files)
	if l.parse(); len(l.problems) > 0 {
		return nil, l.problems
	}
	if l.check(); len(l.problems) > 0 {
		return nil, l.problems
	}
	c, problem := l.compile(dir)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	var lock *Lock
	if refused := c.program.refusing(func() { lock, problem = c.lock() }); refused != nil {
		problem = refused
	}
	if problem != nil {
		return nil, []Problem{*problem}
	}
	return lock, nil
}

type loader struct {
	natives  *natives
	files    map[string]string
	fset     *token.FileSet
	trees    []*ast.File
	shelved  map[string]*types.Package
	inits    []*code
	info     *types.Info
	pkg      *types.Package
	problems []Problem
}

func newLoader(files map[string]string) *loader {
	return &loader{files: files, fset: token.NewFileSet(), natives: theNatives(), shelved: map[string]*types.Package{}}
}

func (l *loader) problem(at token.Position, why texts.Said) {
	l.problems = append(l.problems, problemAt(at, why))
}

func (l *loader) parse() {
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(l.fset, name, l.files[name], parser.ParseComments|parser.SkipObjectResolution)
		if all, ok := err.(scanner.ErrorList); ok {
			for _, one := range all {
				l.problem(one.Pos, texts.Text(one.Msg).With())
			}
		}
		l.trees = append(l.trees, tree)
	}
	if len(l.trees) == 0 {
		l.problem(token.Position{}, noGoFile.With())
	}
}

func (l *loader) check() {
	l.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{},
	}
	config := types.Config{Importer: l, Sizes: types.SizesFor("gc", "amd64"), GoVersion: goVersion, Error: func(err error) {
		if e, ok := err.(types.Error); ok {
			l.problem(l.fset.Position(e.Pos), sentence(e.Msg))
		}
	}}
	l.pkg, _ = config.Check("lock", l.fset, l.trees, l.info) // it has told Error
}

// sentence says what the checker says. What it does not find may be there for a compiler.
func sentence(said string) texts.Said {
	if _, name, ok := strings.Cut(said, "could not import "); ok {
		name, _, _ = strings.Cut(name, " ")
		return noPackage.With("name", name)
	}
	if name, ok := strings.CutPrefix(said, "undefined: "); ok && strings.Contains(name, ".") {
		return notKnown.With("name", name)
	}
	if strings.Contains(said, "has no field or method") {
		return ifGoHasIt.With("said", said)
	}
	return texts.Text(strings.ReplaceAll(said, "\n\t", ", ")).With()
}

// compile makes closures of the package, and its variables.
func (l *loader) compile(dir string) (c *compiler, problem *Problem) {
	p := &program{natives: l.natives, fset: l.fset, dir: dir}
	c = &compiler{
		natives: l.natives, program: p, info: l.info, pkg: l.pkg, own: map[*types.Package]bool{l.pkg: true},
		within: map[*types.Named]bool{}, circular: map[*types.Named]bool{}, reflects: map[types.Type]reflect.Type{},
		instantiated: types.NewContext(), codes: map[*types.Func]*code{}, generics: map[*types.Func]*ast.FuncDecl{}, globals: map[types.Object]reflect.Value{},
	}
	for _, p := range l.shelved {
		c.own[p] = true
	}
	p.compiler = c
	problem = p.refusing(func() {
		for _, compile := range l.declare(c) {
			compile()
		}
		l.initialize(c)
	})
	if problem == nil {
		problem = p.trouble.Load()
	}
	return c, problem
}

// refusing is why something was refused; nil if it was not.
func (p *program) refusing(do func()) (problem *Problem) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			found := p.problem(r.at, beyond.With("what", r.what))
			problem = &found
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

// declare makes the functions and the variables of the package; what it returns compiles
// the bodies.
func (l *loader) declare(c *compiler) (bodies []func()) {
	for _, tree := range l.trees {
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				f := l.info.Defs[d.Name].(*types.Func)
				if d.Body == nil {
					c.refuse(d.Pos(), withoutBody.With())
				}
				if f.Signature().TypeParams().Len()+f.Signature().RecvTypeParams().Len() > 0 {
					c.generics[f] = d
					continue
				}
				code := c.newCode(f)
				if c.codes[f] = code; d.Recv == nil && d.Name.Name == "init" {
					l.inits = append(l.inits, code)
				}
				bodies = append(bodies, func() { c.compileFunc(code, d.Recv != nil, d.Body, f.Signature()) })
			case *ast.GenDecl:
				l.declareVariables(c, d)
			}
		}
	}
	return bodies
}

func (l *loader) declareVariables(c *compiler, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, name := range v.Names {
			if o := l.info.Defs[name]; o != nil {
				c.globals[o] = c.zero(o.Type())()
				l.embed(c, c.globals[o], name, d.Doc, v.Doc)
			}
		}
	}
}

// embed fills a variable with the file that a go:embed comment names.
func (l *loader) embed(c *compiler, variable reflect.Value, name *ast.Ident, comments ...*ast.CommentGroup) {
	for _, group := range comments {
		if group == nil {
			continue
		}
		for _, comment := range group.List {
			file, ok := strings.CutPrefix(comment.Text, "//go:embed ")
			if !ok {
				continue
			}
			text, there := l.files[strings.TrimSpace(file)]
			switch {
			case !there:
				panic(refusal{comment.Pos(), missingFile.With("name", strings.TrimSpace(file))})
			case variable.Kind() == reflect.String:
				variable.SetString(text)
			case variable.Type() == reflect.TypeFor[[]byte]():
				variable.SetBytes([]byte(text))
			default:
				c.refuse(name.Pos(), embedFor.With("type", variable.Type().String()))
			}
		}
	}
}

// initialize gives the variables of the package their values, in Go's order, and calls init.
func (l *loader) initialize(c *compiler) {
	for _, one := range l.info.InitOrder {
		init := &code{name: "init"}
		c.scope = &scope{code: init, slots: map[types.Object]int{}}
		assign := &ast.AssignStmt{TokPos: one.Rhs.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{one.Rhs}}
		for _, v := range one.Lhs {
			id := &ast.Ident{NamePos: one.Rhs.Pos(), Name: v.Name()}
			l.info.Uses[id] = v
			l.info.Types[id] = types.TypeAndValue{Type: v.Type()}
			assign.Lhs = append(assign.Lhs, id)
		}
		do := c.assign(assign)
		init.body = func(f *frame) next { do(f); return next{} }
		c.scope = nil
		c.program.within(func(f *frame) {
			f.at = one.Rhs.Pos()
			f.thread.call(init, nil, nil, nil)
		}, false)
	}
	for _, init := range l.inits {
		c.program.within(func(f *frame) { f.thread.call(init, nil, nil, nil) }, false)
	}
}
