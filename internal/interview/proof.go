package interview

import (
	"regexp"
	"slices"
	"strings"
)

// ours is a command of this repository, perhaps with keys for its input.
var ours = regexp.MustCompile(`^(?:printf '([^'\\]*)' \| )?go run \.((?: (?:'[^']*'|[^\s'"|&;<>$]+))*)$`)

// here are the commands that end by themselves and need only this program.
var here = []string{"show", "list", "diff", "replay", "explore", "play"}

// inProcess splits a command into arguments and input for this program. Other commands, such as
// go test, return false and need a shell.
func inProcess(command string) (args []string, keys string, ok bool) {
	m := ours.FindStringSubmatch(command)
	if m == nil {
		return nil, "", false
	}
	for _, word := range strings.Fields(m[2]) {
		args = append(args, strings.Trim(word, "'"))
	}
	return args, m[1], len(args) == 0 || slices.Contains(here, args[0])
}
