package cli

import (
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

var noLanguage = texts.New("--lang {name}: there are en and zh")

// language is the language that was asked for, else the one of the environment. With an error
// it is the latter: the error is printed in it.
func (a *app) language(asked string) (texts.Language, error) {
	usual := texts.English
	if a.getenv != nil {
		usual = texts.OfEnvironment(a.getenv)
	}
	if asked == "" {
		return usual, nil
	}
	if l, ok := texts.Find(asked); ok {
		return l, nil
	}
	return usual, noLanguage.With("name", asked)
}
