package kata

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"

	"lockkata/internal/i18n"
)

// shape is what a lock's files declare, as far as it decides how the lock is made a
// subject of the catalogue.
type shape struct {
	name    string                   // of the package, in the program
	funcs   map[string]*ast.FuncType // of methods as Mutex.Lock
	places  map[string]string        // where these are: mutex.go:57
	vars    map[string]bool
	senders []string // structs that embed a client of go-redis: they send for others
}

// What a lock's author is told of its shape.
var (
	noGoFile   = i18n.New("there is no Go file: kata reset brings the start back")
	noNewMutex = i18n.New("there is no func NewMutex(rdb redis.UniversalClient, name string, lease " +
		"time.Duration), nor an adapter's func Subject() failures.Subject")
	notOwnType = i18n.New("{line}: Lock returns a {type}: let it return a hold of a type of your own, (*Hold, error), " +
		"with Unlock(context.Context) error and Context() context.Context; or write func Subject() failures.Subject")
	noRelease = i18n.New("Lock returns a {type}, which nobody can release: write func (h *{type}) " +
		"Unlock(ctx context.Context) error, or without the context")
	noErrLocked = i18n.New("Lock returns a hold, so TryLock needs an error that says that somebody else has " +
		"the lock: var ErrLocked = errors.New(\"…\")")
	noErrLost = i18n.New("a {type} has a Context, which ends with a cause when the hold is lost: var ErrLost = errors.New(\"…\")")
	unfitting = i18n.New("{line}: {name}{is} does not fit: the failures call {name}{wanted}. A lock of " +
		"another shape needs func Subject() failures.Subject")
)

// subjectOf is the expression that makes a lock a subject. It looks at what the files
// declare before the compiler does: what that would say about the generated program would
// mean nothing to their author. importPath is the lock's.
func subjectOf(files Files, name, importPath string) (string, error) {
	s := shape{name: name, funcs: map[string]*ast.FuncType{}, places: map[string]string{}, vars: map[string]bool{}}
	isGo := false
	for _, file := range files.names() {
		if path.Ext(file) != ".go" {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parse(fset, file, files[file])
		if err != nil {
			return "", err
		}
		isGo = true
		s.declare(fset, tree)
	}
	switch {
	case !isGo:
		return "", &CompileError{Text: noGoFile.Args()}
	case s.funcs["Subject"] != nil:
		return name + ".Subject()", nil
	case s.funcs["NewMutex"] == nil:
		return "", &CompileError{Text: noNewMutex.Args()}
	}
	return s.subject(importPath)
}

// declare notes what a file declares.
func (s *shape) declare(fset *token.FileSet, tree *ast.File) {
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = bare(d.Recv.List[0].Type) + "." + name
			}
			s.funcs[name] = d.Type
			at := fset.Position(d.Pos())
			s.places[name] = fmt.Sprintf("%s:%d", at.Filename, at.Line)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.declareSpec(spec)
			}
		}
	}
}

func (s *shape) declareSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			s.vars[name.Name] = true
		}
	case *ast.TypeSpec:
		fields, isStruct := spec.Type.(*ast.StructType)
		for i := 0; isStruct && i < len(fields.Fields.List); i++ {
			if f := fields.Fields.List[i]; len(f.Names) == 0 && strings.HasSuffix(bare(f.Type), "Client") {
				s.senders = append(s.senders, spec.Name.Name)
			}
		}
	}
}

// bare is a type's name without the star.
func bare(of ast.Expr) string { return strings.TrimPrefix(types.ExprString(of), "*") }

// signature is a function's type without the names of its parameters.
func signature(f *ast.FuncType) string {
	in, out := list(f.Params), list(f.Results)
	if len(out) > 1 {
		return "(" + strings.Join(in, ", ") + ") (" + strings.Join(out, ", ") + ")"
	}
	return strings.TrimSpace("(" + strings.Join(in, ", ") + ") " + strings.Join(out, ""))
}

func list(fields *ast.FieldList) (all []string) {
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for range max(1, len(f.Names)) {
			all = append(all, types.ExprString(f.Type))
		}
	}
	return all
}

// What the methods of a lock and of a hold have to look like, H being the hold.
const (
	plainLock = "(context.Context) error"
	plainTry  = "(context.Context) (bool, error)"
	holdLock  = "(context.Context) (H, error)"
)

// subject is the expression for a lock with a NewMutex. What a hold can do adapters.Holding
// finds out by itself.
func (s *shape) subject(importPath string) (string, error) {
	made := list(s.funcs["NewMutex"].Results)
	if len(made) != 2 || made[1] != "error" {
		return "", s.unfit("NewMutex", "(redis.UniversalClient, string, time.Duration) (*Mutex, error)")
	}
	mutex, isPointer := strings.CutPrefix(made[0], "*")
	star := ""
	if isPointer {
		star = "*"
	}
	hold := ""
	if lock := s.funcs[mutex+".Lock"]; lock != nil && len(list(lock.Results)) == 2 {
		hold = list(lock.Results)[0]
	}
	if err := s.fits(mutex, hold); err != nil {
		return "", err
	}
	create := func(options string) string {
		made := fmt.Sprintf("%s.NewMutex(r, n, l%s)", s.name, options)
		if hold == "" {
			return "func(r redis.UniversalClient, n string, l time.Duration) (failures.Locker, error) { return " + made + " }"
		}
		lost := "nil"
		if s.vars["ErrLost"] {
			lost = s.name + ".ErrLost"
		}
		return fmt.Sprintf("adapters.Holding(func(r redis.UniversalClient, n string, l time.Duration) (%s%s.%s, error) { return %s }, %s.ErrLocked, %s)",
			star, s.name, mutex, made, s.name, lost)
	}
	variants := ""
	if s.funcs["WithoutWatchdog"] != nil {
		variants += "failures.FixedLease: " + create(", "+s.name+".WithoutWatchdog()") + ", "
	}
	if s.funcs["WithMaxHold"] != nil {
		variants += "failures.Limited: " + create(", "+s.name+".WithMaxHold(3*l)") + ", "
	}
	skip := ""
	for _, sender := range s.senders {
		if sender != mutex {
			skip += fmt.Sprintf("%q, %q, ", importPath+"."+sender+".", importPath+".(*"+sender+").")
		}
	}
	return fmt.Sprintf("{Name: \"mylock\", New: %s, Variants: map[failures.Variant]world.Constructor{%s}, SkipFrames: []string{%s}}",
		create(""), variants, skip), nil
}

// fits wants the methods of a lock to be those that the failures call. One that the files
// do not declare may come from a field: the compiler decides.
func (s *shape) fits(mutex, hold string) error {
	wanted := [][2]string{{mutex + ".Lock", plainLock}, {mutex + ".TryLock", plainTry}, {mutex + ".Unlock", plainLock}}
	switch {
	case hold == "":
	case strings.Contains(hold, "."):
		return &CompileError{Text: notOwnType.Args("line", s.places[mutex+".Lock"], "type", hold)}
	default:
		held := strings.ReplaceAll(holdLock, "H", hold)
		wanted = [][2]string{{mutex + ".Lock", held}, {mutex + ".TryLock", held}}
	}
	for _, w := range wanted {
		if f := s.funcs[w[0]]; f != nil && signature(f) != w[1] {
			return s.unfit(w[0], w[1])
		}
	}
	if hold == "" {
		return nil
	}
	return s.fitsHold(strings.TrimPrefix(hold, "*"))
}

// fitsHold wants a hold that can be released, and the errors by which the failures know a
// refusal and a loss.
func (s *shape) fitsHold(hold string) error {
	releases := false
	for _, method := range []string{"Unlock", "Release"} {
		f := s.funcs[hold+"."+method]
		releases = releases || f != nil && (signature(f) == "() error" || signature(f) == plainLock)
	}
	switch {
	case !releases:
		return &CompileError{Text: noRelease.Args("type", hold)}
	case !s.vars["ErrLocked"]:
		return &CompileError{Text: noErrLocked.Args()}
	case s.funcs[hold+".Context"] != nil && !s.vars["ErrLost"]:
		return &CompileError{Text: noErrLost.Args("type", hold)}
	}
	return nil
}

// unfit is the error of a function that the failures cannot call.
func (s *shape) unfit(name, wanted string) error {
	_, method, isMethod := strings.Cut(name, ".")
	if !isMethod {
		method = name
	}
	return &CompileError{Text: unfitting.Args("line", s.places[name], "name", method, "is", signature(s.funcs[name]), "wanted", wanted)}
}
