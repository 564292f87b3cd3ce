package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockkata/internal/i18n"
)

// languageFlag adds --lang and --language, its older name. The value is read by
// askedLanguage before cobra parses the arguments, since help and errors are translated too.
func languageFlag(root *cobra.Command) {
	root.PersistentFlags().String("lang", "", "the `language`, en or zh; without it that of LC_ALL, LC_MESSAGES or LANG")
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "language" {
			name = "lang"
		}
		return pflag.NormalizedName(name)
	})
}

// askedLanguage returns the last value of --lang, or "" without one.
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

var noLanguage = i18n.New("--lang {name}: there are en and zh")

// language returns the language that was asked for, or else that of the environment. An error is
// printed in the language that comes with it.
func (a *app) language(asked string) (i18n.Language, error) {
	usual := i18n.English
	if a.getenv != nil {
		usual = i18n.OfEnvironment(a.getenv)
	}
	if asked == "" {
		return usual, nil
	}
	if l, ok := i18n.Find(asked); ok {
		return l, nil
	}
	return usual, noLanguage.Args("name", asked)
}
