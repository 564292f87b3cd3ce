package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"lockkata/internal/interview"
)

// languageFlag adds --lang, which has the name of a language as anybody may write it,
// and --language, its older name.
func languageFlag(f *pflag.FlagSet, value *string) {
	f.StringVar(value, "lang", "", "the `language`, en or zh; without it that of LC_ALL, LC_MESSAGES or LANG")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "language" {
			name = "lang"
		}
		return pflag.NormalizedName(name)
	})
}

// language finds the language that was asked for, else that of the environment, else
// English. An environment in a language that there is not is no fault.
func (a *app) language(asked string) (*interview.Language, error) {
	if asked != "" {
		if l := interview.FindLanguage(languageName(asked)); l != nil {
			return l, nil
		}
		return nil, fmt.Errorf("--lang %s: there are en and zh", asked)
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if a.getenv == nil {
			break
		}
		if value := a.getenv(name); value != "" {
			if l := interview.FindLanguage(languageName(value)); l != nil {
				return l, nil
			}
			break // the first that is set decides
		}
	}
	return interview.FindLanguage("en"), nil
}

// languageName is what a language is called here: zh_CN.UTF-8, zh-CN, zh-Hans and 中文
// are zh.
func languageName(text string) string {
	text = strings.ToLower(text)
	switch text {
	case "中文", "简体中文", "汉语", "chinese":
		return "zh"
	case "english", "英文", "英语":
		return "en"
	}
	name, _, _ := strings.Cut(strings.NewReplacer("_", "-", ".", "-", "@", "-").Replace(text), "-")
	return name
}
