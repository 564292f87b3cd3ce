package playground

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/timeline"
	"lockkata/internal/edits"
)

func TestEditsClashWhereTheyChangeTheSameCode(t *testing.T) {
	const text = "abcdef"
	in := func(file, old string) edits.Edit { return edits.Edit{Name: old, File: file, Old: old, New: old + "!"} }
	for _, c := range []struct {
		a, b  edits.Edit
		clash bool
		reads string
	}{
		{in("x/m.go", "abc"), in("x/m.go", "cde"), true, ""},
		{in("x/m.go", "cde"), in("x/m.go", "abc"), true, ""},
		{in("x/m.go", "abcd"), in("x/m.go", "bc"), true, ""},
		{in("x/m.go", "def"), in("x/m.go", "abc"), false, "abc!def!"},
		{in("x/m.go", "abc"), in("x/other.go", "abc"), false, "abc!def"},
	} {
		require.Equal(t, c.clash, clash(c.a, c.b, text), c)
		edited, err := apply(timeline.File{Name: "m.go", Text: text}, []edits.Edit{c.a, c.b})
		require.Equal(t, c.clash, err != nil)
		require.Equal(t, c.reads, edited)
	}
}
