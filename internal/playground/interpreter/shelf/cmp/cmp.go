// Package cmp is Go's cmp.
package cmp

// Ordered is a type with an order.
type Ordered interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64 | ~string
}

// Less tells whether x is less than y; NaN is less than everything else.
func Less[T Ordered](x, y T) bool { return (x != x && y == y) || x < y }

// Compare is -1, 0 or +1.
func Compare[T Ordered](x, y T) int {
	switch {
	case Less(x, y):
		return -1
	case Less(y, x):
		return +1
	}
	return 0
}

// Or is the first that is not zero.
func Or[T comparable](all ...T) T {
	var zero T
	for _, v := range all {
		if v != zero {
			return v
		}
	}
	return zero
}
