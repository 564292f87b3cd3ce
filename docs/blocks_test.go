package docs_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"
)

//go:generate go test lockkata/docs -run TestGeneratedBlocks -update

var update = flag.Bool("update", false, "write what the commands print into the documents")

// block is a part of a document that is made by a command, or copied from the code:
//
//	<!-- show delete-foreign --stage 2 -->
//	```text
//	…
//	```
//	<!-- end -->
//
// "lines 3-9" at the end of the mark takes these lines of it only.
type block struct {
	kind        string
	words       []string // the whole mark
	first, last int      // the lines that are shown; 0: all
	language    string
	line        int // of the mark
	from, to    int // the lines of the document between the fences, from 0
}

// kinds are the blocks that there are, and what makes them.
var kinds = map[string]string{
	"matrix": "go run .", "show": "go run .", "diff": "go run .", "list": "go run .", "replay": "go run .", "explore": "go run .",
	"code":    "the source",
	"session": byOthers, "adapter": byOthers, // internal/kata
}

// byOthers are blocks that the tests of what they show look at.
const byOthers = "its own tests"

var (
	mark    = regexp.MustCompile(`^<!-- (.*) -->$`)
	opening = regexp.MustCompile("^(```+|~~~+)([a-z]*)")
	excerpt = regexp.MustCompile(`^(\d+)-(\d+)$`)
)

// blocks finds the generated blocks of a document.
func blocks(d *document) (found []block, problems []string) {
	lines := strings.Split(d.text, "\n")
	complain := func(i int, format string, args ...any) {
		problems = append(problems, d.at(i+1)+fmt.Sprintf(format, args...))
	}
	for i := 0; i < len(lines); i++ {
		if fence := opening.FindString(lines[i]); fence != "" {
			i = closing(lines, i)
			continue
		}
		if !strings.Contains(lines[i], "<!--") {
			continue
		}
		m := mark.FindStringSubmatch(lines[i])
		if m == nil {
			complain(i, "a mark is a line of its own: <!-- show FAILURE --stage 2 -->")
			continue
		}
		b, err := readMark(m[1])
		if err != nil {
			complain(i, "%v", err)
			i = skip(lines, i)
			continue
		}
		fence := opening.FindStringSubmatch(at(lines, i+1))
		if fence == nil {
			complain(i, "the block <!-- %s --> does not begin with ``` in the next line", m[1])
			continue
		}
		end := closing(lines, i+1)
		if at(lines, end+1) != "<!-- end -->" {
			complain(i, "the block <!-- %s --> has no <!-- end --> after its ```", m[1])
			continue
		}
		b.language, b.line, b.from, b.to = fence[2], i+1, i+2, end
		found = append(found, b)
		i = end + 1
	}
	return found, problems
}

// skip is the last line of the block at line i, whatever it is.
func skip(lines []string, i int) int {
	if opening.MatchString(at(lines, i+1)) {
		i = closing(lines, i+1)
	}
	if at(lines, i+1) == "<!-- end -->" {
		i++
	}
	return i
}

// closing is the line that closes the fence at line i, or the last one.
func closing(lines []string, i int) int {
	fence := opening.FindStringSubmatch(lines[i])[1]
	for i++; i < len(lines)-1 && strings.TrimRight(lines[i], " ") != fence; i++ {
	}
	return i
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}

// readMark reads what stands between <!-- and -->.
func readMark(text string) (block, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return block{}, fmt.Errorf("an empty mark")
	}
	b := block{kind: words[0], words: words}
	if b.kind == "end" {
		return b, fmt.Errorf("<!-- end --> without a block")
	}
	if kinds[b.kind] == "" {
		return b, fmt.Errorf("there is no block %q; there are matrix, show, diff, list, replay, explore, code", b.kind)
	}
	if n := len(words); n > 2 && words[n-2] == "lines" {
		asked := excerpt.FindStringSubmatch(words[n-1])
		if asked == nil {
			return b, fmt.Errorf("lines %s: say lines 3-9", words[n-1])
		}
		b.first, _ = strconv.Atoi(asked[1])
		b.last, _ = strconv.Atoi(asked[2])
		if b.first < 1 || b.last < b.first {
			return b, fmt.Errorf("lines %s: say lines 3-9", words[n-1])
		}
		b.words = words[:n-2]
	}
	return b, nil
}

// content is what the block has to show.
func (b block) content() (string, error) {
	var text string
	var err error
	if b.kind == "code" {
		text, err = sourceOf(b.words[1:])
	} else {
		text, err = printed(b.words)
	}
	if err != nil || b.first == 0 {
		return text, err
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if b.last > len(lines) {
		return "", fmt.Errorf("lines %d-%d: there are %d", b.first, b.last, len(lines))
	}
	return strings.TrimSuffix(strings.Join(lines[b.first-1:b.last], ""), "\n") + "\n", nil
}

// printed is what the command prints.
func printed(words []string) (string, error) {
	line := "go run . " + strings.Join(words, " ")
	if words[0] == "matrix" {
		line = "go run ."
	}
	o := runLine(line, leave)
	if o.status != 0 {
		return "", fmt.Errorf("%s: status %d: %s", line, o.status, o.err)
	}
	return o.out, nil
}

// languageOf is what the fence of a block is called.
func (b block) languageOf() string {
	has := func(word string) bool { return strings.Contains(strings.Join(b.words, " "), word) }
	switch {
	case b.kind == "code" && len(b.words) > 1:
		return strings.TrimPrefix(filepath.Ext(b.words[1]), ".")
	case b.kind == "diff":
		return "diff"
	case has("--json"):
		return "json"
	}
	return "text"
}

// refresh is the document with what its blocks have to show.
func refresh(d *document, content func(block) (string, error)) (text string, problems []string) {
	found, problems := blocks(d)
	lines := strings.Split(d.text, "\n")
	var fresh []string
	done := 0
	for _, b := range found {
		if kinds[b.kind] == byOthers || b.slow() && !*update {
			continue
		}
		shown, err := content(b)
		if err != nil {
			problems = append(problems, d.at(b.line)+err.Error())
			continue
		}
		if want := b.languageOf(); b.language != want {
			problems = append(problems, d.at(b.line)+fmt.Sprintf("the block opens with ```%s and not with ```%s", b.language, want))
		}
		fresh = append(fresh, lines[done:b.from]...)
		fresh = append(fresh, strings.Split(strings.TrimSuffix(shown, "\n"), "\n")...)
		done = b.to
	}
	return strings.Join(append(fresh, lines[done:]...), "\n"), problems
}

// slow is a block that takes half a minute. It is made by go generate, and CI looks
// whether that changes anything, so the tests do not make it once more.
func (b block) slow() bool { return strings.Join(b.words, " ") == "explore --stage all" }

// What a document shows of a command or of the code is what it is. With -update it
// is written there.
func TestGeneratedBlocksAreWhatTheCommandsPrint(t *testing.T) {
	for _, d := range documents(t) {
		t.Run(d.name, func(t *testing.T) {
			if !*update {
				t.Parallel()
			}
			text, problems := refresh(d, block.content)
			requireNone(t, problems)
			if *update && text != d.text {
				require.NoError(t, os.WriteFile(filepath.Join(root, filepath.FromSlash(d.name)), []byte(text), 0o644))
				return
			}
			require.Empty(t, udiff.Unified(d.name, "what is printed", d.text, text), "out of date: go generate ./...")
		})
	}
}
