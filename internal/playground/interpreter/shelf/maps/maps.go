// Package maps is Go's maps.
package maps

// Keys are the keys, in no order.
func Keys[M ~map[K]V, K comparable, V any](m M) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Values are the values, in no order.
func Values[M ~map[K]V, K comparable, V any](m M) func(yield func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// All are the keys with their values, in no order.
func All[M ~map[K]V, K comparable, V any](m M) func(yield func(K, V) bool) {
	return func(yield func(K, V) bool) {
		for k, v := range m {
			if !yield(k, v) {
				return
			}
		}
	}
}

// Insert adds what an iterator yields.
func Insert[M ~map[K]V, K comparable, V any](m M, all func(yield func(K, V) bool)) {
	for k, v := range all {
		m[k] = v
	}
}

// Collect is a map of what an iterator yields.
func Collect[K comparable, V any](all func(yield func(K, V) bool)) map[K]V {
	m := map[K]V{}
	Insert(m, all)
	return m
}

// Clone is a copy.
func Clone[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return nil
	}
	made := make(M, len(m))
	Copy(made, m)
	return made
}

// Copy adds what another map has.
func Copy[M1 ~map[K]V, M2 ~map[K]V, K comparable, V any](to M1, from M2) {
	for k, v := range from {
		to[k] = v
	}
}

// DeleteFunc removes what a function is true for.
func DeleteFunc[M ~map[K]V, K comparable, V any](m M, remove func(K, V) bool) {
	for k, v := range m {
		if remove(k, v) {
			delete(m, k)
		}
	}
}

// Equal tells whether two maps have the same.
func Equal[M1, M2 ~map[K]V, K, V comparable](a M1, b M2) bool {
	return EqualFunc(a, b, func(x, y V) bool { return x == y })
}

// EqualFunc tells whether two maps have the same, as a function sees it.
func EqualFunc[M1 ~map[K]V1, M2 ~map[K]V2, K comparable, V1, V2 any](a M1, b M2, same func(V1, V2) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || !same(v, w) {
			return false
		}
	}
	return true
}
