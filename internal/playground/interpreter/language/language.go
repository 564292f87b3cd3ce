// Package language is a program of what locks are written in, each function some part of the
// language with its dark corners: the interpreter's test compiles it and interprets it, and
// wants the same answers.
package language

//lint:file-ignore SA4000,SA4006,SA4023,SA5000 it is about the dark corners

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Answers are what the functions say, in order.
func Answers() []string {
	var all []string
	for _, one := range []func() string{
		assignments, loops, closures, structs, embedding, pointers, someSlices, someMaps, runes, numbers, switches, typeSwitches,
		interfaces, errorsOfItsOwn, defers, recovers, namedResults, channels, selects, goroutines, methodValues, options,
		contexts, constants, labels, comparisons, variadic, mutexes, runtimePanics, builtins, shadows, conversions, pipelines,
		arraysOfStructs, mapsOfStructs, linked, slicesOfStructs, order, orderOfTheCompiler, resultsAndDefers, boundMethods, statesOfAMachine, typedNil, namedTypes, printing,
		generics, iterators, libraries, atomics, jumps, overflow, utf8Texts, growing, panicTexts,
		casesOfSeveralTypes, askedForOwnMethods, narrowInterfaces, readInto, moreOfLibraries,
		typesOfAllKinds, constantsOfAllKinds, embeddedThings, tables, closuresEverywhere, goroutinesAndChannels, interfacesInStructs, textsAndBytes,
	} {
		all = append(all, one())
	}
	return all
}

func say(parts ...any) string { return fmt.Sprintln(parts...) }

type pair struct {
	a, b   int
	cancel func()
	ended  chan struct{}
}

func two() (int, int) { return 7, 8 }

func assignments() string {
	p := &pair{a: 1, b: 2}
	p.a, p.b = p.b, p.a
	cancelled := false
	p.cancel, p.ended = func() { cancelled = true }, make(chan struct{})
	p.cancel()
	x, y := two()
	x, z := y, x
	list := []int{0, 1, 2}
	i := 0
	i, list[i] = 2, 9
	x += 3
	x <<= 2
	x &^= 1
	x, _ = 5, 6
	var q, r = 1, "one"
	return say(p.a, p.b, cancelled, p.ended != nil, x, y, z, list, i, q, r)
}

func loops() string {
	var out []int
	for i := 0; i < 5; i++ {
		if i == 1 {
			continue
		}
		out = append(out, i)
		if i == 3 {
			break
		}
	}
	for i := range 3 {
		out = append(out, i*10)
	}
	for range 2 {
		out = append(out, -1)
	}
	for i, v := range []int{5, 6} {
		out = append(out, i, v)
	}
	total := 0
	for wait := 1; wait < 100; wait *= 2 {
		total += wait
	}
	var d time.Duration
	for d = range time.Duration(3) {
	}
	return say(out, total, d)
}

func closures() string {
	var all []func() int
	for i := 0; i < 3; i++ {
		all = append(all, func() int { i += 10; return i })
	}
	sum := ""
	for _, f := range all {
		sum += fmt.Sprint(f(), f(), " ")
	}
	count := 0
	add := func(n int) func() int {
		return func() int { count += n; return count }
	}
	one, five := add(1), add(5)
	one()
	five()
	var fib func(int) int
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	return say(sum, one(), fib(12))
}

type inner struct {
	n    int
	name string
}

func (i inner) value() string { i.n++; return fmt.Sprint(i.name, i.n) }
func (i *inner) pointer()     { i.n += 100 }

type outer struct {
	inner
	more *inner
	n    string
}

func structs() string {
	a := inner{1, "a"}
	b := a
	b.n = 2
	p := &a
	c := *p
	p.n = 3
	*p = inner{n: 9, name: "z"}
	o := outer{inner: a, more: p, n: "out"}
	o2 := o
	o2.inner.n = 77
	o2.more.n = 78
	change := func(i inner) { i.n = 1000 }
	change(a)
	anonymous := struct{ x, y int }{3, 4}
	var zero outer
	return say(a.n, b.n, c.n, o.inner.n, o2.inner.n, a.value(), a.n, anonymous.x+anonymous.y, zero.n == "", zero.more == nil, a == *p, b == c)
}

func embedding() string {
	o := &outer{more: &inner{}}
	o.pointer()
	o.inner.pointer()
	o.more.pointer()
	f := o.value
	o.inner.n = 5
	return say(o.inner.n, o.more.n, o.value(), f(), o.inner.value(), o.name)
}

func pointers() string {
	x := 1
	p := &x
	pp := &p
	**pp = 5
	q := new(int)
	*q = *p + 1
	in := &inner{n: 4}
	n := &in.n
	*n = 40
	list := []int{1, 2, 3}
	e := &list[1]
	*e = 20
	s := new(inner)
	s.name = "new"
	var none *inner
	return say(x, *q, in.n, list, s.name, none == nil, p == *pp, in == none)
}

func someSlices() string {
	a := []int{1, 2, 3, 4, 5}
	b := a[1:3]
	b[0] = 20
	b = append(b, 30)
	c := append([]int(nil), a...)
	c[0] = 99
	d := make([]string, 2, 10)
	d[1] = "x"
	copy(a[3:], []int{7, 8, 9})
	e := a[1:2:2]
	e = append(e, 1000)
	var none []int
	bytes := append([]byte("ab"), "cd"...)
	nested := [][]int{{1}, {2, 3}}
	array := [3]int{1, 2, 3}
	other := array
	other[0] = 50
	return say(a, b, c, d, len(d), cap(d), e, none == nil, len(none), string(bytes), nested, array, other, array == other)
}

func someMaps() string {
	m := map[string]int{"a": 1, "b": 2}
	m["c"]++
	m["a"] += 10
	v, ok := m["zzz"]
	_, there := m["b"]
	delete(m, "b")
	n := 0
	for k, v := range m {
		n += v + len(k)
	}
	var none map[string]int
	set := map[int]struct{}{4: {}}
	_, in := set[4]
	pointers := map[string]*inner{"p": {n: 3}}
	pointers["p"].n++
	return say(len(m), v, ok, there, n, none["x"], in, pointers["p"].n, pointers["q"] == nil)
}

func runes() string {
	s := "héß"
	out := ""
	for i, r := range s {
		out += fmt.Sprint(i, string(r), r, " ")
	}
	return say(out, len(s), s[1], s[0:1], []byte(s)[0], []rune(s)[1], strings.ToUpper(s), `raw\n`, "a"+"b" < "b")
}

type small int8

func numbers() string {
	var i8 int8 = 127
	i8++
	var u8 uint8 = 3
	u8 -= 5
	var u uint = 1
	u = u<<63>>62 | 5
	s := small(100)
	s *= 2
	f := 7.0 / 2
	n := 7
	d := 30 * time.Second
	big := int64(1) << 40
	return say(i8, u8, u, s, f, n/2, -n/2, -n%3, n&3, n|8, n^5, ^n, n&^2, d/3, d.Milliseconds(), time.Duration(n)*time.Millisecond, big, float64(n)/2, int(3.9*float64(n)))
}

func switches() string {
	out := ""
	for i := range 6 {
		switch {
		case i == 0:
			out += "zero "
		case i < 2:
			out += "one "
			fallthrough
		case i == 100:
			out += "through "
		default:
			out += "many "
		}
		switch x := i * 2; x {
		case 2, 4:
			out += "even "
			if x == 4 {
				break
			}
			out += "two "
		case 6:
			continue
		}
		out += "| "
	}
	return say(out)
}

type shape interface{ area() int }
type square struct{ side int }
type circle struct{ r int }

func (s square) area() int  { return s.side * s.side }
func (c *circle) area() int { return 3 * c.r * c.r }

func typeSwitches() string {
	out := ""
	for _, v := range []any{1, "s", nil, square{2}, &circle{1}, errors.New("e"), []int{1}, small(3), time.Second, true} {
		switch x := v.(type) {
		case nil:
			out += "nil "
		case int, bool:
			out += fmt.Sprint("int or bool ", x, " ")
		case string:
			out += x + " "
		case square:
			out += fmt.Sprint("square ", x.side, " ")
		case shape:
			out += fmt.Sprint("shape ", x.area(), " ")
		case error:
			out += x.Error() + " "
		case small:
			out += fmt.Sprint("small ", x+1, " ")
		case time.Duration:
			out += x.String() + " "
		default:
			out += "other "
		}
	}
	return say(out)
}

func interfaces() string {
	var s shape
	before := s == nil
	s = square{3}
	c := &circle{2}
	shapes := []shape{s, c}
	total := 0
	for _, one := range shapes {
		total += one.area()
	}
	sq, ok := s.(square)
	_, no := s.(*circle)
	var a any = s
	back, _ := a.(shape)
	var e1, e2 any = square{1}, square{1}
	var none *circle
	var full shape = none
	return say(before, total, sq.side, ok, no, back.area(), e1 == e2, a == any(square{3}), shapes[1] == shape(c), full == nil, s == shape(square{3}))
}

type lostError struct{ name string }

func (e *lostError) Error() string { return "lost " + e.name }

type codeError int

func (c codeError) Error() string        { return fmt.Sprintf("code %d", int(c)) }
func (c codeError) Is(target error) bool { return target == errBase }

type wrapError struct{ err error }

func (w wrapError) Error() string { return "wrap: " + w.err.Error() }
func (w wrapError) Unwrap() error { return w.err }

var errBase = errors.New("base")

func errorsOfItsOwn() string {
	var err error = &lostError{"x"}
	wrapped := fmt.Errorf("doing: %w", err)
	var lost *lostError
	as := errors.As(wrapped, &lost)
	var code codeError
	asCode := errors.As(fmt.Errorf("a: %w", codeError(4)), &code)
	two := wrapError{fmt.Errorf("b: %w", errBase)}
	both := errors.Join(errBase, err)
	var deadline error = context.DeadlineExceeded
	var timeout interface{ Timeout() bool }
	return say(wrapped, as, lost.name, asCode, int(code), errors.Is(two, errBase), errors.Is(codeError(1), errBase), errors.Is(wrapped, err),
		both, errors.Is(both, err), err == error(lost), errors.Unwrap(two) != nil, codeError(2) == error(codeError(2)),
		errors.Is(deadline, context.DeadlineExceeded), timeout == nil, errors.As(wrapped, &code))
}

func defers() string {
	out := ""
	func() {
		for i := range 3 {
			defer func() { out += fmt.Sprint(i) }()
		}
		x := 1
		defer func(n int) { out += fmt.Sprint("n", n, "x", x) }(x)
		x = 2
		out += "body "
	}()
	return say(out)
}

func recovers() string {
	out := ""
	try := func(f func()) (text string) {
		defer func() {
			if r := recover(); r != nil {
				text = fmt.Sprint("got ", r)
			}
		}()
		f()
		return "fine"
	}
	out += try(func() {}) + "; "
	out += try(func() { panic("one") }) + "; "
	out += try(func() { panic(&lostError{"err"}) }) + "; "
	out += try(func() {
		defer func() { panic("second") }()
		panic("first")
	}) + "; "
	out += try(func() {
		defer func() { _ = recover() }()
		panic("swallowed")
	}) + "; "
	out += try(func() {
		defer func() { func() { _ = recover() }() }() // too deep: it recovers nothing
		panic("deep")
	}) + "; "
	return say(out, recover() == nil)
}

func divide(a, b int) (result int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot: %v", r)
		}
		result *= 2
	}()
	result = 1
	return a / b, nil
}

func namedResults() string {
	a, errA := divide(10, 2)
	b, errB := divide(1, 0)
	naked := func() (n int, s string) {
		n, s = 4, "naked"
		return
	}
	n, s := naked()
	return say(a, errA, b, errB, n, s)
}

func channels() string {
	c := make(chan int, 3)
	c <- 1
	c <- 2
	close(c)
	a, ok := <-c
	b := <-c
	z, more := <-c
	var send chan<- int
	done := make(chan struct{})
	go func() { defer close(done) }()
	<-done
	sum := 0
	feed := make(chan int)
	go func() {
		for i := range 4 {
			feed <- i
		}
		close(feed)
	}()
	for v := range feed {
		sum += v
	}
	return say(a, ok, b, z, more, send == nil, sum, len(c), cap(c))
}

func selects() string {
	out := ""
	full, empty := make(chan string, 1), make(chan int)
	full <- "msg"
	select {
	case m := <-full:
		out += m + " "
	case <-empty:
		out += "never "
	}
	select {
	case full <- "again":
		out += "sent "
	default:
		out += "full "
	}
	select {
	case n, ok := <-empty:
		out += fmt.Sprint(n, ok)
	case <-time.After(time.Millisecond):
		out += "late "
	}
	var never chan int
	select {
	case <-never:
	default:
		out += "default "
	}
loop:
	for {
		select {
		case <-full:
			continue
		default:
			break loop
		}
	}
	return say(out)
}

func goroutines() string {
	var wg sync.WaitGroup
	var n atomic.Int64
	results := make([]int, 4)
	for i := range 4 {
		wg.Add(1)
		go func(k int) {
			defer wg.Done()
			results[i] = k * k
			n.Add(int64(k))
		}(i + 1)
	}
	wg.Wait()
	return say(results, n.Load())
}

type counter struct {
	mu sync.Mutex
	n  int
	on atomic.Bool
}

func (c *counter) inc() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	c.on.Store(true)
	return c.n
}

func methodValues() string {
	c := &counter{}
	f := c.inc
	f()
	f()
	i := inner{n: 1, name: "v"}
	v := i.value
	i.n = 50
	timer := time.AfterFunc(time.Hour, func() {})
	stop := timer.Stop
	var d fmt.Stringer = time.Second
	return say(c.n, c.on.Load(), v(), stop(), d.String())
}

type option func(*counter)

func with(n int) option { return func(c *counter) { c.n = n } }

func build(opts ...option) *counter {
	c := &counter{n: 1}
	for _, opt := range opts {
		opt(c)
	}
	return c
}

func options() string {
	return say(build().n, build(with(5)).n, build([]option{with(2), with(3)}...).n)
}

type keyA struct{}
type keyB struct{ n int }
type keyC string

type ownContext struct {
	context.Context
	value string
}

func (c ownContext) Value(key any) any {
	if key == (keyA{}) {
		return c.value
	}
	return c.Context.Value(key)
}

func contexts() string {
	ctx := context.WithValue(context.Background(), keyA{}, &inner{n: 7})
	ctx = context.WithValue(ctx, keyB{2}, "b2")
	ctx = context.WithValue(ctx, keyC("c"), 3)
	in, ok := ctx.Value(keyA{}).(*inner)
	_, wrong := ctx.Value(keyB{1}).(string)
	lost := errors.New("lost")
	held, end := context.WithCancelCause(ctx)
	end(lost)
	<-held.Done()
	mine := ownContext{held, "mine"}
	child, cancel := context.WithTimeout(mine, time.Hour)
	defer cancel()
	_, has := child.Deadline()
	return say(in.n, ok, ctx.Value(keyB{2}), wrong, ctx.Value(keyC("c")), ctx.Value("c"), context.Cause(held) == lost, held.Err(), child.Value(keyA{}), child.Value(keyB{2}), has, child.Err())
}

type state int

const (
	idle state = iota
	busy
	_
	gone
)

func (s state) String() string { return [...]string{"idle", "busy", "", "gone"}[s] }

const lease, part = 30 * time.Second, 3

func constants() string {
	const local = "loc" + "al"
	var s state = gone
	return say(idle, busy, s.String(), int(gone), lease/part, local, 1<<10, 'x', 0x1F, 1e3, len("four"))
}

func labels() string {
	out := ""
outer:
	for i := range 3 {
		for j := range 3 {
			switch {
			case j == 1 && i == 0:
				continue outer
			case i == 2:
				break outer
			}
			out += fmt.Sprint(i, j, " ")
		}
	}
	return say(out)
}

func comparisons() string {
	var e1, e2 error
	a, b := &inner{}, &inner{}
	var f func()
	var c1, c2 chan int
	t := time.Unix(5, 0)
	var s fmt.Stringer
	return say(e1 == e2, e1 == nil, a == b, a != b, *a == *b, f == nil, c1 == c2, t.Before(time.Unix(6, 0)), t == time.Unix(5, 0), s == nil, "a" != "b", 1.5 >= 1.5, any(1) == any(1), any(1) == any(int64(1)))
}

func sum(base int, rest ...int) int {
	for _, n := range rest {
		base += n
	}
	return base
}

func pass(n int, err error) string { return fmt.Sprint(n, err) }

func fails() (int, error) { return 3, &lostError{"pass"} }

func variadic() string {
	return say(sum(1), sum(1, 2), sum(1, []int{2, 3}...), pass(fails()), fmt.Sprintf("%d %s %v %q", 1, "two", []string{"x"}, "q"))
}

func mutexes() string {
	var rw sync.RWMutex
	rw.RLock()
	tried := rw.TryLock()
	rw.RUnlock()
	var once sync.Once
	n := 0
	for range 3 {
		once.Do(func() { n++ })
	}
	c := &counter{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { c.inc() })
	}
	wg.Wait()
	return say(tried, n, c.n)
}

func runtimePanics() string {
	out := ""
	for _, f := range []func(){
		func() { var p *inner; p.n = 1 },
		func() { var p *inner; _ = *p },
		func() { var s shape; s.area() },
		func() { list := []int{1}; i := 5; _ = list[i] },
		func() { var m map[string]int; m["a"] = 1 },
		func() { c := make(chan int); close(c); close(c) },
		func() { var f func(); f() },
		func() { n := 0; _ = 1 / n },
		func() { var p *int; *p = 1 },
		func() { panic(fmt.Errorf("own %d", 1)) },
		func() { var c *counter; c.inc() },
		func() { var a any = "x"; _ = a.(int) },
	} {
		func() {
			defer func() {
				text := fmt.Sprint(recover())
				if strings.Contains(text, "interface conversion") {
					text = "interface conversion"
				}
				out += text + "; "
			}()
			f()
		}()
	}
	return say(out)
}

func builtins() string {
	m := map[int]int{1: 1}
	clear(m)
	list := []int{1, 2}
	clear(list)
	a, b := 4, 2
	return say(min(a, b, 3), max(a, b), min("b", "a"), max(1.5, 1), len(m), list, cap(make([]int, 1, 5)), len([4]int{}))
}

var global = 3

func shadows() string {
	before, x := global, 1
	{
		x := 2
		x++
		global += x
	}
	if x := 10; x > 5 {
		global += x
	}
	f := func(x int) int { x++; return x }
	return say(x, global-before, f(x))
}

func conversions() string {
	n := 300
	var a any = small(5)
	s, ok := a.(small)
	_, isInt := a.(int8)
	type local struct{ n int }
	l := local(struct{ n int }{4})
	return say(uint8(n), string([]byte{104, 105}), []byte("x"), float32(1)/3, int64(n), time.Duration(5), s, ok, isInt, l.n, string(rune(65)), option(nil) == nil, context.CancelFunc(func() {}) != nil)
}

type stage struct {
	next *stage
	run  func(int) (int, error)
}

func (s *stage) all(n int) (out int, err error) {
	for at := s; at != nil; at = at.next {
		if n, err = at.run(n); err != nil {
			return n, fmt.Errorf("stage: %w", err)
		}
	}
	return n, nil
}

func pipelines() string {
	bad := errors.New("bad")
	p := &stage{run: func(n int) (int, error) { return n * 2, nil }}
	p.next = &stage{run: func(n int) (int, error) {
		if n > 10 {
			return 0, bad
		}
		return n + 1, nil
	}}
	a, errA := p.all(2)
	b, errB := p.all(20)
	return say(a, errA, b, errB, errors.Is(errB, bad))
}
