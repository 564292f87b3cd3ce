package interpreter

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/playground/interpreter/language"
)

// Each part of the language means what it means to the compiler.
func TestInterpretedLanguageIsGo(t *testing.T) {
	source, err := os.ReadFile("language/language.go")
	require.NoError(t, err)
	p, c := compiled(t, string(source))
	var answers []string
	p.within(func(f *frame) {
		answers = c.codes[function(c, "Answers")].run(f, nil)[0].Interface().([]string)
	}, false)
	require.Nil(t, p.trouble.Load())
	for i, want := range language.Answers() {
		require.Equal(t, want, answers[i])
	}
}
