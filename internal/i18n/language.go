package i18n

import (
	"cmp"
	"strings"
)

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
