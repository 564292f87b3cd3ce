package browser

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

func TestFilterFindsFailuresByIDAndTitle(t *testing.T) {
	url := onDisk(t, bare(t))
	b := open(t, url, wide, high)
	shown := func(b *tab) (ids []string) {
		return value[[]string](b, `[...document.querySelectorAll('.matrix tbody tr:not(.family)')].filter((row) => row.checkVisibility())
			.map((row) => row.querySelector('b').innerText)`)
	}
	before := shown(b)
	b.eval("document.querySelector('.filter input').focus(), 0")
	b.press("p", "t", "t")
	require.Empty(t, shown(b))
	require.False(t, value[bool](b, "document.documentElement.matches('.projector')"), "letters are no commands here")
	require.Equal(t, "0 found", b.text(".filter [role=status]"))
	b.press(kb.Escape)
	require.Equal(t, before, shown(b))
	require.Empty(t, b.text(".filter [role=status]"))
	b.press(strings.Split("GET between", "")...)
	require.Equal(t, []string{"check-then-delete"}, shown(b), "all words, of the title, in families that were folded")
	b.press(kb.Enter)
	require.Equal(t, "#check-then-delete/1", b.focus())
	b.press(kb.Enter)
	require.Equal(t, "#check-then-delete/1/step-1", b.hash())
	b.press(kb.Escape)
	require.Equal(t, []string{"check-then-delete"}, shown(b), "it stays")
	require.Equal(t, "#check-then-delete/1", b.focus())

	b = open(t, url+"?lang=zh", wide, high)
	b.eval("document.querySelector('.filter input').value = '宕机', document.querySelector('.filter input').dispatchEvent(new Event('input')), 0")
	require.Contains(t, shown(b), "crash-before-expire")
	require.Equal(t, fmt.Sprintf("找到 %d 个", len(shown(b))), b.text(".filter [role=status]"))
}

// The prompts of the workshop are on the first screen, in both languages, and each leads to its question or its run.
func TestPromptsOfTheWorkshopAreInThePage(t *testing.T) {
	for folder, l := range map[string]i18n.Language{"/docs/": i18n.English, "/docs/zh-CN/": i18n.Chinese} {
		workshop, err := os.ReadFile(repository + folder + "workshop.md")
		require.NoError(t, err)
		b := open(t, onDisk(t, bare(t))+"?lang="+string(l), wide, high)
		var links []string
		for _, section := range strings.Split(string(workshop), `<a id="prompt-`)[1:] {
			heading := regexp.MustCompile(`(?m)^### (.+)$`).FindStringSubmatch(section)[1]
			link := value[string](b, fmt.Sprintf("[...document.querySelectorAll('.list:last-child a')].find((a) => a.innerText.endsWith(%q)).hash", heading))
			links = append(links, link)
			question := ""
			if in := regexp.MustCompile(`(?m)^<!-- lesson (\S+) -->`).FindStringSubmatch(section); in != nil {
				question = in[1]
			}
			b.eval("location.hash = '" + link + "', 0")
			b.settle()
			if question != "" {
				require.Equal(t, question, value[string](b, "`${lesson.chapter}.${lesson.part + 1}`"), heading)
			} else {
				require.True(t, b.isShown(".player"), heading)
				require.Contains(t, section, "go run . show "+value[string](b, "shown.failure.id"))
			}
			b.eval("location.hash = '', 0")
			b.settle()
		}
		require.Len(t, links, b.count(".list:last-child a"))
	}
}
