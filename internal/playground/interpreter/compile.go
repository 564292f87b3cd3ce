package interpreter

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"lockkata/internal/texts"
	"reflect"
	"strings"
	"sync"
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
	i := c.base(t)
	return i >= 0 && strings.HasSuffix(c.structOf(t).Field(i).Name(), "Client")
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
	into.body = c.block(body.List)
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

// index is an element.
func (c *compiler) index(e *ast.IndexExpr) eval {
	if _, generic := c.typeOf(e.X).Underlying().(*types.Signature); generic {
		return c.funcValue(e)
	}
	get, at := c.operand(e.X), c.expr(e.Index)
	switch t := c.typeOf(e.X).Underlying().(type) {
	case *types.Map:
		lookup := c.lookup(e, t)
		return func(f *frame) reflect.Value { v, _ := lookup(f); return v }
	case *types.Slice, *types.Array, *types.Basic, *types.Pointer:
		deref := way(func(v reflect.Value) reflect.Value { return v })
		if _, toArray := t.(*types.Pointer); toArray {
			deref = c.deref(c.typeOf(e.X))
		}
		return func(f *frame) reflect.Value {
			of, i := deref(get(f)), int(integer(at(f)))
			switch {
			case i < 0:
				panic(runtimeError(fmt.Sprintf("index out of range [%d]", i)))
			case i >= of.Len():
				panic(runtimeError(fmt.Sprintf("index out of range [%d] with length %d", i, of.Len())))
			}
			return of.Index(i)
		}
	}
	c.refuse(e.Pos(), indexOf.With("type", c.typeOf(e.X).String()))
	return nil
}

// lookup is an element of a map, and whether it is there.
func (c *compiler) lookup(e *ast.IndexExpr, t *types.Map) func(*frame) (reflect.Value, bool) {
	get, key, zero := c.operand(e.X), c.as(e.Index, t.Key()), c.zero(t.Elem())
	return func(f *frame) (reflect.Value, bool) {
		of, k := get(f), key(f)
		if v := of.MapIndex(k); v.IsValid() {
			return v, true
		}
		return zero(), false
	}
}

func integer(v reflect.Value) int64 {
	if v.CanUint() {
		return int64(v.Uint())
	}
	return v.Int()
}

// slice is a part of a slice, an array or a string.
func (c *compiler) slice(e *ast.SliceExpr) eval {
	get := c.operand(e.X)
	if _, toArray := c.typeOf(e.X).Underlying().(*types.Pointer); toArray {
		pointer, deref := get, c.deref(c.typeOf(e.X))
		get = func(f *frame) reflect.Value { return deref(pointer(f)) }
	}
	var bounds [3]eval
	for i, bound := range []ast.Expr{e.Low, e.High, e.Max} {
		if bound != nil {
			bounds[i] = c.expr(bound)
		}
	}
	return func(f *frame) reflect.Value {
		of := get(f)
		most, what := of.Len(), "length"
		if of.Kind() != reflect.String {
			most, what = of.Cap(), "capacity"
		}
		at := [3]int{0, of.Len(), most}
		for i, bound := range bounds {
			if bound != nil {
				at[i] = int(integer(bound(f)))
			}
		}
		if bounds[2] != nil {
			within(at[2], most, "slice bounds out of range [::%d] with "+what+" %d")
			within(at[1], at[2], "slice bounds out of range [:%d:%d]")
			within(at[0], at[1], "slice bounds out of range [%d:%d:]")
			return of.Slice3(at[0], at[1], at[2])
		}
		within(at[1], most, "slice bounds out of range [:%d] with "+what+" %d")
		within(at[0], at[1], "slice bounds out of range [%d:%d]")
		return of.Slice(at[0], at[1])
	}
}

// within panics as Go does if a bound of a slice is not from 0 to most.
func within(bound, most int, says string) {
	switch {
	case bound < 0:
		if before, _, both := strings.Cut(says, "%d with"); both {
			says = before + "%d]"
		}
		panic(runtimeError(fmt.Sprintf(strings.Replace(says, ":%d]", ":]", 1), bound)))
	case bound > most:
		panic(runtimeError(fmt.Sprintf(says, bound, most)))
	}
}

// literal is a new struct, slice, array or map.
func (c *compiler) literal(e *ast.CompositeLit) eval {
	t := c.typeOf(e)
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T in a list of pointers, without the &T
		get, pointerTo := c.literalOf(e, p.Elem()), c.pointerTo(p.Elem())
		return func(f *frame) reflect.Value { return pointerTo(variableOf(get(f))) }
	}
	return c.literalOf(e, t)
}

func (c *compiler) literalOf(e *ast.CompositeLit, t types.Type) eval {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return c.structLiteral(e, t, u)
	case *types.Slice:
		r := c.reflected(t)
		return c.listLiteral(e, u.Elem(), func(n int) reflect.Value { return reflect.MakeSlice(r, n, n) })
	case *types.Array:
		r := c.reflected(t)
		return c.listLiteral(e, u.Elem(), func(int) reflect.Value { return reflect.New(r).Elem() })
	case *types.Map:
		return c.mapLiteral(e, t, u)
	}
	c.refuse(e.Pos(), thisLiteral.With())
	return nil
}

func (c *compiler) structLiteral(e *ast.CompositeLit, t types.Type, s *types.Struct) eval {
	values, places := make([]eval, len(e.Elts)), make([]way, len(e.Elts))
	for i, element := range e.Elts {
		at := i
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			for at = 0; s.Field(at).Name() != kv.Key.(*ast.Ident).Name; at++ {
			}
			element = kv.Value
		}
		values[i], places[i] = c.as(element, s.Field(at).Type()), c.field(t, at)
	}
	zero, all := c.zero(t), c.list(e.Elts, values)
	return func(f *frame) reflect.Value {
		v := zero()
		for i, value := range all(f) {
			places[i](v).Set(value)
		}
		return v
	}
}

// listLiteral is a slice or an array. An element may have its index before it.
func (c *compiler) listLiteral(e *ast.CompositeLit, elem types.Type, empty func(int) reflect.Value) eval {
	values, places := make([]eval, len(e.Elts)), make([]int, len(e.Elts))
	at, n := -1, 0
	for i, element := range e.Elts {
		at++
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			index, _ := constant.Int64Val(constant.ToInt(c.info.Types[kv.Key].Value))
			at, element = int(index), kv.Value
		}
		values[i], places[i] = c.as(element, elem), at
		n = max(n, at+1)
	}
	all := c.list(e.Elts, values)
	return func(f *frame) reflect.Value {
		list := empty(n)
		for i, value := range all(f) {
			list.Index(places[i]).Set(value)
		}
		return list
	}
}

func (c *compiler) mapLiteral(e *ast.CompositeLit, t types.Type, m *types.Map) eval {
	var keys, values []eval
	for _, element := range e.Elts {
		kv := element.(*ast.KeyValueExpr)
		keys, values = append(keys, c.as(kv.Key, m.Key())), append(values, c.as(kv.Value, m.Elem()))
	}
	r := c.reflected(t)
	return func(f *frame) reflect.Value {
		of := reflect.MakeMap(r)
		for i := range keys {
			of.SetMapIndex(keys[i](f), values[i](f))
		}
		return of
	}
}
