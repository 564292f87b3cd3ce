package interpreter

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

func (c *compiler) unary(e *ast.UnaryExpr) eval {
	if e.Op == token.AND {
		return c.address(e.X)
	}
	get := c.operand(e.X)
	switch e.Op {
	case token.ARROW:
		return func(f *frame) reflect.Value {
			v, _ := f.ours(get(f)).Recv()
			return v
		}
	case token.NOT:
		return func(f *frame) reflect.Value { v := get(f); return reflect.ValueOf(!v.Bool()).Convert(v.Type()) }
	case token.ADD:
		return get
	case token.SUB, token.XOR:
		op := e.Op
		return func(f *frame) reflect.Value {
			v := get(f)
			zero := reflect.New(v.Type()).Elem()
			if op == token.XOR {
				return arithmetic(token.XOR, v, allOnes(v.Type()))
			}
			if v.CanFloat() {
				zero.SetFloat(-v.Float())
				return zero
			}
			return arithmetic(token.SUB, zero, v)
		}
	}
	c.refuse(e.Pos(), theOperator.With("name", e.Op.String()))
	return nil
}

func allOnes(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if v.CanInt() {
		v.SetInt(-1)
	} else {
		v.SetUint(1<<t.Bits() - 1)
	}
	return v
}

func (c *compiler) binary(e *ast.BinaryExpr) eval {
	boolean := c.reflected(c.typeOf(e))
	truth := func(is bool) reflect.Value { return reflect.ValueOf(is).Convert(boolean) }
	switch e.Op {
	case token.LAND:
		x, y := c.operand(e.X), c.operand(e.Y)
		return func(f *frame) reflect.Value { return truth(x(f).Bool() && y(f).Bool()) }
	case token.LOR:
		x, y := c.operand(e.X), c.operand(e.Y)
		return func(f *frame) reflect.Value { return truth(x(f).Bool() || y(f).Bool()) }
	case token.EQL, token.NEQ:
		same := c.same(e)
		negated := e.Op == token.NEQ
		return func(f *frame) reflect.Value { return truth(same(f) != negated) }
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		t := c.common(e)
		both, op := c.both(e, c.as(e.X, t), c.as(e.Y, t)), e.Op
		return func(f *frame) reflect.Value { a, b := both(f); return truth(ordered(op, a, b)) }
	case token.SHL, token.SHR:
		both, op := c.both(e, c.as(e.X, c.typeOf(e)), c.expr(e.Y)), e.Op
		return func(f *frame) reflect.Value { a, b := both(f); return shift(op, a, b) }
	}
	t := c.typeOf(e)
	if isComplex(t) {
		c.refuse(e.Pos(), complexNumbers.With())
	}
	both, op := c.both(e, c.as(e.X, t), c.as(e.Y, t)), e.Op
	return func(f *frame) reflect.Value {
		a, b := both(f)
		return f.arithmetic(op, a, b)
	}
}

// both are the operands, in the order of [compiler.list].
func (c *compiler) both(e *ast.BinaryExpr, x, y eval) func(*frame) (a, b reflect.Value) {
	if !c.isPrompt(e.X) && c.calls(e.Y) {
		return func(f *frame) (a, b reflect.Value) {
			b = y(f)
			return x(f), b
		}
	}
	return func(f *frame) (a, b reflect.Value) {
		a = x(f)
		return a, y(f)
	}
}

func isComplex(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsComplex != 0
}

// common is the type that both operands of a comparison have, or are to have.
func (c *compiler) common(e *ast.BinaryExpr) types.Type {
	x, y := c.typeOf(e.X), c.typeOf(e.Y)
	switch {
	case isNil(x):
		return y
	case isNil(y):
		return x
	case types.IsInterface(x) && !types.IsInterface(y):
		return x
	case types.IsInterface(y) && !types.IsInterface(x):
		return y
	case isUntyped(x) && !isUntyped(y):
		return y
	case isUntyped(x):
		return types.Default(x)
	}
	return x
}

func isUntyped(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Info()&types.IsUntyped != 0
}

func (c *compiler) same(e *ast.BinaryExpr) func(*frame) bool {
	t := c.common(e)
	both := c.both(e, c.as(e.X, t), c.as(e.Y, t))
	return func(f *frame) bool { a, b := both(f); return equal(a, b) }
}

func ordered(op token.Token, a, b reflect.Value) bool {
	switch {
	case a.CanInt():
		return compare(op, a.Int(), b.Int())
	case a.CanUint():
		return compare(op, a.Uint(), b.Uint())
	case a.CanFloat():
		return compare(op, a.Float(), b.Float())
	}
	return compare(op, a.String(), b.String())
}

func compare[T cmp.Ordered](op token.Token, a, b T) bool {
	switch op {
	case token.LSS:
		return a < b
	case token.LEQ:
		return a <= b
	case token.GTR:
		return a > b
	}
	return a >= b
}

func shift(op token.Token, a, by reflect.Value) reflect.Value {
	if by.CanInt() && by.Int() < 0 {
		panic(runtimeError("negative shift amount"))
	}
	n := uint64(integer(by))
	v := reflect.New(a.Type()).Elem()
	switch {
	case a.CanInt() && op == token.SHL:
		v.SetInt(a.Int() << n)
	case a.CanInt():
		v.SetInt(a.Int() >> n)
	case op == token.SHL:
		v.SetUint(a.Uint() << n)
	default:
		v.SetUint(a.Uint() >> n)
	}
	return v
}

// arithmetic is that of two values, which may be strings.
func (f *frame) arithmetic(op token.Token, a, b reflect.Value) reflect.Value {
	if a.Kind() == reflect.String {
		if a.Len()+b.Len() > mostElements {
			f.stop(longString.With("n", mostElements))
		}
		f.takes(a.Len() + b.Len())
	}
	return arithmetic(op, a, b)
}

func arithmetic(op token.Token, a, b reflect.Value) reflect.Value {
	v := reflect.New(a.Type()).Elem()
	switch {
	case a.CanInt():
		v.SetInt(calculate(op, a.Int(), b.Int()))
	case a.CanUint():
		v.SetUint(calculate(op, a.Uint(), b.Uint()))
	case a.CanFloat():
		v.SetFloat(float(op, a.Float(), b.Float()))
	default:
		v.SetString(a.String() + b.String())
	}
	return v
}

func calculate[N int64 | uint64](op token.Token, a, b N) N {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.QUO:
		return a / b
	case token.REM:
		return a % b
	case token.AND:
		return a & b
	case token.OR:
		return a | b
	case token.XOR:
		return a ^ b
	}
	return a &^ b
}

func float(op token.Token, a, b float64) float64 {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	}
	return a / b
}
