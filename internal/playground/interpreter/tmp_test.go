package interpreter_test

import (
	"fmt"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
)

func TestTmp(t *testing.T) {
	s := strangers["u05"]
	c := columns.Must(s.from)
	compiled := failures.Subject{Name: "mylock", New: s.new, Has: c.Subject.Has, Ignore: failures.IsBeside}
	lock, _ := interpreter.Load("u05", filesOf(t, "internal/playground/interpreter/testdata/strangers/u05"))
	mine := lock.Subject("mylock", c.Subject.Has...)
	mine.Ignore = failures.IsBeside
	f, _ := failures.Find("unlock-while-renewal-hangs")
	for range 6 {
		a, b := failures.Run(t, f, compiled), failures.Run(t, f, mine)
		fmt.Println("compiled", len(a.Trace.Events), "interpreted", len(b.Trace.Events))
	}
}
