package interpreter

import (
	"go/types"
	"reflect"
	"strconv"
	"unsafe"
)

// A value of the lock is a reflect.Value, of the type that a compiler would give it, but for
// these:
//
//   - a struct that the lock declares has fields of the names F0, F1, … and no methods;
//   - a pointer to one is an unsafe.Pointer, so that a type may refer to itself;
//   - an interface that the lock declares is an any, and so is a function whose type refers
//     to itself;
//   - what is in an interface, and has a type that only the lock knows, is a box.
//
// A variable is a value that can be set.

// box is a value in an interface whose type is the lock's own, or is made of such types.
// Two are equal as two such values are: the type is the canonical one.
type box struct {
	typ   types.Type
	value any
}

var (
	anyType     = reflect.TypeFor[any]()
	boxType     = reflect.TypeFor[box]()
	emptyType   = reflect.TypeFor[struct{}]()
	pointerType = reflect.TypeFor[unsafe.Pointer]()
)

// isNative tells whether a named type comes from a library.
func (c *compiler) isNative(t *types.Named) bool { return !c.own[t.Obj().Pkg()] }

// structOf is the struct type that values of t have if the lock declares it; else nil.
func (c *compiler) structOf(t types.Type) *types.Struct {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok && c.isNative(named) {
		return nil
	}
	if s, ok := t.Underlying().(*types.Struct); ok && s.NumFields() > 0 {
		return s
	}
	return nil
}

// pointee is what t points to if that is a struct of the lock; else nil.
func (c *compiler) pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok && c.structOf(p.Elem()) != nil {
		return p.Elem()
	}
	return nil
}

// isOwn tells whether only the lock knows a type: it declares it, or what it is made of.
func (c *compiler) isOwn(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return !c.isNative(t)
	case *types.Pointer:
		return c.isOwn(t.Elem())
	case *types.Slice:
		return c.isOwn(t.Elem())
	case *types.Array:
		return c.isOwn(t.Elem())
	case *types.Chan:
		return c.isOwn(t.Elem())
	case *types.Map:
		return c.isOwn(t.Key()) || c.isOwn(t.Elem())
	case *types.Signature:
		return c.isOwn(t.Params()) || c.isOwn(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			if c.isOwn(v.Type()) {
				return true
			}
		}
	case *types.Struct:
		return t.NumFields() > 0
	case *types.Interface:
		return t.NumMethods() > 0
	}
	return false
}

// canonical is one type for all that are identical.
func (c *compiler) canonical(t types.Type) types.Type {
	t = types.Unalias(t)
	for _, known := range c.canonicals {
		if types.Identical(known, t) {
			return known
		}
	}
	c.canonicals = append(c.canonicals, t)
	return t
}

// reflected is the type that the interpreter's values of a type have.
func (c *compiler) reflected(t types.Type) reflect.Type {
	t = types.Unalias(t)
	if r, ok := c.reflects[t]; ok {
		return r
	}
	named, isNamed := t.(*types.Named)
	parameter, isParameter := t.(*types.TypeParam)
	switch {
	case isParameter:
		c.refuse(parameter.Obj().Pos(), localGeneric.With())
	case c.pointee(t) != nil:
		return pointerType
	case types.Identical(t, types.Universe.Lookup("error").Type()):
		return errorType
	case isNamed && c.isNative(named):
		return c.natives.reflects[named.Obj()]
	case isNamed && c.within[named] && isFunc(named):
		c.circular[named] = true
		return anyType
	case isNamed && c.within[named]:
		c.refuse(named.Obj().Pos(), ofItself.With("type", named.Obj().Name()))
	case isNamed:
		c.within[named] = true
		defer delete(c.within, named)
	}
	r := c.composed(t)
	if c.circular[named] {
		r = anyType
	}
	c.reflects[t] = r
	return r
}

func isFunc(t types.Type) bool {
	_, is := t.Underlying().(*types.Signature)
	return is
}

func (c *compiler) composed(t types.Type) reflect.Type {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return reflectedBasic(t)
	case *types.Pointer:
		return reflect.PointerTo(c.reflected(t.Elem()))
	case *types.Slice:
		return reflect.SliceOf(c.reflected(t.Elem()))
	case *types.Array:
		return reflect.ArrayOf(int(t.Len()), c.reflected(t.Elem()))
	case *types.Map:
		return reflect.MapOf(c.reflected(t.Key()), c.reflected(t.Elem()))
	case *types.Chan:
		dir := map[types.ChanDir]reflect.ChanDir{types.SendRecv: reflect.BothDir, types.SendOnly: reflect.SendDir, types.RecvOnly: reflect.RecvDir}
		return reflect.ChanOf(dir[t.Dir()], c.reflected(t.Elem()))
	case *types.Signature:
		return c.function(t)
	case *types.Struct:
		return c.structure(t)
	}
	return anyType
}

func (c *compiler) structure(t *types.Struct) reflect.Type {
	if t.NumFields() == 0 {
		return emptyType
	}
	fields := make([]reflect.StructField, t.NumFields())
	for i := range fields {
		fields[i] = reflect.StructField{Name: "F" + strconv.Itoa(i), Type: c.reflected(t.Field(i).Type())}
	}
	return reflect.StructOf(fields)
}

func (c *compiler) function(t *types.Signature) reflect.Type {
	var in, out []reflect.Type
	for p := range t.Params().Variables() {
		in = append(in, c.reflected(p.Type()))
	}
	for r := range t.Results().Variables() {
		out = append(out, c.reflected(r.Type()))
	}
	return reflect.FuncOf(in, out, t.Variadic())
}

var basics = map[types.BasicKind]reflect.Type{
	types.Bool: reflect.TypeFor[bool](), types.String: reflect.TypeFor[string](),
	types.Int: reflect.TypeFor[int](), types.Int8: reflect.TypeFor[int8](), types.Int16: reflect.TypeFor[int16](),
	types.Int32: reflect.TypeFor[int32](), types.Int64: reflect.TypeFor[int64](),
	types.Uint: reflect.TypeFor[uint](), types.Uint8: reflect.TypeFor[uint8](), types.Uint16: reflect.TypeFor[uint16](),
	types.Uint32: reflect.TypeFor[uint32](), types.Uint64: reflect.TypeFor[uint64](), types.Uintptr: reflect.TypeFor[uintptr](),
	types.Float32: reflect.TypeFor[float32](), types.Float64: reflect.TypeFor[float64](),
	types.Complex64: reflect.TypeFor[complex64](), types.Complex128: reflect.TypeFor[complex128](),
}

func reflectedBasic(t *types.Basic) reflect.Type {
	if r, ok := basics[types.Default(t).(*types.Basic).Kind()]; ok {
		return r
	}
	return anyType // nil
}

// zero makes a variable of a type.
func (c *compiler) zero(t types.Type) func() reflect.Value {
	r := c.reflected(t)
	return func() reflect.Value { return reflect.New(r).Elem() }
}

// variableOf is a new variable with that value.
func variableOf(v reflect.Value) reflect.Value {
	cell := reflect.New(v.Type()).Elem()
	cell.Set(v)
	return cell
}

// deref leads from a pointer of that type to what it points to.
func (c *compiler) deref(pointer types.Type) way {
	if of := c.pointee(pointer); of != nil {
		r := c.reflected(of)
		return func(v reflect.Value) reflect.Value {
			p := v.UnsafePointer()
			if p == nil {
				panic(nilPointer)
			}
			return reflect.NewAt(r, p).Elem()
		}
	}
	return func(v reflect.Value) reflect.Value {
		if v.IsNil() {
			panic(nilPointer)
		}
		return v.Elem()
	}
}

// pointerTo leads from a variable of that type to a pointer to it.
func (c *compiler) pointerTo(of types.Type) way {
	if c.structOf(of) != nil {
		return func(v reflect.Value) reflect.Value { return reflect.ValueOf(v.Addr().UnsafePointer()) }
	}
	return reflect.Value.Addr
}

// equal tells whether two values of one type are, as == does.
func equal(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Func, reflect.Map, reflect.Slice: // one of them is nil
		return a.IsNil() && b.IsNil()
	case reflect.Interface:
		return unbridge(a) == unbridge(b)
	}
	return a.Interface() == b.Interface()
}
