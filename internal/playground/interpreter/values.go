package interpreter

import (
	"fmt"
	"go/types"
	"reflect"
)

// A value of the lock is a reflect.Value, of the type that a compiler would give it, but for
// these: a struct that the lock declares, and a pointer to one, is an *object (reflect can
// make no struct with methods, and none that refers to itself); an interface that the lock
// declares is an any; and what has a type of the lock's own is in an interface as an *object
// or a box, which know that type. A variable is a value that can be set.

// object is a struct of the lock, or what a pointer to one points to.
type object struct {
	layout *layout
	fields []reflect.Value
}

// layout is what objects of one struct type have in common.
type layout struct {
	typ    types.Type
	names  []string
	fields []reflect.Type
	nested []*layout // of the fields that are objects themselves
}

func (l *layout) new() *object {
	o := &object{l, make([]reflect.Value, len(l.fields))}
	for i, t := range l.fields {
		o.fields[i] = reflect.New(t).Elem()
		if l.nested[i] != nil {
			o.fields[i].Set(reflect.ValueOf(l.nested[i].new()))
		}
	}
	return o
}

// copy is another object with the same fields.
func (o *object) copy() *object {
	if o == nil {
		panic(nilPointer)
	}
	c := &object{o.layout, make([]reflect.Value, len(o.fields))}
	for i, v := range o.fields {
		c.fields[i] = reflect.New(o.layout.fields[i]).Elem()
		if o.layout.nested[i] != nil {
			c.fields[i].Set(reflect.ValueOf(v.Interface().(*object).copy()))
		} else {
			c.fields[i].Set(v)
		}
	}
	return c
}

// assign gives it the fields of another.
func (o *object) assign(from *object) {
	for i, v := range from.copy().fields {
		o.fields[i].Set(v)
	}
}

func (o *object) equal(other *object) bool {
	for i, v := range o.fields {
		if !equal(v, other.fields[i], o.layout.nested[i] != nil) {
			return false
		}
	}
	return true
}

// box is a value in an interface whose type is the lock's own, and no pointer to an object.
// Two are equal as two such values are: a struct is the array of its fields.
type box struct {
	typ   types.Type
	value any
}

// Format prints the value as fmt would that of a compiled lock.
func (b box) Format(s fmt.State, verb rune) {
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), b.value)
}

// Format prints what it points to.
func (o *object) Format(s fmt.State, _ rune) {
	text := "&{"
	for i, v := range o.fields {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(v)
	}
	_, _ = s.Write([]byte(text + "}"))
}

// packed is a struct as a value that can be compared.
func (o *object) packed() any {
	array := reflect.New(reflect.ArrayOf(len(o.fields), anyType)).Elem()
	for i, v := range o.fields {
		if o.layout.nested[i] != nil {
			array.Index(i).Set(reflect.ValueOf(v.Interface().(*object).packed()))
		} else {
			array.Index(i).Set(v)
		}
	}
	return array.Interface()
}

// unpack is the struct that packed has packed.
func (l *layout) unpack(packed any) *object {
	array, o := reflect.ValueOf(packed), l.new()
	for i := range o.fields {
		switch v := array.Index(i).Elem(); {
		case l.nested[i] != nil:
			o.fields[i].Set(reflect.ValueOf(l.nested[i].unpack(v.Interface())))
		case v.IsValid():
			o.fields[i].Set(v)
		}
	}
	return o
}

var (
	anyType    = reflect.TypeFor[any]()
	objectType = reflect.TypeFor[*object]()
	boxType    = reflect.TypeFor[box]()
	emptyType  = reflect.TypeFor[struct{}]()
)

// isNative tells whether a named type comes from a library.
func (c *compiler) isNative(t *types.Named) bool { return t.Obj().Pkg() != c.pkg }

// structOf is the struct type that objects of t have; nil if its values are no objects.
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

// pointee is what t points to if that is an object's; else nil.
func (c *compiler) pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok && c.structOf(p.Elem()) != nil {
		return p.Elem()
	}
	return nil
}

func (c *compiler) layout(t types.Type) *layout {
	t = types.Unalias(t)
	for _, l := range c.layouts {
		if types.Identical(l.typ, t) {
			return l
		}
	}
	l := &layout{typ: t}
	for f := range c.structOf(t).Fields() {
		l.names = append(l.names, f.Name())
		l.fields = append(l.fields, c.reflected(f.Type()))
		var nested *layout
		if c.structOf(f.Type()) != nil {
			nested = c.layout(f.Type())
		}
		l.nested = append(l.nested, nested)
	}
	c.layouts = append(c.layouts, l)
	return l
}

// reflected is the type that the interpreter's values of a type have.
func (c *compiler) reflected(t types.Type) reflect.Type {
	t = types.Unalias(t)
	if c.structOf(t) != nil || c.pointee(t) != nil {
		return objectType
	}
	if named, ok := t.(*types.Named); ok {
		switch {
		case types.Identical(t, types.Universe.Lookup("error").Type()):
			return errorType
		case c.isNative(named):
			return c.natives.reflects[named.Obj()]
		case c.within[named]:
			c.refuse(named.Obj().Pos(), "the type "+named.Obj().Name()+", which consists of itself")
		}
		c.within[named] = true
		defer delete(c.within, named)
	}
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
		return emptyType
	}
	return anyType
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
	if c.structOf(t) == nil {
		return func() reflect.Value { return reflect.New(r).Elem() }
	}
	l := c.layout(t)
	return func() reflect.Value { return variableOf(reflect.ValueOf(l.new())) }
}

// variableOf is a new variable with that value.
func variableOf(v reflect.Value) reflect.Value {
	cell := reflect.New(v.Type()).Elem()
	cell.Set(v)
	return cell
}

// equal tells whether two values of one type are, as == does.
func equal(a, b reflect.Value, objects bool) bool {
	if objects {
		return a.Interface().(*object).equal(b.Interface().(*object))
	}
	switch a.Kind() {
	case reflect.Func, reflect.Map, reflect.Slice: // one of them is nil
		return a.IsNil() && b.IsNil()
	case reflect.Interface:
		return unbridge(a) == unbridge(b)
	}
	return a.Equal(b)
}
