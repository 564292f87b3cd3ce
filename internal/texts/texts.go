// Package texts has what readers read, in each language. A text is a template in
// English, beside the code that says it:
//
//	var standsStill = texts.New("{client} stands still")
//	…
//	standsStill.In(language, "client", "A")
//
// Its translation is in a file of the language, under the English template. Sentences
// with parts are one template: nothing is glued together, since the order of words
// differs between languages. A test lists what has no translation, and finds what is
// translated but said nowhere.
package texts

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Text is a template in English: names in braces stand for what is put in.
type Text string

var known = map[Text]bool{}

// New is a text, which is known from now on. It is for package variables.
func New(english string) Text {
	Know(Text(english))
	return Text(english)
}

// Know makes texts known that stand in literals, such as a failure's story; empty ones are
// none. It is for init. What is not known counts as unused where it is translated.
func Know(all ...Text) {
	for _, t := range all {
		if t != "" {
			known[t] = true
		}
	}
}

// Known are all texts that are known, sorted.
func Known() []Text { return slices.Sorted(maps.Keys(known)) }

// In is the text in a language, in English where it has no translation. Names and what
// they stand for come in pairs.
func (t Text) In(l Language, pairs ...any) string {
	said := string(t)
	if l == Chinese {
		if translated, ok := Translations()[t]; ok {
			said = translated
		}
	}
	if len(pairs) == 0 {
		return said
	}
	put := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		switch inner := value.(type) {
		case Text:
			value = inner.In(l)
		case inLanguages:
			value = inner.In(l)
		}
		put = append(put, fmt.Sprintf("{%v}", pairs[i]), fmt.Sprint(value))
	}
	return strings.NewReplacer(put...).Replace(said)
}

// Each are texts in a language.
func Each(l Language, all ...Text) (said []string) {
	for _, t := range all {
		said = append(said, t.In(l))
	}
	return said
}

// Said is a text with what is put in.
type Said struct {
	Text
	Pairs []any
}

// With is the text with what is put in, to be said later.
func (t Text) With(pairs ...any) Said { return Said{t, pairs} }

// In says it in a language.
func (s Said) In(l Language) string { return s.Text.In(l, s.Pairs...) }

// Error is the English of it: what is said may be an error.
func (s Said) Error() string { return s.In(English) }

// Unwrap are the errors that are put in.
func (s Said) Unwrap() (all []error) {
	for _, value := range s.Pairs {
		if err, ok := value.(error); ok {
			all = append(all, err)
		}
	}
	return all
}

// inLanguages is what can be said in each language: a [Said], or an error that has some.
type inLanguages interface{ In(Language) string }

// Words are those of an error, in a language if it can be said in that.
func Words(err error, l Language) string {
	if said, ok := err.(inLanguages); ok {
		return said.In(l)
	}
	return err.Error()
}

// Only is what is said in one language for good, as another process has to send it.
func (s Said) Only(l Language) Said { return Said{Text: Text(s.In(l))} }

// MarshalText is the English of it.
func (s Said) MarshalText() ([]byte, error) { return []byte(s.Error()), nil }

// UnmarshalText takes it as it is, in whichever language.
func (s *Said) UnmarshalText(said []byte) error {
	*s = Said{Text: Text(said)}
	return nil
}

// Plural is a text about a number, {n}.
type Plural struct{ One, Many Text }

// NewPlural is a pair of texts.
func NewPlural(one, many string) Plural { return Plural{New(one), New(many)} }

// Of says it of a number, with what else is put in.
func (p Plural) Of(n int, pairs ...any) Said {
	pairs = append([]any{"n", n}, pairs...)
	if n == 1 {
		return p.One.With(pairs...)
	}
	return p.Many.With(pairs...)
}

//go:embed zh.json
var chinese []byte

// Translations are the Chinese templates of the English ones.
var Translations = sync.OnceValue(func() map[Text]string {
	all := map[Text]string{}
	if err := json.Unmarshal(chinese, &all); err != nil {
		panic("texts: zh.json: " + err.Error()) // a test reads it
	}
	return all
})
