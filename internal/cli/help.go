package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockkata/internal/i18n"
	"lockkata/internal/term"
)

// The titles and fixed parts of the help.
var (
	helpUsage    = i18n.New("Usage:")
	helpCommands = i18n.New("Commands:")
	helpFlags    = i18n.New("Flags:")
	helpGlobal   = i18n.New("Flags of every command:")
	helpMore     = i18n.New("{command} --help says more about a command.")
	helpDefault  = i18n.New("{usage} (default {value})")
	helpFlag     = i18n.New("help for {command}")
)

// belowHelp is the annotation of a command with a table to print below its long help, in
// the chosen language.
const belowHelp = "below"

// The help texts of commands are English literals, so they are registered here.
func init() {
	eachHelp(new(app).root(), func(text *string) { i18n.Register(i18n.Text(*text)) })
}

// eachHelp visits the help texts of a command, its flags and its subcommands.
func eachHelp(cmd *cobra.Command, visit func(*string)) {
	visit(&cmd.Short)
	visit(&cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			visit(&f.Usage)
		}
	})
	for _, sub := range cmd.Commands() {
		eachHelp(sub, visit)
	}
}

// speak translates the help of all commands.
func (a *app) speak(root *cobra.Command) {
	eachHelp(root, func(text *string) { *text = a.say(i18n.Text(*text)) })
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.help(cmd) })
}

// help prints the help of a command.
func (a *app) help(cmd *cobra.Command) {
	for paragraph := range strings.SplitSeq(cmp.Or(cmd.Long, cmd.Short), "\n\n") {
		a.lines(append(a.wrapped(paragraph, 0), ""))
	}
	if below := cmd.Annotations[belowHelp]; below != "" {
		fmt.Fprintln(a.out, below)
	}
	fmt.Fprintf(a.out, "%s\n  %s\n", a.say(helpUsage), cmd.UseLine())
	var commands []row
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			commands = append(commands, row{sub.Name(), sub.Short})
		}
	}
	if len(commands) > 0 {
		fmt.Fprintf(a.out, "  %s [command]\n", cmd.CommandPath())
	}
	cmd.InitDefaultHelpFlag()
	cmd.Flags().Lookup("help").Usage = a.say(helpFlag, "command", cmd.CommandPath())
	a.section(helpCommands, commands)
	a.section(helpFlags, a.flagRows(cmd.LocalFlags()))
	a.section(helpGlobal, a.flagRows(cmd.InheritedFlags()))
	if len(commands) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", a.say(helpMore, "command", cmd.CommandPath()+" COMMAND"))
	}
}

// row is a name and its explanation.
type row struct{ name, about string }

// section prints a title and the rows below it, if there are any.
func (a *app) section(title i18n.Text, rows []row) {
	if len(rows) > 0 {
		fmt.Fprintf(a.out, "\n%s\n%s", a.say(title), a.table(rows))
	}
}

// table aligns the explanations of the rows.
func (a *app) table(rows []row) string {
	width := 0
	for _, r := range rows {
		width = max(width, term.Columns(r.name))
	}
	var b strings.Builder
	for _, r := range rows {
		for _, line := range term.Beside("  "+term.Pad(r.name, width)+"   ", r.about, a.width) {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}

// flagRows returns a row for each flag: its name, the type of its value, its usage and its
// default unless that is a zero value.
func (a *app) flagRows(flags *pflag.FlagSet) (rows []row) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		takes, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if !slices.Contains([]string{"", "0", "-1", "false", "[]"}, f.DefValue) {
			usage = a.say(helpDefault, "usage", usage, "value", f.DefValue)
		}
		rows = append(rows, row{strings.TrimSpace(name + " " + takes), usage})
	})
	return rows
}
