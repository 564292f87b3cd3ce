package interpreter

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"unsafe"
)

// format prints text where fmt would ask a compiled lock for it, else the value; text may be
// nil.
func (o own) format(s fmt.State, verb rune, text func() string) {
	value := o.value
	defer func() {
		if p := reflect.ValueOf(o.value); p.Kind() == reflect.UnsafePointer && p.IsNil() && recover() != nil {
			_, _ = s.Write([]byte("<nil>"))
		}
	}()
	if text != nil && strings.ContainsRune("vsqxX", verb) && !s.Flag('#') {
		value = text()
	} else {
		v := reflect.ValueOf(o.value)
		of, isPointer := structure(o.typ)
		if isPointer && v.Kind() == reflect.UnsafePointer && v.UnsafePointer() != nil {
			v = o.program.pointed(of, v.UnsafePointer())
			shown := o.program.shown(of, v, true)
			v = reflect.New(shown.Type())
			v.Elem().Set(shown)
			value = v.Interface()
		} else {
			value = o.program.shown(o.typ, v, true).Interface()
		}
	}
	_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), value)
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
	if types.IsInterface(t) {
		inner := dynamic(v)
		if b, ok := unbridge(v).(box); ok && !visible {
			return p.shown(b.typ, reflect.ValueOf(b.value), false)
		}
		if inner.IsValid() && !visible {
			return inner
		}
		return v
	}
	c := p.compiler
	if !c.isOwn(t) {
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
