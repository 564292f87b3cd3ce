package docs_test

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/stretchr/testify/require"

	"lockkata/internal/i18n"
)

//go:generate go test lockkata/docs -run TestGeneratedBlocks|TestIndex|TestHandouts -timeout 30m -update

var update = flag.Bool("update", false, "write what the commands print into the documents")

// block is a part of a document that a command prints or that is copied from the code:
//
//	<!-- show delete-foreign --stage 2 -->
//	```text
//	…
//	```
//	<!-- end -->
//
// A question of the lesson, <!-- lesson 3.1 -->, the rows of a document, <!-- rows doc1 -->, and the cards of the
// libraries, <!-- cards -->, have no fence.
// "from /Unlock/ to /^}$/" at the end of the marker takes a part of it only: from the first
// line that matches to the next one that does.
type block struct {
	fence
	mark     string
	words    []string // of the marker, without the from and to
	from, to *regexp.Regexp
}

var (
	// others are the blocks that internal/kata checks or writes.
	others  = []string{"session", "adapter"}
	mark    = regexp.MustCompile(`^<!-- (.+) -->$`)
	excerpt = regexp.MustCompile(` from /(.+)/ to /(.+)/$`)
	// unfenced are the blocks that are Markdown.
	unfenced = regexp.MustCompile(`^(lesson |rows |cards$)`)
)

const end = "<!-- end -->"

// blocks returns the generated blocks of a document.
func blocks(d *document) (found []block, problems []string) {
	ends := 0 // the line where the last block ended
	for i, text := range strings.Split(d.prose, "\n") {
		line := i + 1
		if !strings.Contains(text, "<!--") || line == ends {
			continue
		}
		m := mark.FindStringSubmatch(d.lines[i])
		at := slices.IndexFunc(d.fences, func(f fence) bool { return f.line == line+1 })
		switch {
		case m != nil && unfenced.MatchString(m[1]):
			next := line + slices.IndexFunc(d.lines[line:], func(text string) bool { return strings.HasPrefix(text, "<!--") })
			if next < line || d.lines[next] != end {
				problems = append(problems, d.at(line)+text+" has no "+end)
				continue
			}
			ends = next + 1
			found = append(found, block{fence: fence{part: part{line: line}, end: ends}, mark: m[1], words: strings.Fields(m[1])})
		case d.lines[i] == end:
			problems = append(problems, d.at(line)+end+" without a block")
		case m == nil || at < 0:
			problems = append(problems, d.at(line)+"a mark is a line of its own, and ``` is the next: <!-- show FAILURE --stage 2 -->")
		case d.fences[at].end >= len(d.lines) || d.lines[d.fences[at].end] != end:
			problems = append(problems, d.at(line)+text+" has no "+end+" after its ```")
		default:
			ends = d.fences[at].end + 1
			b := block{fence: d.fences[at], mark: m[1]}
			if err := b.read(); err != nil {
				problems = append(problems, d.at(line)+err.Error())
				continue
			}
			found = append(found, b)
		}
	}
	return found, problems
}

// read parses the marker.
func (b *block) read() error {
	text := b.mark
	if part := excerpt.FindStringSubmatch(text); part != nil {
		text = strings.TrimSuffix(text, part[0])
		var err error
		if b.from, err = regexp.Compile(part[1]); err == nil {
			b.to, err = regexp.Compile(part[2])
		}
		if err != nil {
			return err
		}
	}
	b.words = strings.Fields(text)
	want := "text"
	switch {
	case b.words[0] == "code" && len(b.words) > 1:
		want = strings.TrimPrefix(path.Ext(b.words[1]), ".")
	case b.words[0] == "diff" && !slices.Contains(b.words, "--help"):
		want = "diff"
	case slices.Contains(b.words, "--json"):
		want = "json"
	}
	if b.language != want && !slices.Contains(others, b.words[0]) {
		return fmt.Errorf("the block opens with ```%s and not with ```%s", b.language, want)
	}
	return nil
}

// flagsOfEach is the end of a command's help: the flags that the documents do not repeat for each command.
var flagsOfEach = regexp.MustCompile(`(?s)\n(?:Flags of every command:|所有命令都有的选项：)\n.*$`)

// content returns what the block must contain. A Chinese document shows what the command prints in Chinese.
func (b block) content(t *testing.T, d *document) (text string, err error) {
	words := b.words
	switch words[0] {
	case "lesson":
		return questionOf(t, words[1], languageOf(d.name))
	case "rows":
		return tableOf(t, d, words[1])
	case "cards":
		return cardsTable(t, d), nil
	}
	if languageOf(d.name) == i18n.Chinese {
		words = append(slices.Clone(words), "--lang", "zh")
	}
	switch b.words[0] {
	case "code":
		text, err = sourceOf(b.words[1:])
	case "matrix":
		text, err = printed(t, words[1:]...)
	default:
		text, err = printed(t, words...)
	}
	if slices.Contains(words, "--help") {
		text = flagsOfEach.ReplaceAllString(text, "")
	}
	if err != nil || b.from == nil {
		return text, err
	}
	return b.part(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
}

// part returns the lines that the marker's from and to select.
func (b block) part(lines []string) (string, error) {
	first := slices.IndexFunc(lines, b.from.MatchString)
	if first < 0 {
		return "", fmt.Errorf("no line matches /%s/", b.from)
	}
	last := slices.IndexFunc(lines[first:], b.to.MatchString)
	if last < 0 {
		return "", fmt.Errorf("behind /%s/ no line matches /%s/", b.from, b.to)
	}
	return strings.Join(lines[first:first+last+1], "\n") + "\n", nil
}

// printed returns what the command prints.
func printed(t *testing.T, words ...string) (string, error) {
	o := run(t, "", words...)
	if o.status != 0 {
		return "", fmt.Errorf("go run . %s: status %d: %s", strings.Join(words, " "), o.status, o.err)
	}
	return o.out, nil
}

// sourceOf returns a declaration with its comment, or a whole file that is not Go:
// "stage1_setnx_expire/mutex.go Mutex.TryLock".
func sourceOf(words []string) (string, error) {
	raw, err := fs.ReadFile(root, words[0])
	if err != nil {
		return "", err
	}
	isGo := path.Ext(words[0]) == ".go"
	switch {
	case !isGo && len(words) == 1:
		return string(raw), nil
	case !isGo || len(words) != 2:
		return "", fmt.Errorf("%s: name one declaration of a Go file, as in Mutex.TryLock", strings.Join(words, " "))
	}
	return declaration(words[0], string(raw), words[1])
}

// declaration returns the declaration of that name, with the comment above it.
func declaration(file, source, name string) (string, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	pattern := `^(?:type|var|const|func) (?:\w+, )*` + name + `\b`
	if receiver, method, ok := strings.Cut(name, "."); ok {
		pattern = `^func \(\w+ \*?` + receiver + `\) ` + method + `\(`
	}
	for _, d := range tree.Decls {
		from, to := files.Position(d.Pos()).Offset, files.Position(d.End()).Offset
		if regexp.MustCompile(pattern).MatchString(source[from:to]) {
			begin := strings.LastIndex(source[:from], "\n\n") + 2
			return source[begin:to] + "\n", nil
		}
	}
	return "", fmt.Errorf("%s declares no %s", file, name)
}

// refresh returns the document with up-to-date blocks.
func refresh(t *testing.T, d *document) (text string, problems []string) {
	found, problems := blocks(d)
	var fresh []string
	done := 0
	for _, b := range found {
		// Only go generate runs the search of the suite again, once: the tests of internal/cli compare
		// its table with the lessons, and write the Chinese one.
		if slices.Contains(others, b.words[0]) || b.mark == "explore --stage all" && (!*update || strings.HasPrefix(d.name, inChinese)) {
			continue
		}
		shown, err := b.content(t, d)
		if err != nil {
			problems = append(problems, d.at(b.line-1)+err.Error())
			continue
		}
		fresh = append(fresh, d.lines[done:b.line]...)
		fresh = append(fresh, strings.Split(strings.TrimSuffix(shown, "\n"), "\n")...)
		done = b.fence.end - 1
	}
	return strings.Join(append(fresh, d.lines[done:]...), "\n"), problems
}

// With -update the test writes the blocks into the documents.
func TestGeneratedBlocksAreWhatTheCommandsPrint(t *testing.T) {
	for _, d := range documents() {
		t.Run(d.name, func(t *testing.T) {
			text, problems := refresh(t, d)
			requireNone(t, problems)
			if *update && text != d.text {
				require.NoError(t, os.WriteFile(filepath.Join("..", filepath.FromSlash(d.name)), []byte(text), 0o644))
				return
			}
			require.Empty(t, udiff.Unified(d.name, "what is printed", d.text, text), "out of date: go generate ./...")
		})
	}
}
