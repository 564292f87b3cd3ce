package interpreter_test

import (
	"fmt"
	"path"
	"testing"

	"lockkata/internal/columns"
	"lockkata/internal/playground/interpreter"
)

func TestTmp(t *testing.T) {
	for _, c := range columns.All {
		_, problems := interpreter.Load(path.Base(c.Dir), filesOf(t, c.Dir))
		fmt.Println(c.ID, problems)
	}
}
