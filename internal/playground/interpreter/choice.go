package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// choice is a case of a switch: whether it is the one, and what it does.
type choice struct {
	is   func(*frame) bool // nil for the default
	do   exec
	from token.Pos
}

// choose runs the first case that is the one, else the default.
func choose(f *frame, cases []choice, label string) next {
	chosen := -1
	for i, one := range cases {
		if one.is == nil {
			continue
		}
		f.at = one.from
		if one.is(f) {
			chosen = i
			break
		}
	}
	for i, one := range cases {
		if chosen < 0 && one.is == nil {
			chosen = i
		}
	}
	for chosen >= 0 && chosen < len(cases) {
		n := cases[chosen].do(f)
		switch {
		case n.how == falls:
			chosen++
			continue
		case n.ends(label):
			return next{}
		}
		return n
	}
	return next{}
}

// switchOf is a switch on a value, or on nothing.
func (c *compiler) switchOf(s *ast.SwitchStmt, label string) exec {
	begin, at := c.begin(s.Init), s.Pos()
	t := types.Type(types.Typ[types.Bool])
	tag := func(*frame) reflect.Value { return reflect.ValueOf(true) }
	if s.Tag != nil {
		t = types.Default(c.typeOf(s.Tag))
		tag = c.as(s.Tag, t)
	}
	slot := c.scope.declare(types.NewVar(s.Pos(), c.pkg, "", t))
	var cases []choice
	for _, clause := range s.Body.List {
		cases = append(cases, c.caseOf(clause.(*ast.CaseClause), slot, t))
	}
	return func(f *frame) next {
		f.step(at)
		begin(f)
		f.vars[slot] = tag(f)
		return choose(f, cases, label)
	}
}

// caseOf is a case of a switch on what is in a variable.
func (c *compiler) caseOf(clause *ast.CaseClause, slot int, t types.Type) choice {
	one := choice{from: clause.Pos()}
	var same []func(*frame) bool
	for _, e := range clause.List {
		tag, to := conversion(nil), t
		if from := c.typeOf(e); types.IsInterface(from) && !types.IsInterface(t) {
			tag, to = c.conversion(e.Pos(), t, from), from
		}
		value := c.as(e, to)
		same = append(same, func(f *frame) bool {
			v := f.vars[slot]
			if tag != nil {
				v = tag(f, v)
			}
			return equal(v, value(f))
		})
	}
	if clause.List != nil {
		one.is = func(f *frame) bool {
			for _, is := range same {
				if is(f) {
					return true
				}
			}
			return false
		}
	}
	one.do = c.block(clause.Body)
	return one
}

// typeSwitch is a switch on the type of what an interface holds.
func (c *compiler) typeSwitch(s *ast.TypeSwitchStmt, label string) exec {
	begin, at := c.begin(s.Init), s.Pos()
	var asserted ast.Expr
	switch assign := s.Assign.(type) {
	case *ast.ExprStmt:
		asserted = assign.X
	case *ast.AssignStmt:
		asserted = assign.Rhs[0]
	}
	x := asserted.(*ast.TypeAssertExpr).X
	get := c.operand(x)
	slot := c.scope.declare(types.NewVar(s.Pos(), c.pkg, "", types.Universe.Lookup("any").Type()))
	var cases []choice
	for _, clause := range s.Body.List {
		cases = append(cases, c.typeCase(clause.(*ast.CaseClause), slot, c.typeOf(x)))
	}
	return func(f *frame) next {
		f.step(at)
		begin(f)
		f.vars[slot] = dynamic(get(f))
		return choose(f, cases, label)
	}
}

// typeCase is a case with types. Its variable has the type, if it is one.
func (c *compiler) typeCase(clause *ast.CaseClause, slot int, of types.Type) choice {
	one := choice{from: clause.Pos()}
	var put func(*frame) func(reflect.Value)
	if v := c.info.Implicits[clause]; v != nil {
		put = c.fresh(v)
		if len(clause.List) != 1 || isNil(c.typeOf(clause.List[0])) {
			target, into := c.reflected(of), put
			put = func(f *frame) func(reflect.Value) {
				return func(reflect.Value) { into(f)(f.inInterface(dynamic(f.vars[slot]), target)) }
			}
		}
	}
	var tests []func(*frame, reflect.Value) (reflect.Value, bool)
	for _, e := range clause.List {
		if isNil(c.typeOf(e)) {
			tests = append(tests, func(_ *frame, v reflect.Value) (reflect.Value, bool) { return v, !v.IsValid() })
		} else {
			tests = append(tests, c.is(c.typeOf(e)))
		}
	}
	if clause.List != nil {
		one.is = func(f *frame) bool {
			for _, is := range tests {
				if v, ok := is(f, f.vars[slot]); ok {
					if put != nil {
						put(f)(v)
					}
					return true
				}
			}
			return false
		}
	}
	body := c.block(clause.Body)
	one.do = func(f *frame) next {
		if clause.List == nil && put != nil {
			put(f)(f.vars[slot])
		}
		return body(f)
	}
	return one
}

// communication is a case of a select: what it waits for, and what it does then.
type communication struct {
	prepare func(*frame) reflect.SelectCase
	do      func(f *frame, v reflect.Value, ok bool) next
}

// selectOf waits for one of several channels.
func (c *compiler) selectOf(s *ast.SelectStmt, label string) exec {
	at := s.Pos()
	var all []communication
	for _, clause := range s.Body.List {
		all = append(all, c.communication(clause.(*ast.CommClause)))
	}
	return func(f *frame) next {
		f.step(at)
		cases := make([]reflect.SelectCase, len(all))
		for i, one := range all {
			cases[i] = one.prepare(f)
			f.ours(cases[i].Chan)
		}
		chosen, v, ok := reflect.Select(cases)
		n := all[chosen].do(f, v, ok)
		if n.ends(label) {
			return next{}
		}
		return n
	}
}

func (c *compiler) communication(clause *ast.CommClause) communication {
	if send, ok := clause.Comm.(*ast.SendStmt); ok {
		to, value := c.expr(send.Chan), c.as(send.Value, c.typeOf(send.Chan).Underlying().(*types.Chan).Elem())
		body := c.block(clause.Body)
		return communication{
			func(f *frame) reflect.SelectCase {
				return reflect.SelectCase{Dir: reflect.SelectSend, Chan: to(f), Send: value(f)}
			},
			func(f *frame, _ reflect.Value, _ bool) next { return body(f) },
		}
	}
	if clause.Comm == nil {
		body := c.block(clause.Body)
		return communication{
			func(*frame) reflect.SelectCase { return reflect.SelectCase{Dir: reflect.SelectDefault} },
			func(f *frame, _ reflect.Value, _ bool) next { return body(f) },
		}
	}
	return c.receiving(clause)
}

// receiving is a case that takes something from a channel, and may keep it.
func (c *compiler) receiving(clause *ast.CommClause) communication {
	var from ast.Expr
	store := func(*frame) []func(reflect.Value) { return nil }
	var converts []conversion
	switch comm := clause.Comm.(type) {
	case *ast.ExprStmt:
		from = comm.X
	case *ast.AssignStmt:
		from = comm.Rhs[0]
	}
	channel := ast.Unparen(from).(*ast.UnaryExpr).X
	elem := c.typeOf(channel).Underlying().(*types.Chan).Elem()
	get := c.expr(channel)
	if assign, ok := clause.Comm.(*ast.AssignStmt); ok {
		for i, e := range assign.Lhs {
			is := []types.Type{elem, types.Typ[types.Bool]}[i]
			to := is
			if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
				to = c.leftType(e, e)
			}
			converts = append(converts, c.conversion(e.Pos(), is, to))
		}
		store = c.store(assign)
	}
	body := c.block(clause.Body)
	return communication{
		func(f *frame) reflect.SelectCase { return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: get(f)} },
		func(f *frame, v reflect.Value, ok bool) next {
			for i, put := range store(f) {
				put(converts[i](f, []reflect.Value{v, reflect.ValueOf(ok)}[i]))
			}
			return body(f)
		},
	}
}
