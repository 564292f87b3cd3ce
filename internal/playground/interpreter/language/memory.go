package language

//lint:file-ignore SA4000,SA4006,SA4009,SA4023,SA4026,SA5000,SA5009,SA5011,ST1001,U1000 it is about the dark corners

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

type point struct{ x, y int }

type line struct{ from, to point }

func arraysOfStructs() string {
	a := [2]line{{point{1, 2}, point{3, 4}}}
	b := a
	b[0].from.x = 9
	p := &a[0].to
	p.y++
	q := &a
	q[1].from.y = 7
	for i, l := range a {
		a[1].to.x = 50
		l.from.x += 100 + i
	}
	for i := range q {
		q[i].to.y *= 2
	}
	s := a[:]
	s[0].from = point{-1, -2}
	s = append(s, line{})
	s[0].from.x = 33
	return say(a, b, a == b, b == [2]line{{point{9, 2}, point{3, 4}}}, len(s), cap(s) > 2, s[0].from, q[0] == a[0], p.y)
}

func mapsOfStructs() string {
	type held struct {
		owner string
		since time.Duration
	}
	m := map[point]held{{1, 2}: {"a", time.Second}}
	h := m[point{1, 2}]
	h.owner = "changed"
	m[point{3, 4}] = h
	zero := m[point{5, 6}]
	_, there := m[point{5, 6}]
	all := map[string][]point{"x": {{1, 1}}}
	all["x"][0].y = 9
	all["y"] = append(all["y"], point{2, 2}, point{3, 3})
	pointers := map[*point]int{}
	one, two := &point{1, 1}, &point{1, 1}
	pointers[one]++
	pointers[two] += 2
	pointers[one]++
	keyed := map[any]string{point{1, 1}: "point", one: "pointer", "s": "string", 1: "int", nil: "nil", [2]int{1, 2}: "array"}
	n := 0
	for k := range m {
		if k.x == 1 {
			delete(m, k)
		}
		n++
	}
	return say(m[point{1, 2}].owner, m[point{3, 4}], zero, there, all, pointers[one], pointers[two], len(pointers),
		keyed[point{1, 1}], keyed[one], keyed[two] == "", keyed["s"], keyed[1], keyed[nil], keyed[[2]int{1, 2}], n > 0, len(m))
}

type node struct {
	value int
	next  *node
	meta  struct {
		tags  [2]string
		count uint8
	}
}

func (n *node) push(v int) *node { return &node{value: v, next: n} }
func (n node) sum() (total int) {
	for p := &n; p != nil; p = p.next {
		total += p.value
	}
	return
}

func linked() string {
	var list *node
	for i := range 4 {
		list = list.push(i)
	}
	list.meta.tags[1] = "t"
	list.meta.count--
	c := *list
	c.meta.tags[1] = "c"
	c.next.value = 40
	var last **node = &list.next.next
	*last = nil
	return say(list.sum(), c.sum(), list.meta, c.meta, list.next == c.next)
}

func slicesOfStructs() string {
	all := []point{{1, 2}, {3, 4}, 5: {9, 9}}
	for i := range all {
		all[i].x += i
	}
	for _, p := range all {
		p.x = 1000
	}
	p := &all[1]
	all = append(all, point{7, 7})
	p.y = -1
	made := make([]point, 2, 4)
	copy(made, all[4:])
	grown := append(made, point{1, 1})
	again := append(made, point{2, 2})
	return say(all, made, grown[2], again[2], len(all), *p, all[1].y)
}

func trace(log *[]string, s string, v int) int {
	*log = append(*log, s)
	return v
}

func order() string {
	var log []string
	t := func(s string, v int) int { return trace(&log, s, v) }
	array := [3]int{10, 20, 30}
	get := func(s string) *[3]int { t(s, 0); return &array }
	get("left")[t("index", 1)] = t("right", 5) + t("second", 6)
	m := map[int]int{t("key", 1): t("value", 2)}
	_ = point{y: t("y", 1), x: t("x", 2)}
	f := func(a, b int, rest ...int) int { return a*100 + b*10 + len(rest) }
	n := f(t("a", 1), t("b", 2), t("c", 3), t("d", 4))
	i := 0
	i, array[i] = 1, 99
	x := []int{1, 2, 3}
	j := 0
	j, x[j], x[j+1] = 2, x[1], x[0]
	ok := t("and", 0) == 1 && t("never", 1) == 1 || t("or", 1) == 1
	func() {
		defer func() { _ = recover() }()
		var none map[string]int
		none[fmt.Sprint(t("nilkey", 1))] = t("nilvalue", 2)
	}()
	return say(strings.Join(log, " "), array, m, n, i, x, j, ok)
}

type growth struct {
	list []int
	n    int
}

func (g *growth) next() int {
	g.list = append(g.list, -1)
	g.n++
	return g.n
}

// What the language leaves open is as the compiler has it.
func orderOfTheCompiler() string {
	g := &growth{list: []int{0}}
	both := func() (int, int) { return g.n, g.next() }
	a, b := both()
	g.list[g.n] = g.next()
	length, grown := len(g.list), g.next()
	sum := g.n + g.next()
	list := []int{g.n, g.next(), g.n}
	p := point{x: g.n, y: g.next()}
	x := 1
	change := func() int { x *= 10; return x }
	c, d := x, change()
	less := x < change()
	x += change()
	m := map[int]int{}
	m[x] = change()
	var q *point
	caught := func() (s string) {
		defer func() { s = fmt.Sprint(recover() != nil, x) }()
		q.x = change()
		return
	}
	many := func(all ...int) []int { return all }
	return say(a, b, length, grown, g.list, sum, list, p, c, d, less, x, m, caught(), many(x, change(), x), fmt.Sprint(x, change(), x))
}

func resultsAndDefers() string {
	named := func() (n int, err error) {
		defer func() {
			if r := recover(); r != nil {
				n, err = n*10, fmt.Errorf("recovered: %v", r)
			}
		}()
		defer func() { n++ }()
		n = 4
		panic("oh")
	}
	closing := func() (n int) {
		add := func() { n += 100 }
		defer add()
		return 5
	}
	var log []string
	loop := func() {
		for i := range 3 {
			defer func(s string) { log = append(log, s, fmt.Sprint(i)) }(fmt.Sprint("arg", i))
		}
		p := point{1, 1}
		defer fmt.Append(nil, p)
		defer func(p point) { log = append(log, fmt.Sprint(p)) }(p)
		p.x = 2
		defer func() { log = append(log, fmt.Sprint(p)) }()
	}
	loop()
	twice := func() (err error) {
		defer func() { err = errors.Join(err, errors.New("deferred")) }()
		if err := errors.New("inner"); err != nil {
			return err
		}
		return nil
	}
	nested := func() (s string) {
		defer func() { s += fmt.Sprint(" outer:", recover()) }()
		defer func() {
			defer func() { s += fmt.Sprint("inner:", recover()) }()
			panic("second")
		}()
		panic("first")
	}
	replaced := func() (s string) {
		defer func() { s = fmt.Sprint(recover()) }()
		defer func() { panic("new") }()
		panic("old")
	}
	n, err := named()
	return say(n, err, closing(), log, strings.ReplaceAll(twice().Error(), "\n", "/"), nested(), replaced())
}

type tally struct{ n int }

func (c tally) read() int { return c.n }
func (c *tally) add() int { c.n++; return c.n }

type embeds struct {
	*tally
	inner2
}

type inner2 struct{ deep *tally }

func (i inner2) deepest() int { return i.deep.n }

func boundMethods() string {
	c := tally{1}
	read, add := c.read, c.add
	c.n = 10
	add()
	e := embeds{&c, inner2{&c}}
	deepest, promoted := e.deepest, e.read
	e.deep = &tally{500}
	e.tally = &tally{900}
	e.add()
	express, pointer := tally.read, (*tally).add
	through := embeds.deepest
	fs := []func() int{c.read, c.add, e.add, e.tally.read}
	sum := 0
	for _, f := range fs {
		sum += f()
	}
	var i interface{ add() int } = &c
	late := i.add
	c.n = 0
	return say(read(), c.n, deepest(), promoted(), express(c), pointer(&c), through(e), sum, late(), func() (s string) {
		defer func() { s = fmt.Sprint(recover()) }()
		var none embeds
		_ = none.read
		return "no panic"
	}())
}

type machine struct{ log []string }

type step func(*machine, int) step

func begin(m *machine, n int) step {
	m.log = append(m.log, fmt.Sprint("begin", n))
	if n > 2 {
		return nil
	}
	return func(m *machine, n int) step {
		m.log = append(m.log, fmt.Sprint("middle", n))
		return begin
	}
}

func statesOfAMachine() string {
	m := &machine{}
	n := 0
	for s := step(begin); s != nil; s = s(m, n) {
		n++
	}
	all := map[string]step{"b": begin}
	var none step
	plain := (func(*machine, int) step)(all["b"])
	_, isStep := any(all["b"]).(step)
	return say(m.log, n, none == nil, all["x"] == nil, plain(m, 9) == nil, isStep, any(none) == nil)
}

func typedNil() string {
	find := func(fail bool) error {
		var e *lostError
		if fail {
			e = &lostError{"x"}
		}
		return e
	}
	var s shape
	var c *circle
	before := s == nil
	s = c
	var p *point
	var a any = p
	_, isPoint := a.(*point)
	var f func()
	var b any = f
	var none []int
	var d any = none
	_, isSlice := d.([]int)
	return say(find(false) == nil, find(true) != nil, before, s == nil, a == nil, isPoint, b == nil, d == nil, isSlice, a == any((*point)(nil)), a == any((*circle)(nil)))
}

type seconds float64

func (s seconds) String() string { return fmt.Sprintf("%.1fs", float64(s)) }

type tags map[string]int

func (t tags) add(s string) tags { t[s]++; return t }

type ids []string

func (l *ids) push(s ...string) { *l = append(*l, s...) }
func (l ids) last() string      { return l[len(l)-1] }

type handler func(int) int

func (h handler) twice(n int) int { return h(h(n)) }

func namedTypes() string {
	t := tags{}
	t.add("a").add("a").add("b")
	var l ids
	l.push("x", "y")
	l.push()
	h := handler(func(n int) int { return n*2 + 1 })
	var s fmt.Stringer = seconds(1.25)
	back, ok := s.(seconds)
	_, no := s.(interface{ Error() string })
	return say(t, len(t), l, l.last(), h.twice(3), s, back+1, ok, no, []seconds{1, 2}, map[seconds]seconds{1: 2})
}

type secret struct {
	name    string
	lease   time.Duration
	Shown   time.Duration
	err     error
	Err     error
	next    *secret
	State   mode
	hidden  mode
	list    []point
	Points  []point
	nothing *int
	any     any
}

type mode int

const (
	off mode = iota
	on
)

func (m mode) String() string { return [...]string{"off", "on"}[m] }

func printing() string {
	s := secret{name: "n", lease: time.Second, Shown: time.Minute, Err: &lostError{"k"}, State: on, hidden: on,
		list: []point{{1, 2}}, Points: []point{{3, 4}}, any: point{5, 6}}
	p, odd := point{1, 2}, "%d"
	e := fmt.Errorf("wrapped: %w", &lostError{"z"})
	return say(fmt.Sprint(s), fmt.Sprintf("%v|%+v|%d", p, p, p), fmt.Sprintf("%v %+v", &p, &line{p, p}), fmt.Sprintf("%s %d %v %q", on, on, on, on),
		fmt.Sprint([]mode{on, off}, []any{on, p, nil}), fmt.Sprint(map[mode]point{on: p}), e, errors.Unwrap(e), fmt.Sprintf("%v %+v", struct {
			A, b mode
			C    *point
		}{on, on, nil}, []*lostError{nil}), fmt.Sprintf("%5d|%-5s|%05.1f|%x|%X|%t|%c|%U", 42, "ab", 3.14159, "hi", []byte{1, 171}, true, 'é', 'é'),
		fmt.Sprintf("%6v|%-6v|%q", on, mode(0), []string{"a"}), fmt.Sprintf(odd+" %!", 1), fmt.Sprintf(odd, "x"), fmt.Sprint(lostError{"value"}),
		fmt.Sprintf("%T %-16T| %d%% %T %T", p, on, 5, &p, nil), fmt.Errorf("%T: %w", e, errors.Join(codeError(1))), fmt.Sprintf("%T", codeError(1)))
}
