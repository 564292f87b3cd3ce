package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockkata/internal/texts"
)

// What the help says around the words of a command.
var (
	helpUsage    = texts.New("Usage:")
	helpCommands = texts.New("Commands:")
	helpFlags    = texts.New("Flags:")
	helpGlobal   = texts.New("Flags of every command:")
	helpMore     = texts.New("{command} --help says more about a command.")
	helpFlag     = texts.New("help for {command}")
)

// belowHelp is the annotation of a command with what stands below its long help: a table
// that is in the language already.
const belowHelp = "below"

// What commands say of themselves stands beside them, in English, and is known from the
// beginning.
func init() {
	know := func(text *string) { texts.Know(texts.Text(*text)) }
	eachHelp(new(app).root(), know)
}

// eachHelp visits what a command and those below it say of themselves and their flags.
func eachHelp(cmd *cobra.Command, visit func(*string)) {
	visit(&cmd.Short)
	visit(&cmd.Long)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { visitUsage(f, visit) })
	cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { visitUsage(f, visit) })
	for _, sub := range cmd.Commands() {
		eachHelp(sub, visit)
	}
}

func visitUsage(f *pflag.Flag, visit func(*string)) {
	if !f.Hidden && f.Name != "help" {
		visit(&f.Usage)
	}
}

// translateHelp puts the help of all commands into the language that was asked for.
func (a *app) translateHelp(root *cobra.Command) {
	eachHelp(root, func(text *string) { *text = a.say(texts.Text(*text)) })
	explainHelp := func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().Lookup("help").Usage = a.say(helpFlag, "command", cmd.CommandPath())
	}
	for _, cmd := range append(root.Commands(), root) {
		explainHelp(cmd)
		for _, sub := range cmd.Commands() {
			explainHelp(sub)
		}
	}
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(a.usageTemplate())
}

const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}
{{end}}{{with index .Annotations "` + belowHelp + `"}}
{{.}}{{end}}
{{.UsageString}}`

func (a *app) usageTemplate() string {
	const template = `{usage}
  {{.UseLine}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]

{commands}{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

{flags}
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

{global}
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

{more}{{end}}
`
	return strings.NewReplacer(
		"{usage}", a.say(helpUsage), "{commands}", a.say(helpCommands), "{flags}", a.say(helpFlags), "{global}", a.say(helpGlobal),
		"{more}", a.say(helpMore, "command", "{{.CommandPath}} COMMAND"),
	).Replace(template)
}
