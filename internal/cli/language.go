package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockkata/internal/texts"
)

// languageFlag adds --lang, which has the name of a language as anybody may write it,
// and --language, its older name. Its value is read before there is a command: help is
// in that language too.
func languageFlag(root *cobra.Command) {
	root.PersistentFlags().String("lang", "", "the `language`, en or zh; without it that of LC_ALL, LC_MESSAGES or LANG")
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "language" {
			name = "lang"
		}
		return pflag.NormalizedName(name)
	})
}

// askedLanguage is the last value of --lang; "" if there is none.
func askedLanguage(args []string) (asked string) {
	for i, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return asked
		case name != "--lang" && name != "--language":
		case has:
			asked = value
		case i+1 < len(args):
			asked = args[i+1]
		}
	}
	return asked
}

// language finds the language that was asked for, else that of the environment.
func (a *app) language(asked string) (texts.Language, error) {
	if asked != "" {
		l, ok := texts.Find(asked)
		if !ok {
			return l, fmt.Errorf("--lang %s: there are en and zh", asked)
		}
		return l, nil
	}
	if a.getenv != nil {
		return texts.OfEnvironment(a.getenv), nil
	}
	return texts.English, nil
}
