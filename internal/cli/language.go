package cli

import (
	"strings"

	"lockkata/internal/i18n"
)

var noLanguage = i18n.New("--lang {name}: there are en and zh")

// language returns the language of the last --lang, or else that of the environment. It looks
// before cobra parses the arguments, since help and errors are translated too. An error is printed
// in the language that comes with it.
func (a *app) language(args []string) (l i18n.Language, err error) {
	l = i18n.English
	if a.getenv != nil {
		l = i18n.OfEnvironment(a.getenv)
	}
	for i, arg := range args {
		name, value, has := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return l, err
		case name != "--lang" || !has && i+1 == len(args):
			continue
		case !has:
			value = args[i+1]
		}
		if asked, ok := i18n.Find(value); ok {
			l, err = asked, nil
		} else if value != "" {
			err = noLanguage.Args("name", value)
		}
	}
	return l, err
}
