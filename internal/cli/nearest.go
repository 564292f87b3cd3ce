package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"lockkata/internal/i18n"
)

var (
	thereAre   = i18n.New("{fault}; there are: {names}")
	areListed  = i18n.New("{fault}; {list} prints all names")
	didYouMean = i18n.NewPlural("{fault}; did you mean {names}?", "{fault}; did you mean one of these: {names}?")
)

// An error lists up to mostNames names. Only the failures are more: listsFailures prints them.
const (
	mostNames     = 20
	listsFailures = "go run . list"
)

// suggest ends an error about an unknown name with the nearest names.
func suggest(fault i18n.Message, name string, known []string) error {
	near := nearest(name, known)
	if len(near) == 0 && len(known) > mostNames {
		return areListed.Args("fault", fault, "list", listsFailures)
	}
	if len(near) == 0 {
		return thereAre.Args("fault", fault, "names", strings.Join(known, ", "))
	}
	return didYouMean.Of(len(near), "fault", fault, "names", strings.Join(near, ", "))
}

// nearest returns up to three names that contain a word, or else those with the fewest
// typing errors.
func nearest(word string, known []string) (near []string) {
	if word == "" {
		return nil
	}
	names := new(cobra.Command) // cobra suggests subcommands, so each name is one
	for _, name := range known {
		if strings.Contains(name, strings.ToLower(word)) {
			near = append(near, name)
		}
		names.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for len(near) == 0 && names.SuggestionsMinimumDistance < max(2, len(word)/4) {
		names.SuggestionsMinimumDistance++
		near = names.SuggestionsFor(word)
	}
	return near[:min(3, len(near))]
}
