// Package slices is what locks use of Go's slices.
package slices

type ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64 | ~string
}

func compare[E ordered](x, y E) int {
	switch {
	case x < y, x != x && y == y:
		return -1
	case x > y, y != y && x == x:
		return +1
	}
	return 0
}

// IndexFunc is the first index of what a function is true for, or -1.
func IndexFunc[S ~[]E, E any](s S, is func(E) bool) int {
	for i := range s {
		if is(s[i]) {
			return i
		}
	}
	return -1
}

// Index is the first index of a value, or -1.
func Index[S ~[]E, E comparable](s S, v E) int {
	for i := range s {
		if v == s[i] {
			return i
		}
	}
	return -1
}

// Contains tells whether a value is there.
func Contains[S ~[]E, E comparable](s S, v E) bool { return Index(s, v) >= 0 }

// ContainsFunc tells whether something is there that a function is true for.
func ContainsFunc[S ~[]E, E any](s S, is func(E) bool) bool { return IndexFunc(s, is) >= 0 }

// Equal tells whether two slices have the same.
func Equal[S ~[]E, E comparable](a, b S) bool {
	return EqualFunc(a, b, func(x, y E) bool { return x == y })
}

// EqualFunc tells whether two slices have the same, as a function sees it.
func EqualFunc[S1 ~[]E1, S2 ~[]E2, E1, E2 any](a S1, b S2, same func(E1, E2) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Clone is a copy.
func Clone[S ~[]E, E any](s S) S {
	if s == nil {
		return nil
	}
	return append(S{}, s...)
}

// Concat is one slice of many.
func Concat[S ~[]E, E any](all ...S) S {
	var made S
	for _, s := range all {
		made = append(made, s...)
	}
	return made
}

// Insert is a slice with values at an index.
func Insert[S ~[]E, E any](s S, i int, v ...E) S {
	rest := Clone(s[i:])
	if len(s)+len(v) > cap(s) {
		s = s[:i:i] // the old one stays as it is
	}
	return append(append(s[:i], v...), rest...)
}

// Delete is a slice without the elements from i to j.
func Delete[S ~[]E, E any](s S, i, j int) S {
	_ = s[i:j:len(s)]
	all := s
	s = append(s[:i], s[j:]...)
	clear(all[len(s):])
	return s
}

// DeleteFunc is a slice without what a function is true for.
func DeleteFunc[S ~[]E, E any](s S, remove func(E) bool) S {
	n := 0
	for _, v := range s {
		if !remove(v) {
			s[n] = v
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}

// Compact is a slice in which nothing stands twice in a row.
func Compact[S ~[]E, E comparable](s S) S {
	return CompactFunc(s, func(x, y E) bool { return x == y })
}

// CompactFunc is a slice in which nothing stands twice in a row, as a function sees it.
func CompactFunc[S ~[]E, E any](s S, same func(E, E) bool) S {
	n := 0
	for i := range s {
		if i == 0 || !same(s[n-1], s[i]) {
			s[n] = s[i]
			n++
		}
	}
	clear(s[n:])
	return s[:n]
}

// Reverse turns a slice around.
func Reverse[S ~[]E, E any](s S) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// Repeat is a slice many times.
func Repeat[S ~[]E, E any](s S, count int) S {
	made := S{}
	for range count {
		made = append(made, s...)
	}
	return made
}

// Grow is a slice that has room for n more.
func Grow[S ~[]E, E any](s S, n int) S {
	if n <= cap(s)-len(s) {
		return s
	}
	return append(s[:cap(s)], make([]E, len(s)+n-cap(s))...)[:len(s)]
}

// Clip is a slice without room.
func Clip[S ~[]E, E any](s S) S { return s[:len(s):len(s)] }

// Sort sorts.
func Sort[S ~[]E, E ordered](s S) { SortStableFunc(s, compare[E]) }

// SortFunc sorts as a function says.
func SortFunc[S ~[]E, E any](s S, compare func(a, b E) int) { SortStableFunc(s, compare) }

// SortStableFunc sorts as a function says; what is equal keeps its order.
func SortStableFunc[S ~[]E, E any](s S, compare func(a, b E) int) {
	for i := range s {
		for j := i; j > 0 && compare(s[j], s[j-1]) < 0; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

// IsSorted tells whether a slice is sorted.
func IsSorted[S ~[]E, E ordered](s S) bool {
	for i := 1; i < len(s); i++ {
		if compare(s[i], s[i-1]) < 0 {
			return false
		}
	}
	return true
}

// BinarySearch is where a value is in a sorted slice, or would be.
func BinarySearch[S ~[]E, E ordered](s S, v E) (int, bool) {
	return BinarySearchFunc(s, v, compare[E])
}

// BinarySearchFunc is where a value is in a sorted slice, or would be.
func BinarySearchFunc[S ~[]E, E, T any](s S, v T, compare func(E, T) int) (int, bool) {
	i := IndexFunc(s, func(e E) bool { return compare(e, v) >= 0 })
	if i < 0 {
		return len(s), false
	}
	return i, compare(s[i], v) == 0
}

// Max is the greatest.
func Max[S ~[]E, E ordered](s S) E { return MaxFunc(s, compare[E]) }

// Min is the smallest.
func Min[S ~[]E, E ordered](s S) E { return MinFunc(s, compare[E]) }

// MaxFunc is the first of the greatest.
func MaxFunc[S ~[]E, E any](s S, compare func(a, b E) int) E {
	if len(s) == 0 {
		panic("slices.MaxFunc: empty list")
	}
	best := s[0]
	for _, v := range s[1:] {
		if compare(v, best) > 0 {
			best = v
		}
	}
	return best
}

// MinFunc is the first of the smallest.
func MinFunc[S ~[]E, E any](s S, compare func(a, b E) int) E {
	if len(s) == 0 {
		panic("slices.MinFunc: empty list")
	}
	best := s[0]
	for _, v := range s[1:] {
		if compare(v, best) < 0 {
			best = v
		}
	}
	return best
}

// All are the elements with their indexes.
func All[S ~[]E, E any](s S) func(yield func(int, E) bool) {
	return func(yield func(int, E) bool) {
		for i, v := range s {
			if !yield(i, v) {
				return
			}
		}
	}
}

// Backward are the elements with their indexes, from the last.
func Backward[S ~[]E, E any](s S) func(yield func(int, E) bool) {
	return func(yield func(int, E) bool) {
		for i := len(s) - 1; i >= 0; i-- {
			if !yield(i, s[i]) {
				return
			}
		}
	}
}

// Values are the elements.
func Values[S ~[]E, E any](s S) func(yield func(E) bool) {
	return func(yield func(E) bool) {
		for _, v := range s {
			if !yield(v) {
				return
			}
		}
	}
}

// AppendSeq is a slice with what an iterator yields.
func AppendSeq[S ~[]E, E any](s S, all func(yield func(E) bool)) S {
	for v := range all {
		s = append(s, v)
	}
	return s
}

// Collect is a slice of what an iterator yields.
func Collect[E any](all func(yield func(E) bool)) []E { return AppendSeq([]E(nil), all) }

// Sorted is a sorted slice of what an iterator yields.
func Sorted[E ordered](all func(yield func(E) bool)) []E {
	s := Collect(all)
	Sort(s)
	return s
}

// SortedFunc is a slice of what an iterator yields, sorted as a function says.
func SortedFunc[E any](all func(yield func(E) bool), compare func(E, E) int) []E {
	s := Collect(all)
	SortFunc(s, compare)
	return s
}

// Chunk gives parts of a size, one after the other.
func Chunk[S ~[]E, E any](s S, size int) func(yield func(S) bool) {
	if size < 1 {
		panic("cannot be less than 1")
	}
	return func(yield func(S) bool) {
		for i := 0; i < len(s); i += size {
			end := min(size, len(s[i:]))
			if !yield(s[i : i+end : i+end]) {
				return
			}
		}
	}
}
