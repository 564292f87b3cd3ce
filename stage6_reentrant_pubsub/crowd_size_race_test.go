//go:build race

package stage6_test

// crowd is how many goroutines want one lock. Under the race detector a script takes
// some twenty times as long.
const crowd = 1_000
