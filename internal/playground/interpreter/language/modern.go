package language

//lint:file-ignore SA4000,SA4006,SA4009,SA4023,SA4026,SA5000,SA5009,SA5011,ST1001,U1000 it is about the dark corners

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

type ordered interface {
	~int | ~int64 | ~string | ~float64
}

func largest[T ordered](first T, rest ...T) T {
	for _, v := range rest {
		if v > first {
			first = v
		}
	}
	return first
}

func mapped[S ~[]E, E, R any](s S, f func(E) R) []R {
	out := make([]R, 0, len(s))
	for _, e := range s {
		out = append(out, f(e))
	}
	return out
}

type stack[T any] struct {
	items []T
	limit int
}

func newStack[T any](limit int) *stack[T] { return &stack[T]{limit: limit} }

func (s *stack[T]) push(v T) error {
	if len(s.items) >= s.limit {
		return fmt.Errorf("full: no room for %v", v)
	}
	s.items = append(s.items, v)
	return nil
}

func (s *stack[T]) pop() (v T, ok bool) {
	if len(s.items) == 0 {
		return
	}
	v, s.items = s.items[len(s.items)-1], s.items[:len(s.items)-1]
	return v, true
}

func (s stack[T]) all() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, v := range s.items {
			if !yield(i, v) {
				return
			}
		}
	}
}

type pairOf[K comparable, V any] struct {
	Key   K
	Value V
}

func (p pairOf[K, V]) String() string { return fmt.Sprintf("%v=>%v", p.Key, p.Value) }

type tree[T cmp.Ordered] struct {
	left, right *tree[T]
	value       T
}

func (t *tree[T]) insert(v T) *tree[T] {
	switch {
	case t == nil:
		return &tree[T]{value: v}
	case v < t.value:
		t.left = t.left.insert(v)
	case v > t.value:
		t.right = t.right.insert(v)
	}
	return t
}

func (t *tree[T]) walk(yield func(T) bool) bool {
	return t == nil || t.left.walk(yield) && yield(t.value) && t.right.walk(yield)
}

type named interface{ name() string }

type dog struct{ n int }

func (d dog) name() string { return fmt.Sprint("dog", d.n) }

func names[T named](all ...T) string {
	out := ""
	for _, one := range all {
		f := one.name
		out += f() + " "
	}
	return out
}

type resettable[T any] interface {
	*T
	reset(int)
}

func (d *dog) reset(n int) { d.n = n }

func made[T any, P resettable[T]](n int) T {
	var v T
	P(&v).reset(n)
	return v
}

func describe[T any](v T) string {
	switch x := any(v).(type) {
	case int:
		return fmt.Sprint("int ", x)
	case fmt.Stringer:
		return "stringer " + x.String()
	case []T:
		return "slice of itself"
	}
	return fmt.Sprintf("%v", v)
}

type number interface {
	~int8 | ~uint8 | ~int | ~float64
}

func convertAll[To, From number](all ...From) (out []To) {
	for _, v := range all {
		out = append(out, To(v))
	}
	return
}

func zeroOf[T any]() (zero T) { return }

func generics() string {
	s := newStack[point](2)
	errs := []error{s.push(point{1, 2}), s.push(point{3, 4}), s.push(point{5, 6})}
	out := ""
	for i, p := range s.all() {
		out += fmt.Sprint(i, p.x, " ")
	}
	top, ok := s.pop()
	var t *tree[string]
	for _, v := range []string{"m", "c", "x", "a", "m"} {
		t = t.insert(v)
	}
	walked := ""
	t.walk(func(v string) bool { walked += v; return v != "m" })
	sum := func(all []int) (n int) {
		for _, v := range all {
			n += v
		}
		return
	}
	add := largest[float64]
	return say(errs[2], out, top, ok, walked, largest(3, 9, 4), largest("b", "a"), add(1, 2.5), mapped([]int{1, 2}, func(n int) string { return strings.Repeat("x", n) }),
		sum(mapped(ids{"a", "bcd"}, func(s string) int { return len(s) })), pairOf[string, int]{"k", 1}, names(dog{1}, dog{2}), made[dog](7).n,
		describe(4), describe(pairOf[int, point]{1, point{2, 3}}), describe([]int{1}), convertAll[int8](300, -1), convertAll[uint8](3.9, 200.2),
		zeroOf[*int]() == nil, zeroOf[point](), zeroOf[[2]string](), fmt.Sprint(pairOf[point, []int]{}))
}

func evens(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		defer func() { evensEnded++ }()
		for i := 0; i < n; i += 2 {
			if !yield(i) {
				return
			}
		}
	}
}

var evensEnded int

func iterators() string {
	evensEnded = 0
	var out []int
	for v := range evens(100) {
		if v == 4 {
			continue
		}
		if v > 10 {
			break
		}
		out = append(out, v)
	}
	find := func(want int) (found string) {
		defer func() { found += "!" }()
		for v := range evens(50) {
			defer func() { found += fmt.Sprint(v) }()
			if v >= want {
				return "found "
			}
		}
		return "none "
	}
	labeled := ""
outer:
	for a := range evens(10) {
		for b := range evens(10) {
			switch {
			case b > a:
				continue outer
			case a == 6:
				break outer
			}
			labeled += fmt.Sprint(a, b, ",")
		}
	}
	caught := func() (s string) {
		defer func() { s = fmt.Sprint(recover()) }()
		for v := range evens(10) {
			if v == 2 {
				panic("in the body")
			}
		}
		return
	}
	kept := func() (s string) {
		defer func() { s = fmt.Sprint(recover()) }()
		var later func(int) bool
		for range func(yield func(int) bool) { later = yield; yield(1) } {
		}
		later(2)
		return
	}
	n := 0
	for range func(yield func() bool) { _ = yield() && yield() && yield() } {
		n++
	}
	total := 0
	for i, v := range func(yield func(int, string) bool) { _ = yield(1, "a") && yield(2, "bb") } {
		total += i * len(v)
	}
	return say(out, find(4), labeled, caught(), kept(), n, total, evensEnded, slices.Collect(evens(7)))
}

func libraries() string {
	all := []point{{3, 1}, {1, 2}, {2, 3}, {1, 1}}
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b point) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
	i, found := slices.BinarySearch([]string{"a", "c"}, "b")
	m := map[string]int{"b": 2, "a": 1, "c": 3}
	keys := slices.Sorted(maps.Keys(m))
	maps.DeleteFunc(m, func(k string, v int) bool { return v == 2 })
	copied := maps.Clone(m)
	copied["z"] = 26
	words := strings.Fields(" b  a c ")
	sort.Strings(words)
	sort.Slice(all, func(i, j int) bool { return all[i].y > all[j].y })
	once := sync.OnceValue(func() int { evensEnded += 1000; return 7 })
	before := evensEnded
	sum := once() + once()
	v, err := errors.AsType[*lostError](fmt.Errorf("x: %w", &lostError{"generic"}))
	deleted := slices.Delete([]int{1, 2, 3, 4}, 1, 3)
	full, roomy := []int{1, 4}, append(make([]int, 0, 8), 1, 4)
	_, _ = slices.Insert(full, 1, 9), slices.Insert(roomy, 1, 2, 3)
	waiters := list.New()
	last := waiters.PushBack(point{1, 1})
	waiters.PushFront("first")
	waiters.MoveToFront(last)
	nan := math.NaN()
	return say(sorted, slices.Contains(all, point{2, 3}), slices.Index(keys, "c"), i, found, keys, len(m), len(copied), words, all, sum, evensEnded-before, v, err,
		deleted, slices.Insert([]int{1, 4}, 1, 2, 3), slices.Max([]float64{1, 3, 2}), slices.MinFunc(all, func(a, b point) int { return a.x - b.x }),
		slices.Equal(keys, []string{"a", "b", "c"}), slices.Compact([]int{1, 1, 2, 2, 1}), cmp.Compare("a", "b"),
		full, roomy, roomy[:4], waiters.Front().Value, waiters.Len(), min(1, nan), max(1, nan), max(nan, 1))
}

type session struct{ id int }

func atomics() string {
	var p atomic.Pointer[session]
	first := &session{1}
	out := fmt.Sprint(p.Load() == nil, p.CompareAndSwap(nil, first), p.CompareAndSwap(nil, first), p.Swap(&session{2}).id, p.Load().id)
	var wg sync.WaitGroup
	var n atomic.Int64
	var most int64
	var mu sync.Mutex
	for i := range 20 {
		wg.Go(func() {
			now := n.Add(int64(i))
			mu.Lock()
			defer mu.Unlock()
			most = max(most, now)
		})
	}
	wg.Wait()
	var v atomic.Value
	v.Store(point{1, 2})
	return say(out, n.Load(), most, v.Load().(point).y)
}

func jumps() string {
	out := ""
	i := 0
again:
	out += fmt.Sprint(i)
	i++
	if i < 3 {
		goto again
	}
	for {
		for range 10 {
			if i++; i > 8 {
				goto done
			}
			if i == 5 {
				goto next
			}
		}
	next:
		out += "n"
	}
done:
	switch {
	case i > 0:
		if i == 9 {
			goto end
		}
		out += "never"
	}
end:
	return say(out, i)
}

func overflow() string {
	var i8 int8 = math.MinInt8
	var i64 int64 = math.MinInt64
	var u8 uint8 = 200
	var u16 uint16 = 1
	var u32 uint32 = 1 << 31
	var u uint = 3
	big := 300
	minus := -1
	f := 1e10
	shift := 70
	i8--
	one := int8(-128)
	one /= int8(minus)
	rest := i64 % int64(minus)
	return say(i8, one, rest, -i64 == i64, u8+100, u8<<1, u8>>1<<1, u16<<15<<1, u32<<1, u-4 > 0, uint8(big), int8(big), uint32(minus), uint64(minus)>>60,
		1<<shift, uint64(1)<<shift, -8>>1, -8>>shift, ^u8, -u8, int32(int64(one)<<33+5), rune(big), string(rune(big)), int64(f), float32(0.1) == 0.1, float32(big)/7, 7/-2, -7%3, 7&^5,
		math.MaxInt64, uint64(math.MaxUint64), u8 == 200, u8 > uint8(big), 'a'+1, string('a'+rune(2)), 5.0/2, 1/3.0, math.Inf(1), -0.0, math.MaxInt32+1)
}

func utf8Texts() string {
	s := "aé\xff世\xe4"
	out := ""
	for i, r := range s {
		out += fmt.Sprint(i, ":", r, " ")
	}
	for i := range s {
		out += fmt.Sprint(i)
	}
	b := []byte(s)
	b[0] = 'X'
	r := []rune("héllo")
	r[1] = 'e'
	return say(out, s[0] == 'a', len(s), len([]rune(s)), string(b[:3]), string(r), s[1:3] == "é", strings.Compare("a", "b"), "a" < "b" && "Z" < "a", string([]rune{65, 0x4e16}), strings.ToUpper(s[:3]), `a\n`+"\t\u00e9\x41")
}

func growing() string {
	m := map[int]bool{1: true}
	for k := range m {
		delete(m, k)
	}
	n := 0
	set := map[int]bool{}
	for i := range 100 {
		set[i] = true
	}
	for k := range set {
		n++
		for j := range 100 {
			if j != k {
				delete(set, j)
			}
		}
	}
	list := []int{1, 2, 3}
	seen := 0
	for i, v := range list {
		if i == 0 {
			list = append(list, 4, 5)
			list[1] = 20
		}
		seen += v
	}
	array := [3]int{1, 2, 3}
	copied := 0
	for i, v := range array {
		array[2] = 30
		copied += v + i
	}
	shared := 0
	for _, v := range &array {
		array[2] = 300
		shared += v
	}
	var none []int
	for range none {
		seen = -1
	}
	var closed chan int
	select {
	case <-closed:
		seen = -1
	case closed <- 1:
		seen = -1
	default:
	}
	clear(list)
	clear(set)
	return say(len(m), n, len(set), seen, copied, shared, list, min(3, 1, 2), max("a", "c", "b"), min(2.5, 1))
}

func panicTexts() string {
	out := ""
	try := func(what string, f func()) {
		defer func() {
			r := recover()
			err, isError := r.(error)
			out += fmt.Sprintf("%s: %v %t\n", what, r, isError)
			_ = err
		}()
		f()
	}
	var m map[string]int
	var p *point
	var s shape
	var a any = "text"
	var list []int
	var f func()
	zero, big, minus := 0, 10, -1
	closed := make(chan int)
	close(closed)
	array := [3]int{}
	try("map", func() { m["a"] = 1 })
	try("pointer", func() { p.x = 1 })
	try("method", func() { s.area() })
	try("assert", func() { _ = a.(int) })
	try("assert2", func() { _ = a.(shape) })
	try("assert3", func() { _ = s.(square) })
	try("assert4", func() { a = square{1}; _ = a.(*circle) })
	try("assert5", func() { a = nil; _ = a.(fmt.Stringer) })
	try("index", func() { _ = list[big] })
	try("index2", func() { _ = array[big%4+1] })
	try("negative", func() { _ = list[minus] })
	try("slice", func() { _ = list[:big] })
	try("slice2", func() { _ = array[2:][big:] })
	try("slice3", func() { _ = "abc"[big:] })
	try("slice4", func() { _ = "abc"[2:zero] })
	try("slice5", func() { _ = "abc"[minus+zero:] })
	try("slice6", func() { _ = array[:][:2:big] })
	try("divide", func() { _ = 1 / zero })
	try("modulo", func() { _ = big % zero })
	try("call", func() { f() })
	try("closed", func() { closed <- 1 })
	try("close", func() { close(closed) })
	try("close nil", func() { var c chan int; close(c) })
	try("make", func() { _ = make([]int, minus) })
	try("own", func() { panic(point{1, 2}) })
	try("own error", func() { panic(&lostError{"p"}) })
	try("nil", func() { panic(nil) })
	try("compare", func() { var x, y any = []int{1}, []int{1}; _ = x == y })
	try("key", func() { map[any]int{}[func() {}] = 1 })
	try("array", func() { _ = [4]int(list) })
	try("shift", func() { _ = 1 << minus })
	return out
}
