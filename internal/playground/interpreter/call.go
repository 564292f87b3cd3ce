package interpreter

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// results is a call: what it returns, each a value of its own.
type results func(*frame) []reflect.Value

// single is a call as an expression.
func (c *compiler) single(e *ast.CallExpr) eval {
	if tv := c.info.Types[e.Fun]; tv.IsType() {
		to := c.typeOf(e.Fun)
		from := c.operandType(e.Args[0], to)
		return c.convert(c.as(e.Args[0], from), e.Pos(), from, to)
	}
	if name, ok := c.builtinName(e); ok {
		return c.builtin(e, name)
	}
	call := c.call(e)
	return func(f *frame) reflect.Value { return call(f)[0] }
}

// operandType is the type that an operand of a conversion to another type has: an untyped one has
// that type, if it can.
func (c *compiler) operandType(e ast.Expr, to types.Type) types.Type {
	if t := c.typeOf(e); !isUntyped(t) || isNil(t) {
		return t
	}
	if tv := c.info.Types[e]; tv.Value != nil && !types.IsInterface(to) && types.ConvertibleTo(tv.Type, to) {
		if b, ok := to.Underlying().(*types.Basic); ok && (b.Info()&types.IsString != 0) == (tv.Type.(*types.Basic).Info()&types.IsString != 0) {
			return to
		}
	}
	return types.Default(c.typeOf(e))
}

func (c *compiler) builtinName(e *ast.CallExpr) (string, bool) {
	if id, ok := ast.Unparen(e.Fun).(*ast.Ident); ok {
		if b, ok := c.info.ObjectOf(id).(*types.Builtin); ok {
			return b.Name(), true
		}
	}
	return "", false
}

// call is a call of a function or a method.
func (c *compiler) call(e *ast.CallExpr) results {
	prepare, at := c.prepare(e), e.Pos()
	return func(f *frame) []reflect.Value {
		run := prepare(f)
		f.at = at
		out := run(f)
		f.at = at
		return out
	}
}

// prepare evaluates the function and the arguments, as go and defer do at once; what it
// returns calls.
func (c *compiler) prepare(e *ast.CallExpr) func(*frame) results {
	fun := ast.Unparen(e.Fun)
	sig, ok := c.typeOf(fun).Underlying().(*types.Signature)
	if !ok {
		c.refuse(e.Pos(), thisCall.With())
	}
	c.sendable(e, sig)
	args := c.arguments(e, sig)
	if fun, ok := fun.(*ast.SelectorExpr); ok {
		if selection, ok := c.info.Selections[fun]; ok && selection.Kind() == types.MethodVal {
			get := c.operand(fun.X)
			o, index := c.chosen(fun)
			m := c.method(fun.Pos(), c.typeOf(fun.X), o.(*types.Func), index)
			return func(f *frame) results {
				recv := m.receiver(get(f))
				values := args(f)
				return func(f *frame) []reflect.Value { return f.invoke(m, recv, values) }
			}
		}
	}
	if code := c.funcOf(fun); code != nil {
		return func(f *frame) results {
			values := args(f)
			return func(f *frame) []reflect.Value { return f.thread.call(code, nil, values, f.deferring()) }
		}
	}
	get := c.called(e, fun)
	return func(f *frame) results {
		function := get(f)
		values := args(f)
		return func(f *frame) []reflect.Value {
			if function.Kind() == reflect.Interface {
				function = function.Elem()
			}
			if !function.IsValid() || function.IsNil() {
				panic(nilPointer)
			}
			return f.native(function, values)
		}
	}
}

// sendable refuses a struct of the lock's own that go-redis takes apart by reflection: into the
// fields of a hash, or out of them.
func (c *compiler) sendable(e *ast.CallExpr, sig *types.Signature) {
	o, method := c.objectOf(ast.Unparen(e.Fun)), "MarshalBinary"
	if o == nil || o.Pkg() == nil || o.Pkg().Path() != reflect.TypeFor[redis.Cmd]().PkgPath() {
		return
	}
	if o.Name() == "Scan" {
		method = "UnmarshalBinary"
	}
	last := sig.Params().Len() - 1
	for i, arg := range e.Args {
		t, wanted := c.typeOf(arg), sig.Params().At(min(i, last)).Type()
		if list, ok := wanted.(*types.Slice); ok && sig.Variadic() && i >= last && !e.Ellipsis.IsValid() {
			wanted = list.Elem()
		}
		if c.reflected(wanted) != anyType {
			continue
		}
		if of, _ := structure(t); c.structOf(of) != nil && c.isOwn(of) && types.NewMethodSet(t).Lookup(c.pkg, method) == nil {
			c.refuse(arg.Pos(), ownStruct.With("method", method))
		}
	}
}

// called is the function that a call calls: errors.As and fmt have to know the lock's own types.
func (c *compiler) called(e *ast.CallExpr, fun ast.Expr) eval {
	o := c.objectOf(fun)
	if o == nil || o.Pkg() == nil {
		return c.expr(fun)
	}
	switch path, name := o.Pkg().Path(), o.Name(); {
	case path == "errors" && name == "As" && len(e.Args) == 2:
		if _, isPointer := structure(c.typeOf(e.Args[1])); isPointer {
			return c.errorsAs(c.typeOf(e.Args[1]))
		}
	case path == "fmt" && strings.HasPrefix(name, "Sscan"):
		return prepared(c.expr(fun), scanning)
	case path == "fmt" && strings.HasSuffix(name, "f"):
		return prepared(c.expr(fun), typing)
	}
	return c.expr(fun)
}

// arguments are those of a call: the last ones of a variadic function are a slice.
func (c *compiler) arguments(e *ast.CallExpr, sig *types.Signature) func(*frame) []reflect.Value {
	params := sig.Params()
	if len(e.Args) == 1 {
		if many, ok := c.typeOf(e.Args[0]).(*types.Tuple); ok {
			return c.forwarded(e, many, sig)
		}
	}
	fixed := params.Len()
	packed := sig.Variadic() && !e.Ellipsis.IsValid()
	if packed {
		fixed--
	}
	var values []eval
	for i, arg := range e.Args {
		if i < fixed {
			values = append(values, c.as(arg, params.At(i).Type()))
		} else {
			values = append(values, c.as(arg, params.At(fixed).Type().Underlying().(*types.Slice).Elem()))
		}
	}
	all := c.list(e.Args, values)
	if !packed {
		return all
	}
	list := c.reflected(params.At(fixed).Type())
	return func(f *frame) []reflect.Value {
		args, rest := all(f), reflect.Zero(list)
		if more := args[fixed:]; len(more) > 0 {
			rest = reflect.MakeSlice(list, len(more), len(more))
			for i, v := range more {
				rest.Index(i).Set(v)
			}
		}
		return append(args[:fixed], rest)
	}
}

// list is the values of expressions, in the order that Go's compiler chooses where the
// language leaves it open: a variable is looked at after all that calls something.
func (c *compiler) list(all []ast.Expr, values []eval) func(*frame) []reflect.Value {
	var order, last []int
	for i := range values {
		if c.isPrompt(all[i]) {
			order = append(order, i)
		} else {
			last = append(last, i)
		}
	}
	order = append(order, last...)
	return func(f *frame) []reflect.Value {
		args := make([]reflect.Value, len(values), len(values)+1)
		for _, i := range order {
			args[i] = values[i](f)
		}
		return args
	}
}

// calls tells whether an expression calls a function, or waits for a channel.
func (c *compiler) calls(e ast.Expr) bool {
	return contains(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			_, isBuiltin := c.builtinName(n)
			return !isBuiltin && !c.info.Types[n.Fun].IsType()
		case *ast.UnaryExpr:
			return n.Op == token.ARROW
		}
		return false
	})
}

// isPrompt tells whether the compiler keeps an expression in its place among those that call.
func (c *compiler) isPrompt(e ast.Expr) bool {
	return c.calls(e) || contains(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !c.info.Types[n.Fun].IsType()
		case *ast.SliceExpr, *ast.TypeAssertExpr:
			return true
		}
		return false
	})
}

// contains tells whether a part of an expression is such a node, outside of functions.
func contains(e ast.Expr, is func(ast.Node) bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if _, isFunc := n.(*ast.FuncLit); !isFunc && n != nil {
			found = found || is(n)
			return !found
		}
		return false
	})
	return found
}

// forwarded are the results of another call as arguments.
func (c *compiler) forwarded(e *ast.CallExpr, many *types.Tuple, sig *types.Signature) func(*frame) []reflect.Value {
	inner, ok := ast.Unparen(e.Args[0]).(*ast.CallExpr)
	if !ok {
		c.refuse(e.Pos(), theseArguments.With())
	}
	fixed, to, list := sig.Params().Len(), []*types.Var{}, reflect.Type(nil)
	if sig.Variadic() {
		fixed--
		list = c.reflected(sig.Params().At(fixed).Type())
	}
	for i := range many.Len() {
		if i < fixed {
			to = append(to, sig.Params().At(i))
		} else {
			to = append(to, types.NewParam(e.Pos(), nil, "", sig.Params().At(fixed).Type().Underlying().(*types.Slice).Elem()))
		}
	}
	call, convert := c.call(inner), c.each(inner, many, types.NewTuple(to...))
	return func(f *frame) []reflect.Value {
		values := convert(f, call(f))
		if list == nil {
			return values
		}
		return append(slices.Clone(values[:fixed]), reflect.Append(reflect.MakeSlice(list, 0, len(values)), values[fixed:]...))
	}
}

// each converts values of some types to others.
func (c *compiler) each(e ast.Expr, from, to *types.Tuple) func(*frame, []reflect.Value) []reflect.Value {
	var converts []conversion
	for i := range from.Len() {
		converts = append(converts, c.conversion(e.Pos(), from.At(i).Type(), to.At(i).Type()))
	}
	return func(f *frame, values []reflect.Value) []reflect.Value {
		out := make([]reflect.Value, len(values))
		for i, v := range values {
			out[i] = converts[i](f, v)
		}
		return out
	}
}
