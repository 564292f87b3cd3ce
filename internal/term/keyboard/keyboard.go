// Package keyboard reads keys, one by one, from a terminal or from a pipe.
package keyboard

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"time"
	"unicode"

	"lockkata/internal/i18n"

	"golang.org/x/term"
)

// Terminal returns the stream as a file, and reports whether it is a terminal.
func Terminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns a terminal has, or other if that is unknown.
func Width(stream any, other int) int { return cmp.Or(size(stream).columns, other) }

func size(stream any) (s struct{ columns, rows int }) {
	if f, ok := Terminal(stream); ok {
		s.columns, s.rows, _ = term.GetSize(int(f.Fd())) // with an error they are 0
	}
	return s
}

// Keyboard is a source of keys.
type Keyboard struct {
	runes  *bufio.Reader
	fd     int
	before *term.State // of a terminal, to be restored; nil for a pipe
}

var noSingleKeys = i18n.New("the terminal gives no single keys: {error}")

// Open reads single keys from a terminal, until Close; from anything else it is [Piped].
func Open(in io.Reader) (*Keyboard, error) {
	k := Piped(in)
	if f, ok := Terminal(in); ok {
		var err error
		k.fd = int(f.Fd())
		if k.before, err = term.MakeRaw(k.fd); err != nil {
			return nil, noSingleKeys.Args("error", err)
		}
	}
	return k, nil
}

// Piped reads keys from a pipe or from lines, and skips spaces.
func Piped(in io.Reader) *Keyboard { return &Keyboard{runes: bufio.NewReader(in)} }

// IsTerminal reports whether the keys come from a terminal.
func (k *Keyboard) IsTerminal() bool { return k.before != nil }

// Interrupt is the key Ctrl-C of a terminal.
const Interrupt = '\x03'

// Next waits for the next key. The error is io.EOF when there are no more.
func (k *Keyboard) Next() (rune, error) {
	key, _, err := k.runes.ReadRune()
	for err == nil && !k.IsTerminal() && unicode.IsSpace(key) {
		key, _, err = k.runes.ReadRune()
	}
	if err != nil || !k.IsTerminal() {
		return key, err
	}
	switch key {
	case '\x1b': // an arrow, for example: discard the rest of its bytes
		_, err = k.runes.Discard(k.runes.Buffered())
	case '\x04': // Ctrl-D
		key = 'q'
	}
	return key, err
}

// NextOn draws a screen and waits for the next key. If the terminal is resized meanwhile it draws
// again. When the context ends it returns, and no more keys can be read.
func (k *Keyboard) NextOn(ctx context.Context, screen any, draw func()) (rune, error) {
	drawn := size(screen)
	draw()
	type press struct {
		key rune
		err error
	}
	pressed := make(chan press, 1)
	go func() {
		key, err := k.Next()
		pressed <- press{key, err}
	}()
	for {
		select {
		case p := <-pressed:
			return p.key, p.err
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(200 * time.Millisecond):
			if now := size(screen); k.IsTerminal() && now != drawn {
				drawn = now
				draw()
			}
		}
	}
}

// Close restores the terminal. It may be called twice.
func (k *Keyboard) Close() {
	if k.IsTerminal() {
		_ = term.Restore(k.fd, k.before)
	}
}

// Screen returns a writer to use while the keyboard is open: in raw mode a line feed
// does not return to the left edge.
func (k *Keyboard) Screen(out io.Writer) io.Writer {
	if k.IsTerminal() {
		return rawScreen{out}
	}
	return out
}

type rawScreen struct{ io.Writer }

// Write writes \r\n for each \n.
func (s rawScreen) Write(b []byte) (int, error) {
	_, err := s.Writer.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}
