package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
)

// target is where an assignment puts a value.
type target struct {
	typ types.Type // nil for _
	at  func(*frame) func(reflect.Value)
}

// target is the left side of an assignment. What it consists of is evaluated before the
// right side is.
func (c *compiler) target(e ast.Expr) target {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
		return target{nil, func(*frame) func(reflect.Value) { return func(reflect.Value) {} }}
	}
	t := c.typeOf(e)
	if index, ok := e.(*ast.IndexExpr); ok {
		if m, ok := c.typeOf(index.X).Underlying().(*types.Map); ok {
			of, key := c.expr(index.X), c.as(index.Index, m.Key())
			return target{t, func(f *frame) func(reflect.Value) {
				of, key := of(f), key(f)
				return func(v reflect.Value) { of.SetMapIndex(key, v) }
			}}
		}
	}
	place := c.operand(e)
	return target{t, func(f *frame) func(reflect.Value) { return place(f).Set }}
}

// assign is an assignment, also one that declares variables.
func (c *compiler) assign(s *ast.AssignStmt) func(*frame) {
	if s.Tok != token.ASSIGN && s.Tok != token.DEFINE {
		return c.update(s)
	}
	if len(s.Lhs) != len(s.Rhs) {
		return c.assignMany(s)
	}
	var values []eval
	for i, e := range s.Rhs {
		values = append(values, c.as(e, c.leftType(s.Lhs[i], e)))
	}
	all, store, late := c.list(s.Rhs, values), c.store(s), c.isLate(s)
	return func(f *frame) {
		var put []func(reflect.Value)
		if !late {
			put = store(f)
		}
		values := all(f)
		if late {
			put = store(f)
		}
		for i, v := range values {
			put[i](v)
		}
	}
}

// isLate tells whether the left side of an assignment is looked at after the right side,
// which calls something.
func (c *compiler) isLate(s *ast.AssignStmt) bool {
	return slices.ContainsFunc(s.Rhs, c.calls) && !slices.ContainsFunc(s.Lhs, c.calls)
}

// leftType is the type of the left side of an assignment; that of the right side for _.
func (c *compiler) leftType(left, right ast.Expr) types.Type {
	if id, ok := left.(*ast.Ident); ok {
		if id.Name == "_" {
			if t := c.typeOf(right); isNil(t) {
				return types.Universe.Lookup("any").Type()
			} else {
				return types.Default(t)
			}
		}
		return c.typeOfObject(c.info.ObjectOf(id))
	}
	return c.typeOf(left)
}

// store prepares the left side. A new variable is a variable of its own each time.
func (c *compiler) store(s *ast.AssignStmt) func(*frame) []func(reflect.Value) {
	var places []func(*frame) func(reflect.Value)
	for _, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" && c.info.Defs[id] != nil {
			places = append(places, c.fresh(c.info.Defs[id]))
			continue
		}
		places = append(places, c.target(e).at)
	}
	return func(f *frame) []func(reflect.Value) {
		put := make([]func(reflect.Value), len(places))
		for i, place := range places {
			put[i] = place(f)
		}
		return put
	}
}

// fresh declares a variable, which begins when it gets its value.
func (c *compiler) fresh(o types.Object) func(*frame) func(reflect.Value) {
	slot, zero := c.scope.declare(o), c.zero(c.typeOfObject(o))
	return func(f *frame) func(reflect.Value) {
		return func(v reflect.Value) {
			f.vars[slot] = zero()
			f.vars[slot].Set(v)
		}
	}
}

// assignMany assigns what one expression on the right is: a call, or one with an ok.
func (c *compiler) assignMany(s *ast.AssignStmt) func(*frame) {
	values, types := c.many(s.Rhs[0])
	var converts []conversion
	for i, e := range s.Lhs {
		to := types[i]
		if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
			to = c.leftType(e, e)
		}
		converts = append(converts, c.conversion(e.Pos(), types[i], to))
	}
	store, late := c.store(s), c.isLate(s)
	return func(f *frame) {
		var put []func(reflect.Value)
		if !late {
			put = store(f)
		}
		all := values(f)
		if late {
			put = store(f)
		}
		for i, v := range all {
			put[i](converts[i](f, v))
		}
	}
}

// many is an expression with several values, and their types.
func (c *compiler) many(e ast.Expr) (results, []types.Type) {
	var of []types.Type
	tuple, ok := c.typeOf(e).(*types.Tuple)
	if !ok {
		c.refuse(e.Pos(), twoValues.With())
	}
	for v := range tuple.Variables() {
		of = append(of, v.Type())
	}
	of[len(of)-1] = types.Default(of[len(of)-1])
	pair := func(v reflect.Value, ok bool) []reflect.Value { return []reflect.Value{v, reflect.ValueOf(ok)} }
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return c.call(e), of
	case *ast.IndexExpr:
		lookup := c.lookup(e, c.typeOf(e.X).Underlying().(*types.Map))
		return func(f *frame) []reflect.Value { return pair(lookup(f)) }, of
	case *ast.UnaryExpr:
		from := c.operand(e.X)
		return func(f *frame) []reflect.Value { return pair(f.ours(from(f)).Recv()) }, of
	case *ast.TypeAssertExpr:
		assert := c.assertion(e)
		return func(f *frame) []reflect.Value { return pair(assert(f)) }, of
	}
	c.refuse(e.Pos(), twoValues.With())
	return nil, nil
}

// assertion is a value with a type that its interface may hold: the zero value where not.
func (c *compiler) assertion(e *ast.TypeAssertExpr) func(*frame) (reflect.Value, bool) {
	get, is, zero := c.operand(e.X), c.is(c.typeOf(e.Type)), c.zero(c.typeOf(e.Type))
	return func(f *frame) (reflect.Value, bool) {
		if v, ok := is(f, dynamic(get(f))); ok {
			return v, true
		}
		return zero(), false
	}
}

// update is an assignment such as +=.
func (c *compiler) update(s *ast.AssignStmt) func(*frame) {
	op, t := s.Tok-token.ADD_ASSIGN+token.ADD, c.typeOf(s.Lhs[0])
	if isComplex(t) {
		c.refuse(s.Pos(), complexNumbers.With())
	}
	target, old := c.target(s.Lhs[0]), c.operand(s.Lhs[0])
	if op == token.SHL || op == token.SHR {
		by := c.expr(s.Rhs[0])
		return func(f *frame) { put := target.at(f); put(shift(op, old(f), by(f))) }
	}
	by := c.as(s.Rhs[0], t)
	return func(f *frame) { put := target.at(f); put(f.arithmetic(op, old(f), by(f))) }
}

func (c *compiler) incDec(s *ast.IncDecStmt) func(*frame) {
	op := token.ADD
	if s.Tok == token.DEC {
		op = token.SUB
	}
	target, old := c.target(s.X), c.operand(s.X)
	r := c.reflected(target.typ)
	one := reflect.ValueOf(1).Convert(r)
	return func(f *frame) { put := target.at(f); put(arithmetic(op, old(f), one)) }
}

// declare is a declaration of variables inside a function.
func (c *compiler) declare(d *ast.GenDecl) func(*frame) {
	if d.Tok != token.VAR {
		return nil
	}
	var all []func(*frame)
	for _, spec := range d.Specs {
		all = append(all, c.variables(spec.(*ast.ValueSpec)))
	}
	return func(f *frame) {
		for _, do := range all {
			do(f)
		}
	}
}

func (c *compiler) variables(spec *ast.ValueSpec) func(*frame) {
	if len(spec.Values) > 0 {
		var left []ast.Expr
		for _, name := range spec.Names {
			left = append(left, name)
		}
		return c.assign(&ast.AssignStmt{Lhs: left, TokPos: spec.Pos(), Tok: token.DEFINE, Rhs: spec.Values})
	}
	var zeros []func(*frame)
	for _, name := range spec.Names {
		if o := c.info.Defs[name]; o != nil && name.Name != "_" {
			slot, zero := c.scope.declare(o), c.zero(c.typeOfObject(o))
			zeros = append(zeros, func(f *frame) { f.vars[slot] = zero() })
		}
	}
	return func(f *frame) {
		for _, do := range zeros {
			do(f)
		}
	}
}
