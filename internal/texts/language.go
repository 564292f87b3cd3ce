package texts

import (
	"slices"
	"strings"
)

// Language is a language, as --lang takes it.
type Language string

// The languages. The zero value is English.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Languages are all languages; the first is the default.
var Languages = []Language{English, Chinese}

// Tag is the language as a page names it.
func (l Language) Tag() string {
	if l == Chinese {
		return "zh-CN"
	}
	return "en"
}

// Find finds a language by its name, as anybody may write it: zh_CN.UTF-8, zh-CN,
// zh-Hans and 中文 are zh. It is English, and false, if there is none of that name.
func Find(name string) (Language, bool) {
	name = strings.ToLower(name)
	switch name {
	case "中文", "简体中文", "汉语", "chinese":
		return Chinese, true
	case "english", "英文", "英语":
		return English, true
	}
	name, _, _ = strings.Cut(strings.NewReplacer("_", "-", ".", "-", "@", "-").Replace(name), "-")
	if l := Language(name); slices.Contains(Languages, l) {
		return l, true
	}
	return English, false
}

// OfEnvironment is the language that the environment asks for: the first variable that is
// set decides. One in a language that there is not is no fault, but English.
func OfEnvironment(getenv func(string) string) Language {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			l, _ := Find(value)
			return l
		}
	}
	return English
}
