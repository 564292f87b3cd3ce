package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"lockkata/internal/texts"
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
func (a *app) language(asked string) (texts.Language, error) {
	if asked != "" {
		l, ok := texts.Find(asked)
		if !ok {
			return l, fmt.Errorf("--lang %s: there are en and zh", asked)
		}
		return l, nil
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if a.getenv == nil {
			break
		}
		if value := a.getenv(name); value != "" { // the first that is set decides
			l, _ := texts.Find(value)
			return l, nil
		}
	}
	return texts.English, nil
}
