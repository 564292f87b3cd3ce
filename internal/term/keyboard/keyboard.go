// Package keyboard gives a program the keys that a person presses, one by one, or
// those that come through a pipe.
package keyboard

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"time"
	"unicode"
	"unicode/utf8"

	"lockkata/internal/texts"

	"golang.org/x/term"
)

// Terminal is what a person sits at, if the stream is that.
func Terminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// Width is how many columns a terminal has; what is none, or does not say it, has the other.
func Width(stream any, other int) int {
	if width, _ := size(stream); width > 0 {
		return width
	}
	return other
}

// size is that of a terminal; 0 for what is none, or does not say it.
func size(stream any) (width, height int) {
	if f, ok := Terminal(stream); ok {
		width, height, _ = term.GetSize(int(f.Fd())) // then they are 0
	}
	return width, height
}

// Keyboard is where keys come from.
type Keyboard struct {
	in      io.Reader
	runes   *bufio.Reader // of a pipe
	fd      int
	before  *term.State // of a terminal that gives single keys; nil for a pipe
	waiting []byte      // what the terminal has sent and nobody has read
}

var noSingleKeys = texts.New("the terminal gives no single keys: {error}")

// Open reads single keys from a terminal, until Close; from anything else it is [Piped].
func Open(in io.Reader) (*Keyboard, error) {
	f, ok := Terminal(in)
	if !ok {
		return Piped(in), nil
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, noSingleKeys.With("error", err)
	}
	return &Keyboard{in: in, fd: int(f.Fd()), before: before}, nil
}

// Piped reads keys from a pipe or from lines: the spaces between them mean nothing.
func Piped(in io.Reader) *Keyboard { return &Keyboard{runes: bufio.NewReader(in)} }

// IsTerminal tells whether a person presses the keys.
func (k *Keyboard) IsTerminal() bool { return k.before != nil }

// Next waits for the next key. The error is io.EOF when there are no more.
func (k *Keyboard) Next() (rune, error) {
	if k.IsTerminal() {
		return k.pressed()
	}
	for {
		key, _, err := k.runes.ReadRune()
		if err != nil || !unicode.IsSpace(key) {
			return key, err
		}
	}
}

// resizePeriod is how often it is looked whether the terminal has another size.
const resizePeriod = 200 * time.Millisecond

// NextOn draws a screen, and is [Keyboard.Next] of the person who looks at it. When it gets
// another size while the person thinks, it is drawn again.
func (k *Keyboard) NextOn(screen any, draw func()) (key rune, err error) {
	width, height := size(screen) // before it is drawn: what changes meanwhile is seen
	draw()
	if !k.IsTerminal() {
		return k.Next()
	}
	pressed := make(chan struct{})
	go func() {
		defer close(pressed)
		key, err = k.Next()
	}()
	ticker := time.NewTicker(resizePeriod)
	defer ticker.Stop()
	for {
		select {
		case <-pressed:
			return key, err
		case <-ticker.C:
			if w, h := size(screen); w != width || h != height {
				width, height = w, h
				draw()
			}
		}
	}
}

// pressed reads what a raw terminal sends: a byte or more for each key, and a group of
// bytes, beginning with an escape, for those that have no letter.
func (k *Keyboard) pressed() (rune, error) {
	if len(k.waiting) == 0 {
		group := make([]byte, 64)
		n, err := k.in.Read(group)
		if n == 0 {
			return 0, err
		}
		k.waiting = group[:n]
	}
	key, size := utf8.DecodeRune(k.waiting)
	k.waiting = k.waiting[size:]
	switch key {
	case '\x1b':
		k.waiting = nil
	case '\x03', '\x04': // Ctrl-C and Ctrl-D: a raw terminal makes no signal of them
		return 'q', nil
	}
	return key, nil
}

// Close gives the terminal back as it was. It may be called twice.
func (k *Keyboard) Close() {
	if k.IsTerminal() {
		_ = term.Restore(k.fd, k.before) // there is nobody to tell
	}
}

// Screen is where to write while the keyboard is open: a terminal that gives single
// keys does not go back to the left edge by itself.
func (k *Keyboard) Screen(out io.Writer) io.Writer {
	if k.IsTerminal() {
		return rawScreen{out}
	}
	return out
}

type rawScreen struct{ out io.Writer }

// Write writes \r\n for each \n.
func (s rawScreen) Write(b []byte) (int, error) {
	if _, err := s.out.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}
