package interpreter

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/playground/interpreter/language"
)

// Each part of the language means what it means to the compiler.
func TestInterpretedLanguageIsGo(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"language.go", "memory.go", "modern.go", "newer.go", "idioms.go"} {
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

// What a struct sends that embeds a client is sent at the line that calls it, wherever the client
// stands among what it embeds.
func TestStructThatEmbedsAClientSendsForOthers(t *testing.T) {
	_, c := compiled(t, map[string]string{"lock.go": `package lock

import (
	"sync"

	"github.com/redis/go-redis/v9"
)

type store struct {
	sync.Mutex
	redis.UniversalClient
}

func (s *store) take() {}

type MyClient struct{ redis.UniversalClient }

type keeper struct{ *MyClient }

func (k keeper) take() {}

type other struct{ client redis.UniversalClient }

func (o other) take() {}
`})
	for f, code := range c.codes {
		require.Equal(t, !strings.Contains(f.FullName(), "other"), code.passesOn, f.FullName())
	}
	require.Len(t, c.codes, 3)
}
