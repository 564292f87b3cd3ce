package cli

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockkata/internal/i18n"
)

// The errors that several commands have.
var (
	noFlag      = i18n.New("there is no flag {flag}")
	noFlagName  = i18n.New("{flag} names no flag: give its name after two hyphens, as in --lang zh")
	noValue     = i18n.New("{flag} needs a value: {usage}")
	badDuration = i18n.New("{flag} {value}: give a time with its unit, such as 5s or 300ms")
	badSwitch   = i18n.New("{flag}={value}: leave out the value, or give true or false")
	badNumber   = i18n.New("{flag} {value}: give a whole number")
	badCount    = i18n.New("{flag} {value}: give a whole number, 0 or more")
	badList     = i18n.New("{flag} {value}: give words with commas between them")
	noCommand   = i18n.New("there is no command {name}")
	takesNone   = i18n.New("{command} takes no arguments, not {words}")
	takesWhich  = i18n.New("{command}: which {what}? There are: {known}")
	takesListed = i18n.New("{command}: which {what}? {list} prints them all; one is {known}")
	takesOne    = i18n.New("{command} takes one {what}, not {n}: {words}")
	takesFolder = i18n.New("{command} takes one folder, as in: go run . {example}")
	isFile      = i18n.New("{name} is a file: name a folder")
	excluded    = i18n.New("{flags} exclude each other: give one of them")
	aFailure    = i18n.New("failure")
	aStage      = i18n.New("stage")
)

// badFlag puts an error of pflag into our words: the flag, its value and the remedy.
func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		_, usage := pflag.UnquoteUsage(f)
		return noValue.Args("flag", "--"+f.Name, "usage", usage)
	case errors.As(err, &bad):
		f := bad.GetFlag()
		fault := map[string]i18n.Text{"duration": badDuration, "bool": badSwitch, "int": badNumber, "uint64": badCount}[f.Value.Type()]
		if fault == "" {
			fault = badList
		}
		return fault.Args("flag", "--"+f.Name, "value", strconv.Quote(bad.GetValue()))
	case errors.As(err, &syntax):
		return noFlagName.Args("flag", syntax.GetSpecifiedFlag())
	}
	return err
}

// unknownFlag suggests flags of the command.
func unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name := "--" + unknown.GetSpecifiedName()
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		name = "-" + letters
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return suggest(noFlag.Args("flag", name), name, names)
}

// noArguments refuses a word that is no subcommand, and suggests the nearest one.
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

// exactlyOne refuses all but one argument and names the known ones.
func exactlyOne(what i18n.Text, known []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			which := takesWhich
			if len(known) > mostNames {
				which, known = takesListed, known[:1]
			}
			return which.Args("command", cmd.Name(), "what", what, "known", strings.Join(known, ", "), "list", listsFailures)
		}
		return atMostOne(what)(cmd, args)
	}
}

// atMostOne refuses a second argument.
func atMostOne(what i18n.Text) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return takesOne.Args("command", cmd.Name(), "what", what, "n", len(args), "words", strings.Join(args, " "))
		}
		return nil
	}
}

// oneFolder refuses all but one argument, a folder.
func oneFolder(example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return takesFolder.Args("command", cmd.Name(), "example", cmd.Name()+" "+example)
	}
}

// maybeFolder refuses the name of a file. The folder need not exist yet.
func maybeFolder(name string) error {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return isFile.Args("name", name)
	}
	return nil
}

// exclude refuses flags of which only one may be given.
func exclude(given ...string) error { return excluded.Args("flags", strings.Join(given, ", ")) }
