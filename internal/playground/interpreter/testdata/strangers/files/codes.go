package files

import (
	"iter"
	"strings"
	"time"
)

type code uint8

const (
	free code = iota + 1
	held
	broken = code(1 << iota)
	last   = broken
)

const (
	_      = iota
	unit   = 10 * (1 + iota) * time.Millisecond / 2
	offset = 1
)

var table = func() (t [last + 1]string) {
	for i, n := range names {
		t[i] = strings.ToUpper(n)
	}
	return t
}()

func (c code) String() string { return names[c] }

func codes() iter.Seq[code] {
	return func(yield func(code) bool) {
		for i := code(1); i <= last; i++ {
			if names[i] != "" && !yield(i) {
				return
			}
		}
	}
}

func init() { order += "a" }
func init() { order += "b" }
