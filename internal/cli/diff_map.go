package cli

import (
	"fmt"
	"strings"

	"lockkata/internal/i18n"
	"lockkata/internal/stages"
	"lockkata/internal/term"
)

var (
	fileLines     = i18n.New("{file}, {lines} lines")
	neededByTests = i18n.New("Needed by {tests}.")
	neededByBoth  = i18n.New("Needed by the failures {failures}, and by {tests}.")
	skipAtFirst   = i18n.New("On a first reading skip {what}.")
	howToFollow   = i18n.New("A failure: {show}\nA test: {test}\nLine by line: {diff}")
)

// printMap prints what each file of a lock adds to the one before.
func (a *app) printMap(c stages.Stage) error {
	lines, err := c.Lines(a.sources)
	if err != nil {
		return err
	}
	for _, part := range c.Map {
		fmt.Fprintln(a.out, a.color.Paint(term.Bold, a.say(fileLines, "file", part.File, "lines", lines[part.File])))
		tests := strings.Join(part.Tests, ", ")
		needs := a.say(neededByTests, "tests", tests)
		if len(part.Failures) > 0 {
			needs = a.say(neededByBoth, "failures", strings.Join(part.Failures, ", "), "tests", tests)
		}
		said := []string{a.say(part.Adds), needs}
		if part.Skip != "" {
			said = append(said, a.say(skipAtFirst, "what", a.say(part.Skip)))
		}
		for i, text := range said {
			for _, line := range a.wrapped(text, 2) {
				if i > 0 {
					line = a.color.Paint(term.Dim, line)
				}
				fmt.Fprintf(a.out, "  %s\n", line)
			}
		}
	}
	fmt.Fprintf(a.out, "\n%s\n", a.say(howToFollow, "show", "go run . show FAILURE --before-after --steps",
		"test", "go test -v -run TEST ./"+c.Dir, "diff", "git diff --no-index "+stages.MustFind(c.Before).Dir+" "+c.Dir))
	return nil
}
