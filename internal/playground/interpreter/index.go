package interpreter

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
)

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
