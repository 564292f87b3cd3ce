package apart

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"lockkata/internal/i18n"
)

// CompileError is the first error that keeps a lock from being compiled.
type CompileError struct {
	File string       `json:"file"` // "" if the error is about no line
	Line int          `json:"line,omitempty"`
	Text i18n.Message `json:"text"`
	API  bool         `json:"other_api,omitempty"` // the lock compiles, but the failures cannot call it
}

var (
	doesNotCompile = i18n.New("it does not compile")
	hasOtherAPI    = i18n.New("the failures cannot call it")
)

// Kind returns which of the two errors it is.
func (e *CompileError) Kind() i18n.Text {
	if e.API {
		return hasOtherAPI
	}
	return doesNotCompile
}

func (e *CompileError) Error() string { return e.Localize(i18n.English) }

// Localize returns the error in a language; the compiler's own text stays English.
func (e *CompileError) Localize(l i18n.Language) string {
	if e.File == "" {
		return e.Text.Localize(l)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text.Localize(l))
}

// shape is the declarations of a lock's package that the failures need to make a lock.
type shape struct {
	name, path  string // of the package: its name and import path
	code        string // the beginning of the import paths of its code
	hasSubject  bool
	hasNewMutex bool
	isGraded    bool     // then NewMutex may return no error
	noError     bool     // NewMutex returns none
	option      string   // the type of NewMutex's options; "" without options
	hasFixed    bool     // it has the option WithoutWatchdog
	hasLimit    bool     // it has the option WithMaxHold
	isHolding   bool     // Lock returns a hold
	frames      []string // of types that embed a go-redis client, and send what the lock gives them
}

// The funcs that make a lock for the failures.
const (
	mutexFunc   = "NewMutex(rdb redis.UniversalClient, name string, lease time.Duration) (*Mutex, error)"
	subjectFunc = "Subject() failures.Subject"
)

// Errors of a lock that cannot be played.
var (
	noGoFile   = i18n.New("there is no Go file: kata reset brings the start back")
	noNewMutex = i18n.New("there is no func " + mutexFunc + ", and no func " + subjectFunc)
	tooLong    = i18n.New("the file has {n} MB, so this is no lock: a lock has some kilobytes")
	isMain     = i18n.New("the package is main, which cannot be imported: call it mylock")
	isExcluded = i18n.New("a build tag, or the file's name, excludes it on this machine")

	cannotBuild = i18n.New("the go command cannot build your lock: {why}; if a module is missing, run go mod download once, with a network, in the folder of the repository")
	noMethod    = i18n.New("Your {type} has no method {method}.")
	otherMethod = i18n.New("The failures call {wanted}, but your {type} has {have}.")
	itHolds     = i18n.New("Lock of your {type} returns {result}, a hold: tell the failures so in func Subject() failures.Subject, with New: adapters.Holding(…, ErrLocked, ErrLost). docs/kata.md has an example.")
	notWrapped  = i18n.New("a constructor of the failures gets its connections from the world: write adapters.Plain(func(rdb redis.UniversalClient, …) …), or adapters.Over for several servers ({why})")
	otherFunc   = i18n.New("the failures need func {wanted}: {why}")
)

// mostBytes is the longest file that is read as a lock's.
const mostBytes = 1 << 20

// read checks the declarations of the files before the compiler does: the compiler's errors about the
// generated program would not help the lock's author.
func (s *shape) read(files Files) error {
	isGo, excluded := false, ""
	for _, name := range files.Names() {
		if path.Ext(name) != ".go" {
			continue
		}
		if !isCompiled(name, files[name]) {
			excluded = name
			continue
		}
		isGo = true
		if len(files[name]) > mostBytes {
			return &CompileError{File: name, Line: 1, Text: tooLong.Args("n", len(files[name])>>20)}
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, files[name], parser.SkipObjectResolution)
		if all, ok := err.(scanner.ErrorList); ok {
			return &CompileError{File: name, Line: all[0].Pos.Line, Text: i18n.Text(all[0].Msg).Args()}
		}
		if tree.Name.Name == "main" {
			return &CompileError{File: name, Line: 1, Text: isMain.Args()}
		}
		s.name = tree.Name.Name
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.declare(d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					s.declareType(spec)
				}
			}
		}
	}
	switch {
	case !isGo && excluded != "":
		return &CompileError{File: excluded, Line: 1, Text: isExcluded.Args()}
	case !isGo:
		return &CompileError{Text: noGoFile.Args()}
	case !s.hasSubject && !s.hasNewMutex:
		return &CompileError{Text: noNewMutex.Args(), API: true}
	}
	return nil
}

func (s *shape) declare(f *ast.FuncDecl) {
	switch f.Name.Name {
	case "Lock":
		s.isHolding = s.isHolding || f.Recv != nil && f.Type.Results.NumFields() == 2
	case "Subject":
		s.hasSubject = true
	case "NewMutex":
		s.hasNewMutex = true
		if s.isGraded && f.Type.Results.NumFields() == 1 {
			s.noError = true
		}
		if n := len(f.Type.Params.List); n > 0 {
			if options, ok := f.Type.Params.List[n-1].Type.(*ast.Ellipsis); ok {
				s.option = types.ExprString(options.Elt)
			}
		}
	case "WithoutWatchdog":
		s.hasFixed = true
	case "WithMaxHold":
		s.hasLimit = true
	}
}

func (s *shape) declareType(spec ast.Spec) {
	named, ok := spec.(*ast.TypeSpec)
	if !ok || named.Name.Name == "Mutex" {
		return
	}
	if fields, ok := named.Type.(*ast.StructType); ok {
		for _, f := range fields.Fields.List {
			if len(f.Names) == 0 && strings.HasSuffix(types.ExprString(f.Type), "Client") {
				s.frames = append(s.frames, s.path+"."+named.Name.Name+".", s.path+".(*"+named.Name.Name+").")
			}
		}
	}
}

var (
	compilerLine = regexp.MustCompile(`(?m)^(?:vet: )?([^:\n]*\.go):(\d+)(?::\d+)?: (.*)$`)
	misses       = regexp.MustCompile(`\(value of type \*?(?:\w+\.)?(\w+)\).*\(missing method (\w+)\)`)
	differs      = regexp.MustCompile(`\((?:value of )?type \*?(?:\w+\.)?(\w+)\).*\(wrong type for method \w+\)\n\s*have (.*)\n\s*want (.*)`)
	signatures   = map[string]string{
		"Lock": "Lock(ctx context.Context) error", "TryLock": "TryLock(ctx context.Context) (bool, error)", "Unlock": "Unlock(ctx context.Context) error",
	}
)

// compileError returns the first error in the compiler's output.
func compileError(output string, err error) error {
	var exit *exec.ExitError
	at := compilerLine.FindStringSubmatch(output)
	switch {
	case at == nil && strings.HasPrefix(output, "go: "):
		first, _, _ := strings.Cut(output, "\n")
		return cannotBuild.Args("why", first)
	case at == nil && errors.As(err, &exit):
		return &CompileError{Text: i18n.Text(strings.TrimSpace(output)).Args()}
	case at == nil:
		return fmt.Errorf("go build: %w", err)
	}
	found := &CompileError{Text: i18n.Text(at[3]).Args()}
	found.Line, _ = strconv.Atoi(at[2]) // the pattern matches digits
	found.File = path.Base(filepath.ToSlash(at[1]))
	if strings.HasSuffix(found.File, testFile) { // ours
		wanted := mutexFunc
		if strings.Contains(at[3], "Subject") {
			wanted = subjectFunc
		}
		found.File, found.Line, found.API, found.Text = "", 0, true, otherFunc.Args("wanted", wanted, "why", at[3])
	} else if _, file, isCopy := strings.Cut(found.File, "_mylock_"); isCopy {
		found.File = file
	}
	if strings.HasPrefix(at[3], "cannot use ") && strings.Contains(at[3], "as world.Constructor value") {
		found.Text = notWrapped.Args("why", at[3])
	}
	if missing := misses.FindStringSubmatch(output); missing != nil && signatures[missing[2]] != "" {
		found.Text = noMethod.Args("type", missing[1], "method", signatures[missing[2]])
	} else if other := differs.FindStringSubmatch(output); other != nil {
		found.Text = otherMethod.Args("type", other[1], "have", other[2], "wanted", other[3])
		if _, result, isHold := strings.Cut(other[2], "Lock(context.Context) ("); isHold {
			found.Text = itHolds.Args("type", other[1], "result", "("+result)
		}
	}
	return found
}

// isCompiled reports whether Go would compile the file here. A malformed file is compiled, so that
// the compiler reports it.
func isCompiled(name, text string) bool {
	c := build.Default
	c.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	match, err := c.MatchFile("", name)
	return match || err != nil
}
