// Package i18n translates what the program prints. A text is a template in
// English, next to the code that prints it:
//
//	var waitsFor = i18n.New("{client} waits for {other}")
//	…
//	waitsFor.Localize(language, "client", "A", "other", "B")
//
// Its translation is in zh.json, under the English template. A sentence with parts is one
// template, since the order of words differs between languages. Tests find translations
// that are missing or unused; "zh: pending" marks one that is to come.
package i18n

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text is a template in English, with names in braces where values go.
type Text string

var known = map[Text]bool{}

// New returns a text and registers it. It is for package variables.
func New(english string) Text {
	Register(Text(english))
	return Text(english)
}

// Register registers texts that are literals elsewhere, such as a failure's story. It is for init.
// The tests report a translation of a text that is not registered as unused.
func Register(all ...Text) {
	for _, t := range all {
		known[t] = true
	}
}

// Localize returns the text in a language, or in English if it has no translation. The pairs are
// names of the template and their values. A template has spaces around a value: between two Chinese
// characters there is none.
func (t Text) Localize(l Language, pairs ...any) string {
	if chinese := Translations()[t]; l == Chinese && chinese != Pending {
		t = Text(cmp.Or(chinese, string(t)))
	}
	made := ""
	for rest := string(t); ; {
		before, after, opens := strings.Cut(rest, "{")
		made += before
		if !opens {
			return made
		}
		name, more, _ := strings.Cut(after, "}")
		at := 0
		for at+1 < len(pairs) && pairs[at] != any(name) {
			at += 2
		}
		if at+1 < len(pairs) {
			value := Words(pairs[at+1], l)
			if short := strings.TrimSuffix(made, " "); l == Chinese && endsInHan(short) && beginsWithHan(value) {
				made = short
			}
			if short := strings.TrimPrefix(more, " "); l == Chinese && endsInHan(value) && beginsWithHan(short) {
				more = short
			}
			made, rest = made+value, more
		} else {
			made += "{"
			rest = after
		}
	}
}

// beginsWithHan reports whether the text begins with a Chinese character.
func beginsWithHan(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.Is(unicode.Han, r)
}

// endsInHan reports whether the text ends in a Chinese character.
func endsInHan(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.Is(unicode.Han, r)
}

// Each returns texts in a language.
func Each(l Language, all ...Text) (texts []string) {
	for _, t := range all {
		texts = append(texts, t.Localize(l))
	}
	return texts
}

// Message is a text with its values. It may serve as an error.
type Message struct {
	Text
	Pairs []any
}

// Args returns the text with its values.
func (t Text) Args(pairs ...any) Message { return Message{t, pairs} }

// Localize returns the message in a language.
func (s Message) Localize(l Language) string { return s.Text.Localize(l, s.Pairs...) }

// Error returns the message in English.
func (s Message) Error() string { return s.Localize(English) }

// Unwrap returns the errors among the values.
func (s Message) Unwrap() (all []error) {
	for _, value := range s.Pairs {
		if err, ok := value.(error); ok {
			all = append(all, err)
		}
	}
	return all
}

// Words formats a value, such as an error, in a language if it has translations.
func Words(value any, l Language) string {
	switch value := value.(type) {
	case Text:
		return value.Localize(l)
	case interface{ Localize(Language) string }:
		return value.Localize(l)
	}
	return fmt.Sprint(value)
}

// MarshalText returns the message in English.
func (s Message) MarshalText() ([]byte, error) { return []byte(s.Error()), nil }

// UnmarshalText sets a text without values, in the language that was marshalled.
func (s *Message) UnmarshalText(text []byte) error {
	*s = Message{Text: Text(text)}
	return nil
}

// Plural is a text with a number, {n}.
type Plural struct{ One, Many Text }

// NewPlural registers both texts.
func NewPlural(one, many string) Plural { return Plural{New(one), New(many)} }

// Of returns the text for a number, with its other values.
func (p Plural) Of(n int, pairs ...any) Message {
	text := p.Many
	if n == 1 {
		text = p.One
	}
	return text.Args(append([]any{"n", n}, pairs...)...)
}

// Pending is the translation of a text that waits for one: it is shown in English.
const Pending = "zh: pending"

//go:embed zh.json
var chinese []byte

// Translations returns the Chinese templates, keyed by the English ones. A template that waits for its
// translation is [Pending].
var Translations = sync.OnceValue(func() map[Text]string {
	all := map[Text]string{}
	if err := json.Unmarshal(chinese, &all); err != nil {
		panic("i18n: zh.json: " + err.Error()) // a test reads it
	}
	return all
})

// Language is a language by its name in --lang.
type Language string

// The languages. The zero value is English.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Languages are all languages; the first is the default.
var Languages = []Language{English, Chinese}

// Tag returns the language as HTML names it.
func (l Language) Tag() string {
	if l == Chinese {
		return "zh-CN"
	}
	return "en"
}

var named = map[string]Language{
	"en": English, "english": English, "英文": English, "英语": English,
	"zh": Chinese, "chinese": Chinese, "中文": Chinese, "简体中文": Chinese, "汉语": Chinese,
}

// Find finds a language by its name or its locale: zh_CN.UTF-8, zh-Hans and 中文 are zh.
// For any other name it returns English and false.
func Find(name string) (Language, bool) {
	name, _, _ = strings.Cut(strings.NewReplacer("_", "-", ".", "-", "@", "-").Replace(strings.ToLower(name)), "-")
	l, ok := named[name]
	return cmp.Or(l, English), ok
}

// OfEnvironment returns the language of the locale: the first variable that is set decides.
// For other languages it is English.
func OfEnvironment(getenv func(string) string) Language {
	l, _ := Find(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")))
	return l
}
