// Package sync has what is generic in Go's sync.
package sync

import "sync"

// OnceValue is a function that calls f once.
func OnceValue[T any](f func() T) func() T {
	var value T
	once := sync.OnceFunc(func() { value = f() })
	return func() T {
		once()
		return value
	}
}

// OnceValues is a function that calls f once.
func OnceValues[T, U any](f func() (T, U)) func() (T, U) {
	var first T
	var second U
	once := sync.OnceFunc(func() { first, second = f() })
	return func() (T, U) {
		once()
		return first, second
	}
}
