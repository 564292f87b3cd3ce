//go:build !race

package stage6_test

// crowd is how many goroutines want one lock.
const crowd = 10_000
