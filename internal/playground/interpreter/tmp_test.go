package interpreter_test

import (
	"fmt"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
)

func TestTmp(t *testing.T) {
	s := strangers["s03"]
	c := columns.Must(s.from)
	compiled := failures.Subject{Name: "mylock", New: s.new, Has: c.Subject.Has, Ignore: failures.IsBeside}
	lock, _ := interpreter.Load("s03", filesOf(t, "internal/playground/interpreter/testdata/strangers/s03"))
	mine := lock.Subject("mylock", c.Subject.Has...)
	mine.Ignore = failures.IsBeside
	f, _ := failures.Find("grant-reply-lost")
	for range 6 {
		a, b := failures.Run(t, f, compiled), failures.Run(t, f, mine)
		fmt.Println("compiled", len(a.Trace.Events), "interpreted", len(b.Trace.Events))
	}
}
