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
	helpExample  = i18n.New("Example:")
	helpCommands = i18n.New("Commands:")
	startGroup   = i18n.New("Start:")
	moreGroup    = i18n.New("More:")
	helpFlags    = i18n.New("Flags:")
	helpGlobal   = i18n.New("Flags of every command:")
	helpMore     = i18n.New("{command} --help says more about a command.")
	helpDefault  = i18n.New("{usage} (default {value})")
)

// belowHelp is an annotation of a command: a table to print below its long help, in the chosen
// language.
const belowHelp = "below"

// The help texts of commands are English literals, so they are registered here.
func init() {
	eachHelp(new(app).root(), func(text *string) { i18n.Register(i18n.Text(*text)) })
}

// eachHelp visits the help texts of a command, its flags and its subcommands.
func eachHelp(cmd *cobra.Command, visit func(*string)) {
	visit(&cmd.Short)
	visit(&cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { visit(&f.Usage) })
	for _, sub := range cmd.Commands() {
		eachHelp(sub, visit)
	}
}

// helpCommand returns "help", a word for --help.
func helpCommand() *cobra.Command {
	return &cobra.Command{Use: "help [command]", Hidden: true, RunE: func(cmd *cobra.Command, args []string) error {
		target, rest, _ := cmd.Parent().Find(args) // what is not a command stays in rest
		if target.HasSubCommands() {
			if err := words(0, 0)(target, rest); err != nil {
				return err
			}
		}
		return target.Help()
	}}
}

// help prints the help of a command.
func (a *app) help(cmd *cobra.Command, _ []string) {
	for paragraph := range strings.SplitSeq(cmp.Or(cmd.Long, cmd.Short), "\n\n") {
		a.prose("", 0, paragraph)
		fmt.Fprintln(a.out)
	}
	if below := cmd.Annotations[belowHelp]; below != "" {
		fmt.Fprintln(a.out, below)
	}
	fmt.Fprintf(a.out, "%s\n  %s\n", a.say(helpUsage), cmd.UseLine())
	if cmd.HasExample() {
		fmt.Fprintf(a.out, "\n%s\n  %s\n", a.say(helpExample), cmd.Example)
	}
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: a.say(helpCommands)}) {
		var commands []row
		for _, sub := range cmd.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				commands = append(commands, row{sub.Name(), i18n.Text(sub.Short)})
			}
		}
		a.section(g.Title, commands)
	}
	a.section(a.say(helpFlags), a.flagRows(cmd.LocalFlags()))
	a.section(a.say(helpGlobal), a.flagRows(cmd.InheritedFlags()))
	if cmd.HasSubCommands() {
		fmt.Fprintf(a.out, "\n%s\n", a.say(helpMore, "command", cmd.CommandPath()+" COMMAND"))
	}
}

// flagRows returns a row for each flag: its name, the type of its value, its usage and its
// default unless that is a zero value.
func (a *app) flagRows(flags *pflag.FlagSet) (rows []row) {
	flags.VisitAll(func(f *pflag.Flag) {
		takes, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if !slices.Contains([]string{"", "0", "-1", "false", "[]"}, f.DefValue) {
			usage = a.say(helpDefault, "usage", usage, "value", f.DefValue)
		}
		rows = append(rows, row{strings.TrimSpace(name + " " + takes), i18n.Text(usage)})
	})
	return rows
}

// align pads the cells of each column to one width, and returns a line for each row.
func align(rows [][]string) (lines []string) {
	widths := map[int]int{}
	for _, cells := range rows {
		for i, cell := range cells {
			widths[i] = max(widths[i], term.Columns(cell))
		}
	}
	for _, cells := range rows {
		line := ""
		for i, cell := range cells {
			line += term.Pad(cell, widths[i]+2)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// row is a name and its explanation.
type row struct {
	name  string
	about i18n.Text
}

// section prints a title and the rows below it, if there are any.
func (a *app) section(title string, rows []row) {
	if len(rows) > 0 {
		fmt.Fprintf(a.out, "\n%s\n%s", title, a.table(rows))
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
		for _, line := range term.Beside("  "+term.Pad(r.name, width)+"   ", a.say(r.about), a.width) {
			fmt.Fprintln(&b, line)
		}
	}
	return b.String()
}
