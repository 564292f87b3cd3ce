// Package sort has the functions of Go's sort for slices.
package sort

// Slice sorts a slice.
func Slice[T any](all []T, less func(i, j int) bool) { SliceStable(all, less) }

// SliceStable sorts a slice; what is equal keeps its order.
func SliceStable[T any](all []T, less func(i, j int) bool) {
	for i := range all {
		for j := i; j > 0 && less(j, j-1); j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
}

func ordered[T int | string | float64](all []T) {
	SliceStable(all, func(i, j int) bool { return all[i] < all[j] })
}

// Strings sorts strings.
func Strings(all []string) { ordered(all) }

// Ints sorts numbers.
func Ints(all []int) { ordered(all) }

// Float64s sorts numbers.
func Float64s(all []float64) { ordered(all) }

// Search is the first index at which a function is true; n if there is none.
func Search(n int, is func(int) bool) int {
	low, high := 0, n
	for low < high {
		if middle := (low + high) / 2; is(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}
