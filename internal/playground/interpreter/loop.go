package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
)

// forLoop is a for statement. Each round has variables of its own.
func (c *compiler) forLoop(s *ast.ForStmt, label string) exec {
	begin := c.begin(s.Init)
	var own []int
	if init, ok := s.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE {
		for _, e := range init.Lhs {
			if o := c.info.Defs[e.(*ast.Ident)]; o != nil && o.Name() != "_" {
				own = append(own, c.scope.slots[o])
			}
		}
	}
	condition := func(*frame) reflect.Value { return reflect.ValueOf(true) }
	if s.Cond != nil {
		condition = c.expr(s.Cond)
	}
	post, body, at := c.begin(s.Post), c.block(s.Body.List), s.Pos()
	return func(f *frame) next {
		begin(f)
		for {
			f.step(at)
			if !condition(f).Bool() {
				return next{}
			}
			switch n := body(f); {
			case n.ends(label):
				return next{}
			case n.how != onward && !n.repeats(label):
				return n
			}
			for _, slot := range own {
				f.vars[slot] = variableOf(f.vars[slot])
			}
			post(f)
		}
	}
}

// each puts the values of one round into the variables of a range statement.
type round func(f *frame, key, value reflect.Value)

func (c *compiler) round(s *ast.RangeStmt, keyType, valueType types.Type) round {
	put := func(e ast.Expr, from types.Type) func(*frame, reflect.Value) {
		if e == nil {
			return func(*frame, reflect.Value) {}
		}
		if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
			return func(*frame, reflect.Value) {}
		}
		if s.Tok == token.DEFINE {
			place := c.fresh(c.info.Defs[e.(*ast.Ident)])
			return func(f *frame, v reflect.Value) { place(f)(v) }
		}
		target, convert := c.target(e), c.conversion(e.Pos(), from, c.typeOf(e))
		return func(f *frame, v reflect.Value) { target.at(f)(convert(f, v)) }
	}
	key, value := put(s.Key, keyType), put(s.Value, valueType)
	return func(f *frame, k, v reflect.Value) {
		key(f, k)
		value(f, v)
	}
}

// rangeLoop is a for statement with range.
func (c *compiler) rangeLoop(s *ast.RangeStmt, label string) exec {
	t := c.typeOf(s.X)
	integers := types.Type(types.Typ[types.Int])
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			return c.rangeInt(s, label)
		}
		return c.rangeOver(s, label, c.round(s, integers, types.Typ[types.Rune]))
	case *types.Slice:
		return c.rangeOver(s, label, c.round(s, integers, u.Elem()))
	case *types.Array:
		return c.rangeOver(s, label, c.round(s, integers, u.Elem()))
	case *types.Map:
		return c.rangeOver(s, label, c.round(s, u.Key(), u.Elem()))
	case *types.Chan:
		return c.rangeOver(s, label, c.round(s, u.Elem(), nil))
	case *types.Pointer:
		return c.rangeOver(s, label, c.round(s, integers, u.Elem().Underlying().(*types.Array).Elem()))
	case *types.Signature:
		return c.rangeFunc(s, label, u)
	}
	c.refuse(s.Pos(), rangeOver.With("type", t.String()))
	return nil
}

func (c *compiler) rangeInt(s *ast.RangeStmt, label string) exec {
	t := types.Default(c.typeOf(s.X))
	if id, ok := s.Key.(*ast.Ident); ok && id.Name != "_" {
		t = c.typeOfObject(c.info.ObjectOf(id))
	}
	r, many := c.reflected(t), c.as(s.X, t)
	round := c.round(s, t, nil)
	body := c.body(s, label)
	return func(f *frame) next {
		n := integer(many(f))
		for i := range n {
			f.step(s.Pos())
			round(f, reflect.ValueOf(i).Convert(r), reflect.Value{})
			if over, n := body(f); over {
				return n
			}
		}
		return next{}
	}
}

// body is that of a loop, which tells whether the loop is over and what comes then.
func (c *compiler) body(s *ast.RangeStmt, label string) func(*frame) (bool, next) {
	body := c.block(s.Body.List)
	return func(f *frame) (bool, next) {
		switch n := body(f); {
		case n.ends(label):
			return true, next{}
		case n.how != onward && !n.repeats(label):
			return true, n
		}
		return false, next{}
	}
}

// rangeFunc is a range over a function, which calls the body.
func (c *compiler) rangeFunc(s *ast.RangeStmt, label string, of *types.Signature) exec {
	yields, given := of.Params().At(0).Type(), [2]types.Type{}
	for i, v := range slices.Collect(yields.Underlying().(*types.Signature).Params().Variables()) {
		given[i] = v.Type()
	}
	get, t := c.expr(s.X), c.reflected(yields)
	round, body := c.round(s, given[0], given[1]), c.body(s, label)
	return func(f *frame) next {
		f.step(s.Pos())
		all, n, over, says := get(f), next{}, false, "function for loop body returned false"
		if all.IsNil() {
			panic(nilPointer)
		}
		yield := f.thread.program.function(t, func(inner *frame, args []reflect.Value) []reflect.Value {
			if over {
				panic(runtimeError("range function continued iteration after " + says))
			}
			thread := inner.thread
			top := thread.top
			thread.top = f // whose body this is
			f.step(s.Pos())
			round(f, append(args, reflect.Value{})[0], append(args, reflect.Value{}, reflect.Value{})[1])
			over, n = body(f)
			thread.top = top
			return []reflect.Value{reflect.ValueOf(!over)}
		})
		f.native(all, []reflect.Value{yield})
		over, says = true, "whole loop exit"
		return n
	}
}

func (c *compiler) rangeOver(s *ast.RangeStmt, label string, round round) exec {
	of, body := c.expr(s.X), c.body(s, label)
	return func(f *frame) next {
		all := of(f)
		if all.Kind() == reflect.Chan {
			for {
				f.step(s.Pos())
				v, ok := f.ours(all).Recv()
				if !ok {
					return next{}
				}
				round(f, v, reflect.Value{})
				if over, n := body(f); over {
					return n
				}
			}
		}
		n := next{}
		for k, v := range all.Seq2() {
			f.step(s.Pos())
			round(f, k, v)
			var over bool
			if over, n = body(f); over {
				break
			}
		}
		return n
	}
}
