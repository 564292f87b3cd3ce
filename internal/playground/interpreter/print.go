package interpreter

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// format prints text where fmt would ask a compiled lock for it, else the value; text may be
// nil.
func (o own) format(s fmt.State, verb rune, text func() string) {
	value := any(nil)
	defer func() {
		if p, ok := o.value.(unsafe.Pointer); ok && p == nil && recover() != nil { // as fmt does
			_, _ = s.Write([]byte("<nil>"))
		}
	}()
	if text != nil && strings.ContainsRune("vsqxX", verb) && !s.Flag('#') {
		value = text()
	} else {
		value = o.program.printed(o.box)
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), value)
}

// printed is a value as fmt takes it. It follows a pointer.
func (p *program) printed(b box) any {
	of, _ := structure(b.typ)
	if at, ok := b.value.(unsafe.Pointer); ok && at != nil {
		return variableOf(p.shown(of, p.pointed(of, at), true)).Addr().Interface()
	}
	return p.shown(b.typ, reflect.ValueOf(b.value), true).Interface()
}

// pointed is the struct of a type that is at a place.
func (p *program) pointed(of types.Type, at unsafe.Pointer) reflect.Value {
	p.compiler.late.Lock()
	defer p.compiler.late.Unlock()
	return reflect.NewAt(p.compiler.reflected(of), at).Elem()
}

// shown is a value with the names that fmt prints. visible is whether fmt may call the
// methods of what it consists of: it cannot in fields that are not exported.
func (p *program) shown(t types.Type, v reflect.Value, visible bool) reflect.Value {
	if types.IsInterface(t) && !visible {
		inner := dynamic(v)
		if b, ok := unbridge(v).(box); ok {
			return p.shown(b.typ, reflect.ValueOf(b.value), false)
		}
		if inner.IsValid() {
			return inner
		}
	}
	c := p.compiler
	if types.IsInterface(t) || !c.isOwn(t) {
		return v
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return p.shownStruct(u, v, visible)
	case *types.Slice, *types.Array:
		elem := u.(interface{ Elem() types.Type }).Elem()
		if !c.isOwn(elem) && !types.IsInterface(elem) {
			return v
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = p.part(elem, v.Index(i), visible).Interface()
		}
		return reflect.ValueOf(list)
	case *types.Map:
		all := map[any]any{}
		for k, e := range v.Seq2() {
			all[p.part(u.Key(), k, visible).Interface()] = p.part(u.Elem(), e, visible).Interface()
		}
		return reflect.ValueOf(all)
	}
	return v
}

// part is an element of what is shown, or a field.
func (p *program) part(t types.Type, v reflect.Value, visible bool) reflect.Value {
	if visible && p.compiler.isOwn(t) && !types.IsInterface(t) {
		o := own{p, box{t, v.Interface()}}
		switch {
		case o.is(errorType):
			return reflect.ValueOf(ownError{o})
		case o.is(stringerType):
			return reflect.ValueOf(ownStringer{o})
		}
	}
	return p.shown(t, v, visible)
}

func (p *program) shownStruct(s *types.Struct, v reflect.Value, visible bool) reflect.Value {
	var fields []reflect.StructField
	var values []reflect.Value
	for i := range s.NumFields() {
		name := s.Field(i).Name()
		value := p.part(s.Field(i).Type(), v.Field(i), visible && token.IsExported(name))
		f := reflect.StructField{Name: name, Type: value.Type()}
		if !token.IsExported(name) {
			f.PkgPath = "lock"
		}
		fields, values = append(fields, f), append(values, value)
	}
	made := reflect.New(reflect.StructOf(fields)).Elem()
	for i, value := range values {
		f := made.Field(i)
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(value)
	}
	return made
}

var verbs = regexp.MustCompile(`%[-+# 0-9.]*.`)

// typing is a function that formats, with the names of the lock's own types for %T: fmt asks nobody
// for them.
func typing(args []reflect.Value, list []any) {
	format, n := len(args)-2, -1
	text := verbs.ReplaceAllStringFunc(args[format].String(), func(verb string) string {
		if n++; verb[len(verb)-1] == '%' {
			n--
		}
		if verb[len(verb)-1] != 'T' || n >= len(list) {
			return verb
		}
		b, ok := unbridge(reflect.ValueOf(list[n])).(box)
		if !ok {
			return verb
		}
		list[n] = own{box: b}.typeName()
		return verb[:len(verb)-1] + "s"
	})
	args[format] = reflect.ValueOf(text)
}

// scanning is a function that reads into what pointers point to, also into numbers and texts of
// the lock's own types: fmt sees what such a pointer is.
func scanning(_ []reflect.Value, list []any) {
	for i, to := range list {
		if b, ok := unbridge(reflect.ValueOf(to)).(box); ok && reflect.TypeOf(b.value).Kind() == reflect.Pointer {
			list[i] = b.value
		}
	}
}

// prepared is a variadic function of a library that gets its arguments as another one changes them.
func prepared(get eval, change func(args []reflect.Value, list []any)) eval {
	return func(f *frame) reflect.Value {
		function := get(f)
		return reflect.MakeFunc(function.Type(), func(args []reflect.Value) []reflect.Value {
			last := len(args) - 1
			list := slices.Clone(args[last].Interface().([]any))
			change(args, list)
			args[last] = reflect.ValueOf(list)
			return function.CallSlice(args)
		})
	}
}
