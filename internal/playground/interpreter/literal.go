package interpreter

import (
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
)

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
