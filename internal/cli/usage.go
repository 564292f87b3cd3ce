package cli

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockkata/internal/i18n"
)

// Errors of a command line.
var (
	noFlag     = i18n.New("there is no flag {flag}")
	badValue   = i18n.New("{flag} does not take {value}: {usage}")
	noCommand  = i18n.New("there is no command {name}")
	otherWords = i18n.New("the arguments {words} do not fit {use}; for example: {example}")
	excluded   = i18n.New("{flags} exclude each other: give one of them")
	outOfRange = i18n.New("{flag} {n}: it can be {least} to {most}")
	thereAre   = i18n.New("{fault}; there are: {names}")
	areListed  = i18n.New("{fault}; go run . list prints all names")
	didYouMean = i18n.NewPlural("{fault}; did you mean {names}?", "{fault}; did you mean one of these: {names}?")
)

// badFlag rewords an error of pflag: the flag, its value and the remedy.
func badFlag(cmd *cobra.Command, err error) error {
	var flag *pflag.Flag
	value := ""
	switch err := err.(type) {
	case *pflag.ValueRequiredError:
		flag = err.GetFlag()
	case *pflag.InvalidValueError:
		flag, value = err.GetFlag(), err.GetValue()
	case *pflag.NotExistError:
		name := "--" + err.GetSpecifiedName()
		if letters := err.GetSpecifiedShortnames(); letters != "" {
			name = "-" + letters
		}
		return suggest(noFlag.Args("flag", name), name, flagNames(cmd))
	default:
		return err
	}
	_, usage := pflag.UnquoteUsage(flag)
	return badValue.Args("flag", "--"+flag.Name, "value", strconv.Quote(value), "usage", usage)
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// words accepts least to most arguments. The error suggests a subcommand, or shows what to type.
func words(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case least <= len(args) && len(args) <= most:
			return nil
		case cmd.HasSubCommands():
			var names []string
			for _, sub := range cmd.Commands() {
				if !sub.Hidden {
					names = append(names, sub.Name())
				}
			}
			return suggest(noCommand.Args("name", strconv.Quote(args[0])), args[0], names)
		}
		example := cmp.Or(cmd.Example, strings.Replace(cmd.CommandPath(), "lockkata", "go run .", 1))
		return otherWords.Args("words", strconv.Quote(strings.Join(args, " ")), "use", strconv.Quote(cmd.Use), "example", example)
	}
}

// areExclusive matches cobra's error about flags that exclude each other, which has no type.
var areExclusive = regexp.MustCompile(`^if any flags in the group .*\[(.+)\] were all set$`)

// inOurWords rewords an error of cobra about a group of flags.
func inOurWords(err error) error {
	if flags := areExclusive.FindStringSubmatch(err.Error()); flags != nil {
		return excluded.Args("flags", "--"+strings.ReplaceAll(flags[1], " ", ", --"))
	}
	return err
}

// inRange refuses a number from a flag that is too low or too high.
func inRange(cmd *cobra.Command, name string, least, most int) error {
	n, err := cmd.Flags().GetInt(name)
	if err != nil || !cmd.Flags().Changed(name) || least <= n && n <= most {
		return err
	}
	return outOfRange.Args("flag", "--"+name, "n", n, "least", least, "most", most)
}

// mostNames is how many names an error lists at most. Only the failures are more.
const mostNames = 20

// suggest ends an error about an unknown name with the nearest names.
func suggest(fault i18n.Message, name string, known []string) error {
	near := nearest(name, known)
	switch {
	case len(near) > 0:
		return didYouMean.Of(len(near), "fault", fault, "names", strings.Join(near, ", "))
	case len(known) > mostNames:
		return areListed.Args("fault", fault)
	}
	return thereAre.Args("fault", fault, "names", strings.Join(known, ", "))
}

// nearest returns up to three names that contain a word, or else those with the fewest
// typing errors.
func nearest(word string, known []string) (near []string) {
	if word == "" {
		return nil
	}
	names := new(cobra.Command) // cobra suggests subcommands, so each name is added as one
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
