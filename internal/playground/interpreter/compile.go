package interpreter

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"sync"
)

// compiler turns the syntax of a lock, which has been checked, into closures.
type compiler struct {
	natives *natives
	program *program
	info    *types.Info
	pkg     *types.Package

	layouts []*layout
	within  map[*types.Named]bool // whose reflect.Type is being made
	codes   map[*types.Func]*code
	globals map[types.Object]reflect.Value
	scope   *scope // of the function that is being compiled

	late        sync.Mutex // what is found while the lock runs
	lateMethods []lateMethod
}

// code is a function of the lock.
type code struct {
	name     string
	passesOn bool // it only sends what others send
	params   []variableAt
	results  []variableAt
	named    bool // its results have names
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
	outer *scope
	code  *code
	sig   *types.Signature
	slots map[types.Object]int
	from  []int // where in outer the captured ones are
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
	what string
}

// refuse gives up: what the interpreter does not know it does not guess.
func (c *compiler) refuse(at token.Pos, what string) {
	panic(refusal{at, what})
}

// compileFunc compiles the parameters and the body of a function.
func (c *compiler) compileFunc(into *code, recv *ast.FieldList, f *ast.FuncType, body *ast.BlockStmt, sig *types.Signature) *scope {
	s := &scope{outer: c.scope, code: into, sig: sig, slots: map[types.Object]int{}}
	c.scope = s
	defer func() { c.scope = s.outer }()
	declare := func(v *types.Var) variableAt { return variableAt{s.declare(v), c.zero(v.Type())} }
	if recv != nil {
		into.params = append(into.params, declare(sig.Recv()))
	}
	for v := range sig.Params().Variables() {
		into.params = append(into.params, declare(v))
	}
	for v := range sig.Results().Variables() {
		into.results = append(into.results, declare(v))
		into.named = into.named || v.Name() != ""
	}
	into.body = c.block(body.List)
	return s
}

// typeOf is the type of an expression.
func (c *compiler) typeOf(e ast.Expr) types.Type {
	if t := c.info.TypeOf(e); t != nil {
		return t
	}
	panic(refusal{e.Pos(), "this expression"})
}

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
		c.refuse(at, fmt.Sprintf("a constant of the type %s", t))
	}
	fixed := reflect.ValueOf(v.Interface())
	return func(*frame) reflect.Value { return fixed }
}

// expr is the value of an expression: nothing that is done later changes it.
func (c *compiler) expr(e ast.Expr) eval {
	e = ast.Unparen(e)
	tv := c.info.Types[e]
	if tv.Value != nil {
		return c.constant(e.Pos(), tv.Value, types.Default(tv.Type))
	}
	if isNil(tv.Type) || tv.IsNil() {
		return func(*frame) reflect.Value { return reflect.Value{} }
	}
	switch e := e.(type) {
	case *ast.CompositeLit, *ast.FuncLit:
		return c.operand(e)
	case *ast.CallExpr:
		return c.single(e)
	}
	get := c.operand(e)
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
	default:
		return get // it is new
	}
	if c.structOf(tv.Type) != nil {
		return func(f *frame) reflect.Value { return reflect.ValueOf(get(f).Interface().(*object).copy()) }
	}
	return func(f *frame) reflect.Value {
		v := get(f)
		if !v.CanAddr() {
			return v
		}
		return variableOf(v)
	}
}

// operand is an expression as something that is looked at at once, or changed: a variable
// is that variable.
func (c *compiler) operand(e ast.Expr) eval {
	e = ast.Unparen(e)
	if tv := c.info.Types[e]; tv.Value != nil {
		return c.constant(e.Pos(), tv.Value, types.Default(tv.Type))
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
	case *ast.SliceExpr:
		return c.slice(e)
	case *ast.CompositeLit:
		return c.literal(e)
	case *ast.FuncLit:
		return c.closure(e)
	case *ast.TypeAssertExpr:
		assert := c.assertion(e)
		return func(f *frame) reflect.Value {
			v, ok := assert(f)
			if !ok {
				panic(runtimeError("interface conversion: it is no " + types.ExprString(e.Type)))
			}
			return v
		}
	}
	c.refuse(e.Pos(), "this expression")
	return nil
}

func (c *compiler) ident(e *ast.Ident) eval {
	switch o := c.info.ObjectOf(e).(type) {
	case *types.Var:
		if slot, ok := c.scope.slot(o); ok {
			return func(f *frame) reflect.Value { return f.vars[slot] }
		}
		if v, ok := c.globals[o]; ok {
			return func(*frame) reflect.Value { return v }
		}
	case *types.Func:
		code, t := c.codes[o], c.reflected(c.typeOf(e))
		return func(f *frame) reflect.Value { return f.thread.program.function(t, code.run) }
	case *types.Nil:
		return func(*frame) reflect.Value { return reflect.Value{} }
	}
	c.refuse(e.Pos(), e.Name)
	return nil
}

// run calls a function that has no receiver and no variables of another one.
func (code *code) run(f *frame, args []reflect.Value) []reflect.Value {
	return f.thread.call(code, nil, args, f.deferring())
}

// closure is a function literal. It shares the variables that are around it.
func (c *compiler) closure(e *ast.FuncLit) eval {
	t := c.reflected(c.typeOf(e))
	inner := &code{name: c.scope.code.name, passesOn: c.scope.code.passesOn}
	s := c.compileFunc(inner, nil, e.Type, e.Body, c.typeOf(e).(*types.Signature))
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
	get := c.operand(e.X)
	if c.pointee(c.typeOf(e.X)) != nil {
		return func(f *frame) reflect.Value { return reflect.ValueOf(present(get(f).Interface().(*object))) }
	}
	return func(f *frame) reflect.Value { return pointed(get(f)) }
}

// address is a pointer to an operand.
func (c *compiler) address(e ast.Expr) eval {
	e = ast.Unparen(e)
	get := c.operand(e)
	_, isNew := e.(*ast.CompositeLit)
	switch {
	case c.structOf(c.typeOf(e)) != nil && isNew:
		return get
	case c.structOf(c.typeOf(e)) != nil:
		return func(f *frame) reflect.Value { return reflect.ValueOf(get(f).Interface()) } // the object, not the variable
	case isNew:
		return func(f *frame) reflect.Value { return variableOf(get(f)).Addr() }
	}
	return func(f *frame) reflect.Value { return get(f).Addr() }
}

// index is an element.
func (c *compiler) index(e *ast.IndexExpr) eval {
	if _, generic := c.typeOf(e.X).Underlying().(*types.Signature); generic {
		c.refuse(e.Pos(), "a generic function")
	}
	get, at := c.operand(e.X), c.expr(e.Index)
	switch t := c.typeOf(e.X).Underlying().(type) {
	case *types.Map:
		lookup := c.lookup(e, t)
		return func(f *frame) reflect.Value { v, _ := lookup(f); return v }
	case *types.Slice, *types.Array, *types.Basic:
		return func(f *frame) reflect.Value {
			of, i := get(f), int(integer(at(f)))
			if i < 0 || i >= of.Len() {
				panic(runtimeError(fmt.Sprintf("index out of range [%d] with length %d", i, of.Len())))
			}
			return of.Index(i)
		}
	}
	c.refuse(e.Pos(), "an index of a "+c.typeOf(e.X).String())
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
	bound := func(e ast.Expr) eval {
		if e == nil {
			return nil
		}
		return c.expr(e)
	}
	low, high, most := bound(e.Low), bound(e.High), bound(e.Max)
	return func(f *frame) reflect.Value {
		of := get(f)
		from, to := 0, of.Len()
		if low != nil {
			from = int(integer(low(f)))
		}
		if high != nil {
			to = int(integer(high(f)))
		}
		limit := of.Len()
		if of.Kind() != reflect.String {
			limit = of.Cap()
		}
		if from < 0 || to < from || to > limit {
			panic(runtimeError(fmt.Sprintf("slice bounds out of range [%d:%d] with capacity %d", from, to, limit)))
		}
		if most != nil {
			return of.Slice3(from, to, int(integer(most(f))))
		}
		return of.Slice(from, to)
	}
}

// literal is a new struct, slice, array or map.
func (c *compiler) literal(e *ast.CompositeLit) eval {
	t := c.typeOf(e)
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T in a list of pointers, without the &T
		t = p.Elem()
		if c.structOf(t) == nil {
			c.refuse(e.Pos(), "a list of pointers without their &")
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return c.structLiteral(e, t, u)
	case *types.Slice:
		return c.listLiteral(e, t, u.Elem(), func(n int) reflect.Value { return reflect.MakeSlice(c.reflected(t), n, n) })
	case *types.Array:
		return c.listLiteral(e, t, u.Elem(), func(int) reflect.Value { return reflect.New(c.reflected(t)).Elem() })
	case *types.Map:
		return c.mapLiteral(e, t, u)
	}
	c.refuse(e.Pos(), "this literal")
	return nil
}

func (c *compiler) structLiteral(e *ast.CompositeLit, t types.Type, s *types.Struct) eval {
	values := make([]eval, len(e.Elts))
	fields := make([]string, len(e.Elts))
	places := make([]int, len(e.Elts))
	for i, element := range e.Elts {
		if kv, ok := element.(*ast.KeyValueExpr); ok {
			fields[i], element = kv.Key.(*ast.Ident).Name, kv.Value
		} else {
			fields[i] = s.Field(i).Name()
		}
		for n := range s.NumFields() {
			if s.Field(n).Name() == fields[i] {
				places[i] = n
			}
		}
		values[i] = c.as(element, s.Field(places[i]).Type())
	}
	zero, objects := c.zero(t), c.structOf(t) != nil
	return func(f *frame) reflect.Value {
		v := zero()
		for i, value := range values {
			if objects {
				v.Interface().(*object).fields[places[i]].Set(value(f))
			} else {
				v.FieldByName(fields[i]).Set(value(f))
			}
		}
		return v
	}
}

func (c *compiler) listLiteral(e *ast.CompositeLit, t, elem types.Type, empty func(int) reflect.Value) eval {
	var values []eval
	for _, element := range e.Elts {
		if _, keyed := element.(*ast.KeyValueExpr); keyed {
			c.refuse(element.Pos(), "a list with indexes")
		}
		values = append(values, c.as(element, elem))
	}
	c.noStructs(e.Pos(), t)
	return func(f *frame) reflect.Value {
		list := empty(len(values))
		for i, value := range values {
			list.Index(i).Set(value(f))
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
	c.noStructs(e.Pos(), t)
	r := c.reflected(t)
	return func(f *frame) reflect.Value {
		of := reflect.MakeMap(r)
		for i := range keys {
			of.SetMapIndex(keys[i](f), values[i](f))
		}
		return of
	}
}

// noStructs refuses what has structs of the lock where no variable makes each: arrays of
// them, and maps that have them as keys.
func (c *compiler) noStructs(at token.Pos, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Array:
		if c.structOf(u.Elem()) != nil {
			c.refuse(at, "an array of structs: use a slice of pointers")
		}
	case *types.Slice:
		if c.structOf(u.Elem()) != nil {
			c.refuse(at, "a slice of structs: use a slice of pointers")
		}
	case *types.Map:
		if c.structOf(u.Key()) != nil || c.structOf(u.Elem()) != nil {
			c.refuse(at, "a map of structs: use a map of pointers")
		}
	}
}
