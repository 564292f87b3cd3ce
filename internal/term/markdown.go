package term

import (
	"regexp"
	"strings"
)

var item = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)

// Markdown lays out Markdown: paragraphs and items are wrapped, code and tables are not. inline
// formats the text of a paragraph or an item.
func Markdown(text string, width int, inline func(string) string) string {
	var out strings.Builder
	paragraph, isCode := "", false
	end := func() {
		if paragraph != "" {
			head := item.FindString(paragraph)
			for _, line := range Wrap(inline(paragraph[len(head):]), width-len(head)) {
				out.WriteString(head + line + "\n")
				head = strings.Repeat(" ", len(head))
			}
		}
		paragraph = ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			end()
			isCode = !isCode
		case isCode:
			out.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		case strings.HasPrefix(line, "|"), strings.TrimSpace(line) == "":
			end()
			out.WriteString(strings.TrimSpace(line) + "\n")
		case item.MatchString(line):
			end()
			paragraph = line
		default:
			paragraph = Joined(paragraph, strings.TrimSpace(line))
		}
	}
	end()
	return out.String()
}
