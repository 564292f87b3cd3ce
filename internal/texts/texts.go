// Package texts has what readers read, in each language. A text is a template in
// English, next to the code that says it:
//
//	var standsStill = texts.New("{client} stands still")
//	…
//	standsStill.In(language, "client", "A")
//
// Its translation is in zh.json, under the English template. A sentence with parts is one
// template, since the order of words differs between languages. Tests find translations
// that are missing or unused.
package texts

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
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

// Know makes texts known that stand in literals, such as a failure's story. It is for init.
// What is not known counts as unused where it is translated.
func Know(all ...Text) {
	for _, t := range all {
		known[t] = true
	}
}

// In is the text in a language, in English where it has no translation. Names and what
// they stand for come in pairs.
func (t Text) In(l Language, pairs ...any) string {
	if l == Chinese {
		t = Text(cmp.Or(Translations()[t], string(t)))
	}
	put := make([]string, 0, len(pairs))
	for i := 0; i+1 < len(pairs); i += 2 {
		put = append(put, fmt.Sprintf("{%v}", pairs[i]), Words(pairs[i+1], l))
	}
	return strings.NewReplacer(put...).Replace(string(t))
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

// Words returns what is printed of a value, such as an error: in a language if it can be said in that.
func Words(value any, l Language) string {
	switch value := value.(type) {
	case Text:
		return value.In(l)
	case interface{ In(Language) string }:
		return value.In(l)
	}
	return fmt.Sprint(value)
}

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
	text := p.Many
	if n == 1 {
		text = p.One
	}
	return text.With(append([]any{"n", n}, pairs...)...)
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
