package cli

import (
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
	takesNone  = i18n.New("{command} takes no arguments, not {words}")
	takesOne   = i18n.New("{command} takes one {what}, not {n}, as in: {example}")
	excluded   = i18n.New("{flags} exclude each other: give one of them")
	outOfRange = i18n.New("{flag} {n}: it can be {least} to {most}")
	thereAre   = i18n.New("{fault}; there are: {names}")
	areListed  = i18n.New("{fault}; go run . list prints all names")
	didYouMean = i18n.NewPlural("{fault}; did you mean {names}?", "{fault}; did you mean one of these: {names}?")
)

// badFlag rewords an error of pflag: the flag, its value and the remedy.
func badFlag(cmd *cobra.Command, err error) error {
	var name string
	switch err := err.(type) {
	case *pflag.ValueRequiredError:
		return wrongValue(err.GetFlag(), "")
	case *pflag.InvalidValueError:
		return wrongValue(err.GetFlag(), err.GetValue())
	case *pflag.InvalidSyntaxError:
		name = err.GetSpecifiedFlag()
	case *pflag.NotExistError:
		name = "--" + err.GetSpecifiedName()
		if letters := err.GetSpecifiedShortnames(); letters != "" {
			name = "-" + letters
		}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return suggest(noFlag.Args("flag", name), name, names)
}

// wrongValue returns an error with the values that a flag takes.
func wrongValue(f *pflag.Flag, value string) error {
	_, usage := pflag.UnquoteUsage(f)
	return badValue.Args("flag", "--"+f.Name, "value", strconv.Quote(value), "usage", usage)
}

// noArguments refuses an argument that is not a subcommand, and suggests the nearest one.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return suggest(noCommand.Args("name", strconv.Quote(args[0])), args[0], names)
}

// noWords refuses arguments.
func noWords(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return takesNone.Args("command", cmd.Name(), "words", strconv.Quote(strings.Join(args, " ")))
	}
	return nil
}

// oneWord accepts one argument, or none if least is 0. The first known name is the example in the
// error.
func oneWord(least int, known ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if least <= len(args) && len(args) <= 1 {
			return nil
		}
		_, what, _ := strings.Cut(cmd.Use, " ")
		example := strings.Replace(cmd.CommandPath(), "lockkata", "go run .", 1) + " " + known[0]
		fault := takesOne.Args("command", cmd.Name(), "what", strings.Trim(what, "[]"), "n", len(args), "example", example)
		if len(known) == 1 {
			return fault
		}
		return suggest(fault, "", known)
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
