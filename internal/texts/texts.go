// Package texts has what readers read, in each language. A text is a template in
// English, beside the code that says it:
//
//	var standsStill = texts.New("{client} stands still")
//	…
//	standsStill.In(language, "client", "A")
//
// Its translation is in a file of the language, under the English template. Sentences
// with parts are one template: nothing is glued together, since the order of words
// differs between languages.
package texts

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Language is a language, as --lang takes it.
type Language string

// The languages. The zero value is English.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Languages are all languages.
var Languages = []Language{English, Chinese}

// Text is a template in English: names in braces stand for what is put in.
type Text string

var known struct {
	sync.Mutex
	texts []Text
}

// New is a text, which is known from now on. It is for package variables.
func New(english string) Text {
	Know(Text(english))
	return Text(english)
}

// Know makes texts known that stand in literals, such as a failure's story. What is not
// known counts as unused where it is translated.
func Know(all ...Text) {
	known.Lock()
	defer known.Unlock()
	known.texts = append(known.texts, all...)
}

// Known are all texts that are known, each once, sorted.
func Known() []Text {
	known.Lock()
	defer known.Unlock()
	all := slices.Clone(known.texts)
	slices.Sort(all)
	return slices.Compact(all)
}

// In is the text in a language, in English where it has no translation. Names and what
// they stand for come in pairs.
func (t Text) In(l Language, pairs ...any) string {
	said := string(t)
	if l == Chinese {
		if translated, ok := chinese()[t]; ok {
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
		case Said:
			value = inner.In(l)
		}
		put = append(put, fmt.Sprintf("{%v}", pairs[i]), fmt.Sprint(value))
	}
	return strings.NewReplacer(put...).Replace(said)
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

// Plural is a text about a number, {n}.
type Plural struct{ One, Many Text }

// NewPlural is a pair of texts.
func NewPlural(one, many string) Plural { return Plural{New(one), New(many)} }

// In says it of a number.
func (p Plural) In(l Language, n int, pairs ...any) string {
	pairs = append([]any{"n", n}, pairs...)
	if n == 1 {
		return p.One.In(l, pairs...)
	}
	return p.Many.In(l, pairs...)
}

//go:embed zh.json
var chineseFile []byte

// chinese are the translations: English template → Chinese template.
var chinese = sync.OnceValue(func() map[Text]string {
	all := map[Text]string{}
	if err := json.Unmarshal(chineseFile, &all); err != nil {
		panic("texts: zh.json: " + err.Error()) // a test reads it
	}
	return all
})

// Translations are the texts that have a translation, sorted.
func Translations() []Text {
	var all []Text
	for t := range chinese() {
		all = append(all, t)
	}
	slices.Sort(all)
	return all
}
