package interpreter

import (
	"go/ast"
	"go/types"
	"slices"
)

// A generic function is compiled anew for each list of type arguments: while that is done,
// params are what its type parameters stand for.

// instance is a generic function, or a method of a generic type, with its type arguments.
type instance struct {
	of   *types.Func
	args []types.Type
	code *code
}

// codeOf is the code of a function of the lock, or of what is written in Go beside it, with
// these type arguments; nil for a library's.
func (c *compiler) codeOf(f *types.Func, args []types.Type) *code {
	f = f.Origin()
	if code, ok := c.codes[f]; ok {
		return code
	}
	d, ok := c.generics[f]
	if !ok {
		return nil
	}
	for _, known := range c.instances {
		if known.of == f && slices.EqualFunc(known.args, args, types.Identical) {
			return known.code
		}
	}
	code := c.newCode(f)
	c.instances = append(c.instances, instance{f, args, code})
	params := f.Signature().TypeParams()
	if f.Signature().Recv() != nil {
		params = f.Signature().RecvTypeParams()
	}
	outer, around := c.params, c.scope
	defer func() { c.params, c.scope = outer, around }()
	c.params, c.scope = map[*types.TypeParam]types.Type{}, nil
	for i, arg := range args {
		c.params[params.At(i)] = arg
	}
	c.compileFunc(code, d.Recv != nil, d.Body, f.Signature())
	return code
}

// typeArguments are those of a type.
func typeArguments(t types.Type) []types.Type {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return slices.Collect(named.TypeArgs().Types())
	}
	return nil
}

// funcOf is the function that an expression names, which may be one of many instances; nil
// for what is no function of the lock.
func (c *compiler) funcOf(e ast.Expr) *code {
	e = ast.Unparen(e)
	switch index := e.(type) {
	case *ast.IndexExpr:
		e = index.X
	case *ast.IndexListExpr:
		e = index.X
	}
	if name, ok := e.(*ast.SelectorExpr); ok && c.info.Selections[name] == nil {
		e = name.Sel
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return nil
	}
	f, ok := c.info.ObjectOf(id).(*types.Func)
	if !ok {
		return nil
	}
	var args []types.Type
	for arg := range c.info.Instances[id].TypeArgs.Types() {
		args = append(args, c.given(arg))
	}
	return c.codeOf(f, args)
}

// given is a type with what its type parameters stand for.
func (c *compiler) given(t types.Type) types.Type {
	if len(c.params) == 0 || t == nil {
		return t
	}
	return c.replaced(t)
}

func (c *compiler) replaced(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.TypeParam:
		if arg, ok := c.params[t]; ok {
			return arg
		}
	case *types.Alias:
		return c.replaced(types.Unalias(t))
	case *types.Named:
		if t.TypeArgs().Len() > 0 {
			var args []types.Type
			for arg := range t.TypeArgs().Types() {
				args = append(args, c.replaced(arg))
			}
			if made, err := types.Instantiate(c.instantiated, t.Origin(), args, false); err == nil {
				return made
			}
		}
	case *types.Pointer:
		return types.NewPointer(c.replaced(t.Elem()))
	case *types.Slice:
		return types.NewSlice(c.replaced(t.Elem()))
	case *types.Array:
		return types.NewArray(c.replaced(t.Elem()), t.Len())
	case *types.Chan:
		return types.NewChan(t.Dir(), c.replaced(t.Elem()))
	case *types.Map:
		return types.NewMap(c.replaced(t.Key()), c.replaced(t.Elem()))
	case *types.Tuple:
		var all []*types.Var
		for v := range t.Variables() {
			all = append(all, types.NewParam(v.Pos(), v.Pkg(), v.Name(), c.replaced(v.Type())))
		}
		return types.NewTuple(all...)
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, c.replaced(t.Params()).(*types.Tuple), c.replaced(t.Results()).(*types.Tuple), t.Variadic())
	case *types.Struct:
		var all []*types.Var
		for v := range t.Fields() {
			all = append(all, types.NewField(v.Pos(), v.Pkg(), v.Name(), c.replaced(v.Type()), v.Embedded()))
		}
		return types.NewStruct(all, nil)
	case *types.Interface:
		var methods []*types.Func
		for m := range t.ExplicitMethods() {
			methods = append(methods, types.NewFunc(m.Pos(), m.Pkg(), m.Name(), c.replaced(m.Signature()).(*types.Signature)))
		}
		embedded := slices.Collect(t.EmbeddedTypes())
		for i := range embedded {
			embedded[i] = c.replaced(embedded[i])
		}
		return types.NewInterfaceType(methods, embedded).Complete()
	}
	return t
}
