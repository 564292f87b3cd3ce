package docs_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	prompt       = regexp.MustCompile(`(?m)^### (\d+\. .*)$`)
	rightAnswer  = regexp.MustCompile(`(?m)^\*\*(?:Right|正确答案)[:：]\s*(\d)[.。]\*\*`)
	promptOnA4   = regexp.MustCompile(`<h3>(\d+\. .*)</h3>`)
	answerOnA4   = regexp.MustCompile(`<tr><td>(\d+)</td><td>(\d)</td>`)
	formatting   = strings.NewReplacer("`", "", "<code>", "", "</code>", "")
	withoutExtra = regexp.MustCompile(` \([^)]*\)$|（[^）]*）$`)
)

// The printed handouts have the workshop's prompts, in its order, with its right answers.
func TestHandoutsHaveThePromptsOfTheWorkshop(t *testing.T) {
	for _, folder := range []string{"docs/", inChinese} {
		workshop := documentNamed(t, folder+"workshop.md").text
		page, err := fs.ReadFile(root, folder+"handouts.html")
		require.NoError(t, err)
		titles := func(of *regexp.Regexp, text string) (all []string) {
			for _, m := range of.FindAllStringSubmatch(text, 17) {
				all = append(all, withoutExtra.ReplaceAllString(formatting.Replace(m[1]), ""))
			}
			return all
		}
		require.Equal(t, titles(prompt, workshop), titles(promptOnA4, string(page)), folder)
		right := titles(rightAnswer, workshop)
		require.Len(t, right, 17, folder)
		for i, m := range answerOnA4.FindAllStringSubmatch(string(page), -1) {
			require.Equal(t, right[i], m[2], "%s: prompt %s", folder, m[1])
		}
	}
}
