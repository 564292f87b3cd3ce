// Package errors has what is generic in Go's errors.
package errors

import "errors"

// AsType is the first error of a type in a chain.
func AsType[E error](err error) (E, bool) {
	var found E
	ok := errors.As(err, &found)
	return found, ok
}
