package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// exec is a statement. It tells how to go on.
type exec func(*frame) next

// next is what comes after a statement: the next one, or somewhere else.
type next struct {
	how   how
	label string // of the statement that break or continue is about; "" for the innermost
}

type how byte

const (
	onward how = iota
	breaks
	continues
	returns
	falls // through to the next case
	jumps // to a label
)

// leaves tells whether a statement with that label ends with it, and what comes then.
func (n next) ends(label string) bool { return n.how == breaks && (n.label == "" || n.label == label) }

func (n next) repeats(label string) bool {
	return n.how == continues && (n.label == "" || n.label == label)
}

func (c *compiler) block(list []ast.Stmt) exec {
	var all []exec
	labels := map[string]int{}
	for _, s := range list {
		if labeled, ok := s.(*ast.LabeledStmt); ok {
			labels[labeled.Label.Name] = len(all)
		}
		if do := c.statement(s, ""); do != nil {
			all = append(all, do)
		}
	}
	return func(f *frame) next {
		for i := 0; i < len(all); i++ {
			n := all[i](f)
			if n.how == onward {
				continue
			}
			at, isHere := labels[n.label]
			if n.how != jumps || !isHere {
				return n
			}
			i = at - 1
		}
		return next{}
	}
}

// statement compiles one; nil for one that does nothing.
func (c *compiler) statement(s ast.Stmt, label string) exec {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		return nil
	case *ast.BlockStmt:
		return c.block(s.List)
	case *ast.LabeledStmt:
		return c.statement(s.Stmt, s.Label.Name)
	case *ast.ForStmt:
		return c.forLoop(s, label)
	case *ast.RangeStmt:
		return c.rangeLoop(s, label)
	case *ast.SwitchStmt:
		return c.switchOf(s, label)
	case *ast.TypeSwitchStmt:
		return c.typeSwitch(s, label)
	case *ast.SelectStmt:
		return c.selectOf(s, label)
	case *ast.IfStmt:
		return c.ifOf(s)
	case *ast.BranchStmt:
		return c.branch(s)
	case *ast.ReturnStmt:
		return c.returnOf(s)
	}
	do, at := c.simple(s), s.Pos()
	if do == nil {
		return nil
	}
	return func(f *frame) next {
		f.step(at)
		do(f)
		return next{}
	}
}

// simple is a statement after which the next one comes.
func (c *compiler) simple(s ast.Stmt) func(*frame) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		return c.exprStatement(s)
	case *ast.AssignStmt:
		return c.assign(s)
	case *ast.IncDecStmt:
		return c.incDec(s)
	case *ast.DeclStmt:
		return c.declare(s.Decl.(*ast.GenDecl))
	case *ast.SendStmt:
		to, value := c.expr(s.Chan), c.as(s.Value, c.typeOf(s.Chan).Underlying().(*types.Chan).Elem())
		return func(f *frame) { ch := f.ours(to(f)); ch.Send(value(f)) }
	case *ast.GoStmt:
		prepare := c.later(s.Call)
		return func(f *frame) { f.start(prepare(f)) }
	case *ast.DeferStmt:
		prepare, at := c.later(s.Call), s.Call.Pos()
		return func(f *frame) {
			call := prepare(f)
			f.defers = append(f.defers, func() {
				if f.panicking { // else it is called at the line that returns
					f.at = at
				}
				call(f)
			})
		}
	}
	c.refuse(s.Pos(), thisStatement.With())
	return nil
}

// later is a call that is prepared now.
func (c *compiler) later(e *ast.CallExpr) func(*frame) results {
	if name, ok := c.builtinName(e); ok {
		return c.prepareBuiltin(e, name)
	}
	return c.prepare(e)
}

func (c *compiler) exprStatement(s *ast.ExprStmt) func(*frame) {
	if e, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && !c.info.Types[e.Fun].IsType() {
		if _, isBuiltin := c.builtinName(e); !isBuiltin {
			call := c.call(e)
			return func(f *frame) { call(f) }
		}
	}
	get := c.expr(s.X)
	return func(f *frame) { get(f) }
}

func (c *compiler) returnOf(s *ast.ReturnStmt) exec {
	at, code, results := s.Pos(), c.scope.code, c.scope.results
	values := func(*frame) []reflect.Value { return nil }
	switch {
	case len(s.Results) == 1 && results.Len() > 1:
		e, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr)
		if !ok {
			c.refuse(s.Pos(), thisReturn.With())
		}
		call, convert := c.call(e), c.each(e, c.typeOf(e).(*types.Tuple), results)
		values = func(f *frame) []reflect.Value { return convert(f, call(f)) }
	case len(s.Results) > 0:
		var all []eval
		for i, e := range s.Results {
			all = append(all, c.as(e, results.At(i).Type()))
		}
		values = c.list(s.Results, all)
	}
	return func(f *frame) next {
		f.step(at)
		for i, v := range values(f) {
			f.vars[code.results[i].slot].Set(v)
		}
		f.at = at
		return next{how: returns}
	}
}

func (c *compiler) branch(s *ast.BranchStmt) exec {
	at, n := s.Pos(), next{}
	if s.Label != nil {
		n.label = s.Label.Name
	}
	switch s.Tok {
	case token.BREAK:
		n.how = breaks
	case token.CONTINUE:
		n.how = continues
	case token.FALLTHROUGH:
		n.how = falls
	case token.GOTO:
		n.how = jumps
	}
	return func(f *frame) next {
		f.step(at)
		return n
	}
}

func (c *compiler) ifOf(s *ast.IfStmt) exec {
	begin, at := c.begin(s.Init), s.Pos()
	condition, then := c.expr(s.Cond), c.block(s.Body.List)
	otherwise := func(*frame) next { return next{} }
	if s.Else != nil {
		otherwise = c.statement(s.Else, "")
	}
	return func(f *frame) next {
		f.step(at)
		begin(f)
		if condition(f).Bool() {
			return then(f)
		}
		return otherwise(f)
	}
}

// begin is the statement with which an if, a for or a switch begins.
func (c *compiler) begin(s ast.Stmt) func(*frame) {
	if s != nil {
		if do := c.simple(s); do != nil {
			return do
		}
	}
	return func(*frame) {}
}
