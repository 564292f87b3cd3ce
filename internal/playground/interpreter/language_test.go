package interpreter

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/playground/interpreter/language"
)

// Each part of the language means what it means to the compiler.
func TestInterpretedLanguageIsGo(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"language.go", "memory.go", "modern.go", "idioms.go"} {
		source, err := os.ReadFile("language/" + name)
		require.NoError(t, err)
		files[name] = string(source)
	}
	p, c := compiled(t, files)
	var answers []string
	p.within(func(f *frame) {
		answers = c.codes[function(c, "Answers")].run(f, nil)[0].Interface().([]string)
	}, false)
	require.Nil(t, p.trouble.Load())
	for i, want := range language.Answers() {
		if want != answers[i] {
			t.Errorf("want %s\n is  %s", want, answers[i])
		}
	}
}
