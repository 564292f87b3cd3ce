package interpreter

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// library is a package of somebody else's that a lock may import.
type library struct {
	name    string
	symbols map[string]any // a function, a reflect.Type, a variable, a constantOf or an untyped
	methods map[string]any // Type.Method → the method, which takes its receiver first
}

type (
	variable   struct{ reflect.Value }
	constantOf struct{ reflect.Value }
	untyped    struct{ kind, value string }
)

var errorType = reflect.TypeFor[error]()

// natives are the libraries as the type checker and the interpreter see them: the same for
// every lock.
type natives struct {
	packages map[string]*types.Package
	types    map[reflect.Type]types.Type
	reflects map[*types.TypeName]reflect.Type
	methods  map[*types.Func]reflect.Value // of types
	tries    map[*types.Func]reflect.Value // of mutexes: what takes one if it is free
	frees    map[*types.Func]reflect.Value // of mutexes: what succeeds if there is nothing to let go of
	values   map[types.Object]reflect.Value

	interfaces []reflect.Type // that a lock can name
	found      sync.Map       // methodKey → *types.Func
}

type methodKey struct {
	of   reflect.Type
	name string
}

// method is one that a library's value has: its type may be unknown here and have an interface that
// is known, as clients have; nil if there is none.
func (n *natives) method(of reflect.Type, name string) *types.Func {
	if known, ok := n.found.Load(methodKey{of, name}); ok {
		return known.(*types.Func)
	}
	find := func(r reflect.Type) *types.Func {
		if t, ok := n.types[r]; ok {
			o, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
			f, _ := o.(*types.Func)
			return f
		}
		return nil
	}
	f := find(of)
	for i := 0; f == nil && i < len(n.interfaces); i++ {
		if of.Implements(n.interfaces[i]) {
			f = find(n.interfaces[i])
		}
	}
	n.found.Store(methodKey{of, name}, f)
	return f
}

// tries are the functions that take a mutex if it is free.
var tries = map[string]any{
	"sync.Mutex.Lock": (*sync.Mutex).TryLock, "sync.RWMutex.Lock": (*sync.RWMutex).TryLock, "sync.RWMutex.RLock": (*sync.RWMutex).TryRLock,
}

// frees are the functions that let go of a mutex. It ends the process if nobody holds it.
var frees = map[string]any{
	"sync.Mutex.Unlock":   (*sync.Mutex).TryLock,
	"sync.RWMutex.Unlock": (*sync.RWMutex).TryRLock, "sync.RWMutex.RUnlock": (*sync.RWMutex).TryLock,
}

var theNatives = sync.OnceValue(func() *natives {
	n := &natives{
		packages: map[string]*types.Package{}, types: map[reflect.Type]types.Type{},
		reflects: map[*types.TypeName]reflect.Type{}, methods: map[*types.Func]reflect.Value{},
		tries:  map[*types.Func]reflect.Value{},
		frees:  map[*types.Func]reflect.Value{},
		values: map[types.Object]reflect.Value{},
	}
	for path, lib := range libraries {
		n.packages[path] = types.NewPackage(path, lib.name)
	}
	n.types[errorType] = types.Universe.Lookup("error").Type()
	n.types[reflect.TypeFor[any]()] = types.Universe.Lookup("any").Type()
	n.typeOf(reflect.TypeFor[fmt.Stringer]())
	for path, lib := range libraries {
		for name, symbol := range lib.symbols {
			n.declare(n.packages[path], name, symbol)
		}
	}
	n.packages["embed"] = types.NewPackage("embed", "embed") // its comments are read
	for _, p := range n.packages {
		p.MarkComplete()
	}
	return n
})

// Import is the [types.Importer] of a lock.
func (n *natives) Import(path string) (*types.Package, error) {
	if p, ok := n.packages[path]; ok {
		return p, nil
	}
	return nil, unknownPackage(path)
}

type unknownPackage string

func (p unknownPackage) Error() string { return "import " + string(p) }

// declare puts a name into a package.
func (n *natives) declare(p *types.Package, name string, symbol any) {
	var object types.Object
	switch s := symbol.(type) {
	case reflect.Type:
		n.named(s)
		return // which declares it
	case variable:
		object = types.NewVar(token.NoPos, p, name, n.typeOf(s.Type()))
		n.values[object] = s.Value
	case constantOf:
		object = types.NewConst(token.NoPos, p, name, n.typeOf(s.Type()), constantValue(s.Value))
	case untyped:
		kind := map[string]types.BasicKind{
			"untyped int": types.UntypedInt, "untyped float": types.UntypedFloat, "untyped string": types.UntypedString,
			"untyped rune": types.UntypedRune,
		}[s.kind]
		literal := map[types.BasicKind]token.Token{
			types.UntypedInt: token.INT, types.UntypedFloat: token.FLOAT, types.UntypedString: token.STRING, types.UntypedRune: token.INT,
		}[kind]
		object = types.NewConst(token.NoPos, p, name, types.Typ[kind], constant.MakeFromLiteral(s.value, literal, 0))
	default:
		if own, ok := instead[p.Path()+"."+name]; ok {
			symbol = own
		}
		f := reflect.ValueOf(symbol)
		object = types.NewFunc(token.NoPos, p, name, n.signature(f.Type(), nil))
		n.values[object] = f
	}
	p.Scope().Insert(object)
}

func constantValue(v reflect.Value) constant.Value {
	switch {
	case v.CanInt():
		return constant.MakeInt64(v.Int())
	case v.CanUint():
		return constant.MakeUint64(v.Uint())
	case v.CanFloat():
		return constant.MakeFloat64(v.Float())
	case v.Kind() == reflect.Bool:
		return constant.MakeBool(v.Bool())
	}
	return constant.MakeString(v.String())
}

// signature is that of a native function. A method's receiver is its first parameter there,
// and recv here.
func (n *natives) signature(f reflect.Type, recv *types.Var) *types.Signature {
	var params, results []*types.Var
	for i := range f.NumIn() {
		if i > 0 || recv == nil {
			params = append(params, types.NewParam(token.NoPos, nil, "", n.typeOf(f.In(i))))
		}
	}
	for out := range f.Outs() {
		results = append(results, types.NewParam(token.NoPos, nil, "", n.typeOf(out)))
	}
	return types.NewSignatureType(recv, nil, nil, types.NewTuple(params...), types.NewTuple(results...), f.IsVariadic())
}

// typeOf is the checker's type for a native one.
func (n *natives) typeOf(r reflect.Type) types.Type {
	if t, ok := n.types[r]; ok {
		return t
	}
	if r.Name() != "" && r.PkgPath() != "" {
		return n.named(r)
	}
	var t types.Type
	switch r.Kind() {
	case reflect.Pointer:
		t = types.NewPointer(n.typeOf(r.Elem()))
	case reflect.Slice:
		t = types.NewSlice(n.typeOf(r.Elem()))
	case reflect.Array:
		t = types.NewArray(n.typeOf(r.Elem()), int64(r.Len()))
	case reflect.Map:
		t = types.NewMap(n.typeOf(r.Key()), n.typeOf(r.Elem()))
	case reflect.Chan:
		dir := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.RecvDir: types.RecvOnly, reflect.SendDir: types.SendOnly}
		t = types.NewChan(dir[r.ChanDir()], n.typeOf(r.Elem()))
	case reflect.Func:
		t = n.signature(r, nil)
	case reflect.Interface: // an unnamed one with methods: opaque
		t = types.NewInterfaceType(nil, nil)
	case reflect.Struct:
		t = n.structure(r, nil)
	default:
		t = basicOf(r.Kind())
	}
	n.types[r] = t
	return t
}

func basicOf(kind reflect.Kind) types.Type {
	for _, basic := range types.Typ {
		if basic.Name() == kind.String() {
			return basic
		}
	}
	return types.Typ[types.UnsafePointer]
}

// structure has the exported fields, and one that nobody can name for the others.
func (n *natives) structure(r reflect.Type, p *types.Package) types.Type {
	var fields []*types.Var
	hidden := false
	for f := range r.Fields() {
		if f.IsExported() {
			fields = append(fields, types.NewField(token.NoPos, p, f.Name, n.typeOf(f.Type), f.Anonymous))
		} else {
			hidden = true
		}
	}
	if hidden {
		incomparable := types.Type(types.Typ[types.Int])
		if !r.Comparable() {
			incomparable = types.NewSlice(types.Typ[types.Int])
		}
		fields = append(fields, types.NewField(token.NoPos, p, "_", incomparable, false))
	}
	return types.NewStruct(fields, nil)
}

// named declares a native type that has a name, with the methods that are in the list.
func (n *natives) named(r reflect.Type) types.Type {
	if t, ok := n.types[r]; ok {
		return t
	}
	p := n.packages[r.PkgPath()]
	if p == nil {
		p = types.NewPackage(r.PkgPath(), r.PkgPath()[strings.LastIndexByte(r.PkgPath(), '/')+1:])
	}
	name := types.NewTypeName(token.NoPos, p, r.Name(), nil)
	t := types.NewNamed(name, nil, nil)
	n.types[r] = t
	n.reflects[name] = r
	lib := libraries[r.PkgPath()]
	listed := lib.symbols[r.Name()] == any(r)
	switch {
	case r.Kind() == reflect.Interface && listed:
		n.interfaces = append(n.interfaces, r)
		t.SetUnderlying(n.interfaceOf(r, t))
	case r.Kind() == reflect.Interface:
		t.SetUnderlying(types.NewStruct(nil, nil)) // nobody can make one
	case r.Kind() == reflect.Struct && !listed:
		t.SetUnderlying(types.NewStruct(nil, nil))
	case r.Kind() == reflect.Struct:
		t.SetUnderlying(n.structure(r, p))
	default:
		t.SetUnderlying(n.underlying(r))
	}
	if listed {
		p.Scope().Insert(name)
	}
	if r.Kind() != reflect.Interface {
		n.addMethods(r, t)
	}
	return t
}

// underlying is that of a named type which is no struct and no interface.
func (n *natives) underlying(r reflect.Type) types.Type {
	switch r.Kind() {
	case reflect.Slice:
		return types.NewSlice(n.typeOf(r.Elem()))
	case reflect.Array:
		return types.NewArray(n.typeOf(r.Elem()), int64(r.Len()))
	case reflect.Map:
		return types.NewMap(n.typeOf(r.Key()), n.typeOf(r.Elem()))
	case reflect.Func:
		return n.signature(r, nil)
	case reflect.Pointer:
		return types.NewPointer(n.typeOf(r.Elem()))
	case reflect.Chan:
		return types.NewChan(types.SendRecv, n.typeOf(r.Elem()))
	}
	return basicOf(r.Kind())
}

// methodsOf are the names of the methods of a type that are in the list, in order.
func methodsOf(r reflect.Type) []string {
	var names []string
	for name := range libraries[r.PkgPath()].methods {
		if typeName, method, _ := strings.Cut(name, "."); typeName == r.Name() {
			names = append(names, method)
		}
	}
	slices.Sort(names)
	return names
}

// addMethods gives a type its methods. One that is not in the list has those that are common.
func (n *natives) addMethods(r reflect.Type, t *types.Named) {
	p := t.Obj().Pkg()
	names := methodsOf(r)
	for _, name := range names {
		f := reflect.ValueOf(libraries[r.PkgPath()].methods[r.Name()+"."+name])
		method := types.NewFunc(token.NoPos, p, name, n.signature(f.Type(), n.receiver(p, f.Type().In(0))))
		t.AddMethod(method)
		n.methods[method] = f
		if try, waits := tries[r.String()+"."+name]; waits {
			n.tries[method] = reflect.ValueOf(try)
		}
		if free, lets := frees[r.String()+"."+name]; lets {
			n.frees[method] = reflect.ValueOf(free)
		}
	}
	if len(names) > 0 {
		return
	}
	for name, f := range common {
		of := r
		if !of.Implements(f.Type().In(0)) {
			of = reflect.PointerTo(r)
		}
		if of.Implements(f.Type().In(0)) {
			method := types.NewFunc(token.NoPos, p, name, n.signature(f.Type(), n.receiver(p, of)))
			t.AddMethod(method)
			n.methods[method] = f
		}
	}
}

func (n *natives) receiver(p *types.Package, of reflect.Type) *types.Var {
	return types.NewParam(token.NoPos, p, "", n.typeOf(of))
}

// interfaceOf has the methods of an interface that are in the list.
func (n *natives) interfaceOf(r reflect.Type, t *types.Named) types.Type {
	p := t.Obj().Pkg()
	var methods []*types.Func
	for _, name := range methodsOf(r) {
		f := reflect.ValueOf(libraries[r.PkgPath()].methods[r.Name()+"."+name])
		method := types.NewFunc(token.NoPos, p, name, n.signature(f.Type(), types.NewParam(token.NoPos, p, "", t)))
		methods = append(methods, method)
		n.methods[method] = f
	}
	return types.NewInterfaceType(methods, nil).Complete()
}
