package language

//lint:file-ignore SA4000,SA4006,SA4009,SA4023,SA4026,SA5000,SA5009,SA5011,ST1001,U1000 it is about the dark corners

import (
	"bytes"
	"context"
	. "errors"
	"fmt"
	_ "math"
	str "strings"
	"sync"
	"time"
	"unicode/utf8"
)

type (
	sizes             [3]uint16
	matrix            [2][2]float32
	alias             = map[string][]point
	set[T comparable] map[T]struct{}
	pairs[T any]      = []pairOf[string, T]
)

func (s set[T]) add(all ...T) set[T] {
	for _, v := range all {
		s[v] = struct{}{}
	}
	return s
}

func (s set[T]) has(v T) bool { _, ok := s[v]; return ok }

func (m matrix) times(o matrix) (r matrix) {
	for i := range m {
		for j := range o[0] {
			for k := range o {
				r[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return
}

var (
	second = first * 2
	first  = start()
	third  = func() int { return second + 1 }()
	table  = map[string]func(...int) int{"sum": addAll, "count": func(all ...int) int { return len(all) }}
	errs   = [...]error{0: New("zero"), 2: Join(New("two"), nil, New("deux"))}
)

func start() int { return 20 }

func addAll(all ...int) (n int) {
	for len(all) > 0 {
		n, all = n+all[0], all[1:]
	}
	return n
}

func typesOfAllKinds() string {
	s := sizes{1, 2}
	t := s
	t[2] = 3
	m := matrix{{1, 2}, {3, 4}}
	a := alias{"x": {{1, 2}}}
	a["x"] = append(a["x"], point{})
	known := set[string]{}.add("a", "b", "a")
	var p pairs[int] = pairs[int]{{"k", 1}, {Key: "v"}}
	return say(s == t, s, t, m.times(m), len(a["x"]), len(known), known.has("b"), known.has("z"), p, first, second, third, table["sum"](1, 2, 3), table["count"](), errs[1] == nil, str.ReplaceAll(errs[2].Error(), "\n", "+"))
}

type level int

const (
	low level = iota*10 + 1
	middle
	_
	high
	text, length       = "constant", len("constant")
	mask               = 1<<length - 1
	typed        uint8 = mask & 0x0f
	wait               = 3 * time.Second / 2
)

func constantsOfAllKinds() string {
	const local = high + 1
	var f float32 = mask
	x := mask >> 2
	const big = 1 << 62
	return say(low, middle, high, text, length, mask, typed, wait, local, f/3, x, big>>60, 'x', '\n', "\u00e9\x41\101", 0b101, 0o17, 0x_ff, 1_000, 1e3, 0x1p4, 7.0)
}

type account struct {
	sync.Mutex
	*bytes.Buffer
	limits struct {
		day, month int
		history    []struct{ at, by int }
	}
	notify func(string, ...any) string
	time.Duration
}

func embeddedThings() string {
	a := account{Buffer: new(bytes.Buffer), Duration: time.Minute}
	a.notify = fmt.Sprintf
	func() {
		a.Lock()
		defer a.Unlock()
		a.WriteString("written ")
		fmt.Fprintf(a.Buffer, "%d", 7)
	}()
	a.limits.day++
	a.limits.history = append(a.limits.history, struct{ at, by int }{1, 2}, struct{ at, by int }{by: 5})
	for i := range a.limits.history {
		a.limits.history[i].at += i
	}
	write := a.Buffer.WriteByte
	_ = write('!')
	return say(a.Buffer.String(), a.Len(), a.limits, a.Seconds(), a.notify("%s-%v", "n", a.limits.day), a.TryLock())
}

func tables() string {
	out := ""
	for _, c := range []struct {
		name string
		in   []int
		want int
		f    func(...int) int
	}{
		{"sum", []int{1, 2}, 3, addAll},
		{name: "none", f: table["count"]},
		{"three", []int{3, 3, 3}, 9, func(all ...int) int { return all[0] * len(all) }},
	} {
		out += fmt.Sprint(c.name, c.f(c.in...) == c.want, " ")
	}
	for i, row := range [][]string{{"a"}, nil, {"b", "c"}} {
		for range row {
			out += fmt.Sprint(i)
		}
	}
	funcs := [2]func() string{func() string { return "f0" }, nil}
	if funcs[1] == nil {
		funcs[1] = funcs[0]
	}
	return say(out, funcs[1]())
}

func closuresEverywhere() string {
	next := func() func() int {
		n := 0
		return func() int { n++; return n }
	}()
	var stack []func()
	out := ""
	for i, c := range "abc" {
		stack = append(stack, func() { out += fmt.Sprint(i, string(c), next(), " ") })
	}
	for n := len(stack) - 1; n >= 0; n-- {
		stack[n]()
	}
	x := 1
	inc := func(by int) (old int) { old, x = x, x+by; return }
	p := &x
	*p += inc(10)
	{
		x := "shadow"
		_ = x
	}
	if x := x * 2; x > 5 {
		out += fmt.Sprint(x)
	} else if y := x; y > 0 {
		out += "else"
	}
	compose := func(fs ...func(int) int) func(int) int {
		return func(v int) int {
			for _, f := range fs {
				v = f(v)
			}
			return v
		}
	}
	return say(out, x, compose(func(n int) int { return n + 1 }, func(n int) int { return n * n }, inc)(3), x)
}

func goroutinesAndChannels() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	jobs, done := make(chan point, 4), make(chan map[string]int)
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Add(1)
		go func(id int) {
			defer wg.Done()
			for p := range jobs {
				done <- map[string]int{"sum": p.x + p.y, "worker": id}
			}
		}(w)
	}
	go func() {
		defer close(jobs)
		for i := range 6 {
			select {
			case jobs <- point{i, i * i}:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() { wg.Wait(); close(done) }()
	total, n := 0, 0
	for r := range done {
		total += r["sum"]
		n++
	}
	var once sync.Once
	calls := 0
	for range 3 {
		once.Do(func() { calls++ })
	}
	var shared sync.Map
	v, loaded := shared.LoadOrStore(point{1, 1}, &point{2, 2})
	v.(*point).x = 9
	w, _ := shared.Load(point{1, 1})
	shared.Store("k", point{5, 5})
	count := 0
	shared.Range(func(k, v any) bool {
		switch v := v.(type) {
		case *point:
			count += v.x
		case point:
			count += v.y * 100
		}
		return true
	})
	pool := sync.Pool{New: func() any { return &bytes.Buffer{} }}
	b := pool.Get().(*bytes.Buffer)
	b.WriteString("pooled")
	cond := sync.NewCond(&sync.Mutex{})
	ready := false
	go func() { cond.L.Lock(); ready = true; cond.L.Unlock(); cond.Broadcast() }()
	cond.L.Lock()
	for !ready {
		cond.Wait()
	}
	cond.L.Unlock()
	one, two := make(chan int, 1), make(chan string, 1)
	one <- 1
	both := ""
	for range 2 {
		select {
		case n, ok := <-one:
			both += fmt.Sprint(n, ok)
			two <- "two"
			one = nil
		case s := <-two:
			both += s
		}
	}
	timer := time.NewTimer(time.Hour)
	stopped := timer.Stop()
	late := make(chan bool)
	time.AfterFunc(time.Millisecond, func() { late <- true })
	<-late
	sub, end := context.WithCancelCause(context.WithValue(ctx, point{1, 2}, "value"))
	after := make(chan error, 1)
	context.AfterFunc(sub, func() { after <- context.Cause(sub) })
	end(&lostError{"cause"})
	cause := <-after
	var lost *lostError
	return say(total, n, calls, loaded, w.(*point).x, count, b.String(), both, stopped, sub.Value(point{1, 2}), sub.Value(point{2, 1}), As(cause, &lost), lost.name, sub.Err())
}

type visitor interface {
	visit(n int) (visitor, bool)
}

type countingVisitor struct{ seen *[]int }

func (v countingVisitor) visit(n int) (visitor, bool) {
	*v.seen = append(*v.seen, n)
	if n%2 == 0 {
		return v, true
	}
	return nil, false
}

type wrapperVisitor struct {
	visitor
	prefix int
}

func (w wrapperVisitor) visit(n int) (visitor, bool) { return w.visitor.visit(n + w.prefix) }

func interfacesInStructs() string {
	var seen []int
	var v visitor = wrapperVisitor{countingVisitor{&seen}, 100}
	again, ok := v.visit(2)
	none, no := v.visit(3)
	_, isCounting := again.(countingVisitor)
	_, isWrapper := v.(wrapperVisitor)
	same := again == visitor(countingVisitor{&seen})
	all := map[visitor]string{v: "wrapper", again: "counting"}
	var s fmt.Stringer
	switch x := any(v).(type) {
	case fmt.Stringer:
		s = x
	case interface{ visit(int) (visitor, bool) }:
		seen = append(seen, -1)
	}
	_, visits := any(map[string]int{}).(visitor)
	list := []any{1, "a", nil, point{1, 2}, &seen, 2.5, 'x', []int(nil), error(nil)}
	kinds := ""
	for _, x := range list {
		switch x {
		case nil:
			kinds += "nil "
		case 1, "a":
			kinds += "plain "
		case point{1, 2}:
			kinds += "point "
		default:
			kinds += fmt.Sprintf("%T ", x)
		}
		if kinds == "nil nil" {
			break
		}
	}
	return say(seen, ok, none == nil, no, isCounting, isWrapper, visits, same, all[countingVisitor{&seen}], s == nil, kinds)
}

func textsAndBytes() string {
	var b str.Builder
	for i, w := range str.Fields(" the quick  brown ") {
		if i > 0 {
			b.WriteRune('–')
		}
		b.WriteString(str.ToUpper(w[:1]) + w[1:])
	}
	raw := []byte("owner:42:x")
	parts := str.SplitN(string(raw), ":", 3)
	raw = append(raw[:0], raw[6:]...)
	before, after, ok := str.Cut("k=v=w", "=")
	n := 0
	_, err := fmt.Sscanf("n 12", "n %d", &n)
	count := map[rune]int{}
	for _, r := range "héllo" {
		count[r]++
	}
	rest, cut := str.CutPrefix("lock:name", "lock:")
	return say(b.String(), b.Len(), parts, string(raw), before, after, ok, n, err, count['l'], utf8.RuneCountInString("héllo"), rest, cut, str.Map(func(r rune) rune { return r + 1 }, "abc"),
		str.EqualFold("Go", "GO"), fmt.Sprintf("%08b %o %#x %e %g %6.2f|%-8s|%8s|%+d|%q|%v", 5, 8, 255, 1234.5, 0.1, 3.14159, "ab", "cd", 5, 'x', struct{}{}))
}
