package page

import (
	"io/fs"
	"regexp"

	"lockkata/internal/i18n"
)

// prompt is a question of the workshop.
type prompt struct {
	Title string `json:"title"` // "5. Compare, then delete"
	Hash  string `json:"hash"`  // of its question in the lesson, or of its run
}

// promptText matches the heading of a prompt, and its first link into the page.
var promptText = regexp.MustCompile(`(?s)\n### (\d+\. [^\n]+)\n.*?\]\([^() ]*index\.html[^() #]*(#[^() ]+)\)`)

// promptsOf reads the prompts of the workshop. sources is the repository's root.
func promptsOf(sources fs.FS, in i18n.Language) (all []prompt, err error) {
	name := map[i18n.Language]string{i18n.English: "docs/workshop.md", i18n.Chinese: "docs/zh-CN/workshop.md"}[in]
	text, err := fs.ReadFile(sources, name)
	for _, found := range promptText.FindAllSubmatch(text, -1) {
		all = append(all, prompt{string(found[1]), string(found[2])})
	}
	return all, err
}
