package interpreter

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"sync"

	"lockkata/internal/texts"
)

// compiler turns the syntax of a lock, which has been checked, into closures.
type compiler struct {
	natives *natives
	program *program
	info    *types.Info
	pkg     *types.Package
	own     map[*types.Package]bool // whose code is interpreted: the lock's, and the shelf's

	within       map[*types.Named]bool // whose reflect.Type is being made
	circular     map[*types.Named]bool // functions whose type refers to itself
	reflects     map[types.Type]reflect.Type
	canonicals   []types.Type
	codes        map[*types.Func]*code
	generics     map[*types.Func]*ast.FuncDecl
	instances    []instance
	instantiated *types.Context
	globals      map[types.Object]reflect.Value
	params       map[*types.TypeParam]types.Type
	scope        *scope // of the function that is being compiled

	late        sync.Mutex // what is found while the lock runs
	lateMethods []lateMethod
}

// code is a function of the lock.
type code struct {
	name     string
	passesOn bool // it only sends what others send
	shelved  bool // it is none of the lock's files: its lines tell nobody anything
	params   []variableAt
	results  []variableAt
	vars     int
	captured []int // its variables that are another function's
	body     exec
}

// variableAt is a variable of a function: where it is, and how a new one is made.
type variableAt struct {
	slot int
	zero func() reflect.Value
}

// scope knows where the variables of a function are.
type scope struct {
	outer   *scope
	code    *code
	results *types.Tuple
	slots   map[types.Object]int
	from    []int // where in outer the captured ones are
}

func (s *scope) declare(o types.Object) int {
	slot := s.code.vars
	s.code.vars++
	s.slots[o] = slot
	return slot
}

// slot is where a variable of this function, or of one around it, is.
func (s *scope) slot(o types.Object) (int, bool) {
	if slot, ok := s.slots[o]; ok {
		return slot, true
	}
	if s.outer == nil {
		return 0, false
	}
	from, ok := s.outer.slot(o)
	if !ok {
		return 0, false
	}
	s.from = append(s.from, from)
	slot := s.declare(o)
	s.code.captured = append(s.code.captured, slot)
	return slot, true
}

// refusal is why a lock cannot be run here, though it may be right.
type refusal struct {
	at   token.Pos
	what texts.Said
}

// refuse gives up: what the interpreter does not know it does not guess.
func (c *compiler) refuse(at token.Pos, what texts.Said) {
	panic(refusal{at, what})
}

// newCode is the code of a function of a package, before it is compiled. Its name is the one
// that a compiled lock's stack would tell.
func (c *compiler) newCode(f *types.Func) *code {
	code := &code{name: f.Name(), shelved: f.Pkg() != c.pkg}
	code.passesOn = code.shelved
	generic := map[bool]string{true: "[...]"}
	recv := f.Signature().Recv()
	if recv == nil {
		code.name += generic[f.Signature().TypeParams().Len() > 0]
		return code
	}
	of, isPointer := structure(recv.Type())
	if named, ok := types.Unalias(of).(*types.Named); ok && !isPointer {
		code.name = named.Obj().Name() + generic[named.TypeParams().Len() > 0] + "." + code.name
	}
	code.passesOn = code.passesOn || c.sends(of)
	return code
}

// sends tells whether a struct embeds a client of go-redis: its methods send for others,
// unless it is the lock itself.
func (c *compiler) sends(t types.Type) bool {
	if maker, ok := c.pkg.Scope().Lookup("NewMutex").(*types.Func); ok && maker.Signature().Results().Len() > 0 {
		if lock, _ := structure(maker.Signature().Results().At(0).Type()); types.Identical(lock, t) {
			return false
		}
	}
	s := c.structOf(t)
	for i := 0; s != nil && i < s.NumFields(); i++ {
		if f := s.Field(i); f.Embedded() && strings.HasSuffix(f.Name(), "Client") {
			return true
		}
	}
	return false
}

// compileFunc compiles the parameters and the body of a function.
func (c *compiler) compileFunc(into *code, isMethod bool, body *ast.BlockStmt, sig *types.Signature) *scope {
	s := &scope{outer: c.scope, code: into, slots: map[types.Object]int{}}
	c.scope = s
	defer func() { c.scope = s.outer }()
	declare := func(v *types.Var) variableAt { return variableAt{s.declare(v), c.zero(c.given(v.Type()))} }
	if isMethod {
		into.params = append(into.params, declare(sig.Recv()))
	}
	for v := range sig.Params().Variables() {
		into.params = append(into.params, declare(v))
	}
	s.results, _ = c.given(sig.Results()).(*types.Tuple)
	for v := range sig.Results().Variables() {
		into.results = append(into.results, declare(v))
	}
	do := c.block(body.List)
	into.body = func(f *frame) next {
		n := do(f)
		if n.how != returns {
			f.at = body.Rbrace
		}
		return n
	}
	return s
}

// typeOf is the type of an expression.
func (c *compiler) typeOf(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return c.given(t)
	}
	panic(refusal{e.Pos(), thisExpression.With()})
}

// typeOfObject is the type of a variable.
func (c *compiler) typeOfObject(o types.Object) types.Type { return c.given(o.Type()) }

// as is the value of an expression where a type is wanted.
func (c *compiler) as(e ast.Expr, to types.Type) eval {
	if tv := c.info.Types[e]; tv.Value != nil && !types.IsInterface(to) {
		return c.constant(e.Pos(), tv.Value, to)
	}
	return c.convert(c.expr(e), e.Pos(), c.typeOf(e), to)
}

// constant is a value that is known.
func (c *compiler) constant(at token.Pos, value constant.Value, t types.Type) eval {
	v := reflect.New(c.reflected(t)).Elem()
	switch {
	case v.CanInt():
		n, _ := constant.Int64Val(constant.ToInt(value))
		v.SetInt(n)
	case v.CanUint():
		n, _ := constant.Uint64Val(constant.ToInt(value))
		v.SetUint(n)
	case v.CanFloat():
		n, _ := constant.Float64Val(value)
		v.SetFloat(n)
	case v.Kind() == reflect.Bool:
		v.SetBool(constant.BoolVal(value))
	case v.Kind() == reflect.String:
		v.SetString(constant.StringVal(value))
	default:
		c.refuse(at, constantOfType.With("type", t.String()))
	}
	fixed := reflect.ValueOf(v.Interface())
	return func(*frame) reflect.Value { return fixed }
}

// expr is the value of an expression: nothing that is done later changes it.
func (c *compiler) expr(e ast.Expr) eval {
	e = ast.Unparen(e)
	tv := c.info.Types[e]
	if tv.Value != nil {
		return c.constant(e.Pos(), tv.Value, types.Default(c.given(tv.Type)))
	}
	if isNil(tv.Type) || tv.IsNil() {
		return func(*frame) reflect.Value { return reflect.Value{} }
	}
	get := c.operand(e)
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		return func(f *frame) reflect.Value {
			v := get(f)
			if !v.CanAddr() {
				return v
			}
			return variableOf(v)
		}
	}
	return get // it is new
}

// operand is an expression as something that is looked at at once, or changed: a variable
// is that variable.
func (c *compiler) operand(e ast.Expr) eval {
	e = ast.Unparen(e)
	if tv := c.info.Types[e]; tv.Value != nil {
		return c.constant(e.Pos(), tv.Value, types.Default(c.given(tv.Type)))
	}
	switch e := e.(type) {
	case *ast.Ident:
		return c.ident(e)
	case *ast.SelectorExpr:
		return c.selector(e)
	case *ast.StarExpr:
		return c.star(e)
	case *ast.UnaryExpr:
		return c.unary(e)
	case *ast.BinaryExpr:
		return c.binary(e)
	case *ast.CallExpr:
		return c.single(e)
	case *ast.IndexExpr:
		return c.index(e)
	case *ast.IndexListExpr:
		return c.funcValue(e)
	case *ast.SliceExpr:
		return c.slice(e)
	case *ast.CompositeLit:
		return c.literal(e)
	case *ast.FuncLit:
		return c.closure(e)
	case *ast.TypeAssertExpr:
		assert, get, from, to := c.assertion(e), c.operand(e.X), c.typeOf(e.X), c.typeOf(e)
		return func(f *frame) reflect.Value {
			v, ok := assert(f)
			if !ok {
				panic(c.wrongType(from, to, dynamic(get(f))))
			}
			return v
		}
	}
	c.refuse(e.Pos(), thisExpression.With())
	return nil
}

func (c *compiler) ident(e *ast.Ident) eval {
	if v, ok := c.natives.values[c.info.ObjectOf(e)]; ok {
		return func(*frame) reflect.Value { return v }
	}
	switch o := c.info.ObjectOf(e).(type) {
	case *types.Var:
		if slot, ok := c.scope.slot(o); ok {
			return func(f *frame) reflect.Value { return f.vars[slot] }
		}
		if v, ok := c.globals[o]; ok {
			return func(*frame) reflect.Value { return v }
		}
	case *types.Func:
		return c.funcValue(e)
	case *types.Nil:
		return func(*frame) reflect.Value { return reflect.Value{} }
	}
	c.refuse(e.Pos(), texts.Text(e.Name).With())
	return nil
}

// funcValue is a function of the lock as a value.
func (c *compiler) funcValue(e ast.Expr) eval {
	code, t := c.funcOf(e), c.reflected(c.typeOf(e))
	return func(f *frame) reflect.Value { return f.thread.program.function(t, code.run) }
}

// run calls a function that has no receiver and no variables of another one.
func (code *code) run(f *frame, args []reflect.Value) []reflect.Value {
	return f.thread.call(code, nil, args, f.deferring())
}

// closure is a function literal. It shares the variables that are around it.
func (c *compiler) closure(e *ast.FuncLit) eval {
	t := c.reflected(c.typeOf(e))
	inner := &code{name: c.scope.code.name, passesOn: c.scope.code.passesOn, shelved: c.scope.code.shelved}
	s := c.compileFunc(inner, false, e.Body, c.info.TypeOf(e).(*types.Signature))
	return func(f *frame) reflect.Value {
		captured := make([]reflect.Value, len(s.from))
		for i, slot := range s.from {
			captured[i] = f.vars[slot]
		}
		return f.thread.program.function(t, func(f *frame, args []reflect.Value) []reflect.Value {
			return f.thread.call(inner, captured, args, f.deferring())
		})
	}
}

// star is what a pointer points to.
func (c *compiler) star(e *ast.StarExpr) eval {
	get, deref := c.operand(e.X), c.deref(c.typeOf(e.X))
	return func(f *frame) reflect.Value { return deref(get(f)) }
}

// address is a pointer to an operand.
func (c *compiler) address(e ast.Expr) eval {
	get, pointerTo := c.operand(e), c.pointerTo(c.typeOf(e))
	return func(f *frame) reflect.Value {
		v := get(f)
		if !v.CanAddr() { // a literal
			v = variableOf(v)
		}
		return pointerTo(v)
	}
}
