package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// keyboard is where keys come from, and where screens go to.
type keyboard struct {
	next  func() (rune, error) // the next key; io.EOF when there are no more
	show  func(lines []string)
	close func() // may be called twice
}

// openKeyboard reads single keys if a person sits at a terminal, else the input.
func (a *app) openKeyboard(in io.Reader) (*keyboard, error) {
	from, fromTerminal := asTerminal(in)
	_, toTerminal := asTerminal(a.out)
	if !fromTerminal || !toTerminal {
		return a.pipedKeys(in), nil
	}
	fd := int(from.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, fmt.Errorf("the terminal gives no single keys: %w; try: echo KEYS | go run . play", err)
	}
	return &keyboard{
		next: rawKeys(from),
		show: func(lines []string) { // a raw terminal does not go back to the first column by itself
			fmt.Fprintf(a.out, "\x1b[H\x1b[2J%s", strings.Join(lines, "\r\n"))
		},
		close: func() {
			if before != nil {
				_ = term.Restore(fd, before) // there is nobody to tell
				before = nil
				fmt.Fprintln(a.out)
			}
		},
	}, nil
}

// asTerminal is what a person sits at, if it is that.
func asTerminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// rawKeys reads what a raw terminal sends: a byte for each key, and a group of bytes,
// beginning with an escape, for those that have no letter.
func rawKeys(from io.Reader) func() (rune, error) {
	var waiting []byte
	return func() (rune, error) {
		if len(waiting) == 0 {
			group := make([]byte, 64)
			n, err := from.Read(group)
			if n == 0 {
				return 0, err
			}
			waiting = group[:n]
		}
		key, size := utf8.DecodeRune(waiting)
		waiting = waiting[size:]
		switch key {
		case '\x1b':
			waiting = nil
		case '\x03', '\x04': // Ctrl-C and Ctrl-D: a raw terminal makes no signal of them
			return 'q', nil
		}
		return key, nil
	}
}

// pipedKeys reads keys from a pipe or from lines, and prints every screen below
// the last one.
func (a *app) pipedKeys(in io.Reader) *keyboard {
	from := bufio.NewReader(in)
	return &keyboard{
		next: func() (rune, error) {
			for {
				key, _, err := from.ReadRune()
				if err != nil || !unicode.IsSpace(key) {
					return key, err
				}
			}
		},
		show:  func(lines []string) { fmt.Fprintf(a.out, "%s\n\n", strings.Join(lines, "\n")) },
		close: func() {},
	}
}
