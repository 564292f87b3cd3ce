package docs_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	chapterMinutes = regexp.MustCompile(`\]\(#([a-z0-9-]+)\)\s(\d+)`)
	hanOrWord      = regexp.MustCompile(`(\p{Han})|[A-Za-z0-9][\w.'’-]*`)
	halfMinute     = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|\*\*(?:What happens next\?|接下来会怎样？)\*\*`)
)

// The walkthrough names a pace, and the minutes of the whole, of each chapter and of the commands.
func TestWalkthroughTakesItsMinutes(t *testing.T) {
	for folder, promise := range map[string]string{
		"docs/":   "takes [%d minutes](#minutes), and %d more with the commands",
		inChinese: "要 [%d 分钟](#minutes)，跑命令另加 %d 分钟",
	} {
		d := documentNamed(t, folder+"walkthrough.md")
		total := 0
		for _, m := range chapterMinutes.FindAllStringSubmatch(d.prose, -1) {
			claimed, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			total += claimed
			from, to := chapter(d, m[1])
			require.InDelta(t, readingTime(d, from, to).Minutes(), claimed, 0.75, d.name+"#"+m[1])
		}
		require.LessOrEqual(t, readingTime(d, 1, len(d.lines)+1).Minutes(), float64(total), d.name)

		typed, _ := commandsOf(d)
		different := map[string]bool{}
		for _, c := range typed {
			different[c.line] = true
		}
		require.Contains(t, strings.Join(strings.Fields(d.prose), " "), fmt.Sprintf(promise, total, len(different)/2), d.name)
	}
}

// chapter returns the lines from the anchor to the next chapter.
func chapter(d *document, anchor string) (from, to int) {
	for _, a := range d.anchors {
		if a.text == anchor {
			from = a.line
		}
	}
	for _, h := range d.headings {
		if h.level == 2 && h.line > from+1 {
			return from, h.line
		}
	}
	return from, len(d.lines) + 1
}

// readingTime returns how long the lines take at the walkthrough's pace.
func readingTime(d *document, from, to int) (took time.Duration) {
	text := strings.Join(strings.Split(d.prose, "\n")[from-1:to-1], "\n")
	took = time.Duration(len(halfMinute.FindAllString(text, -1))) * 30 * time.Second
	for _, f := range d.fences {
		if from <= f.line && f.line < to {
			took += time.Duration(strings.Count(f.text, "\n")) * 4 * time.Second
		}
	}
	text = linked.ReplaceAllString(halfMinute.ReplaceAllString(attribute.ReplaceAllString(text, ""), ""), "$2")
	for _, m := range hanOrWord.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			took += time.Minute / 300
		} else {
			took += time.Minute / 200
		}
	}
	return took
}
