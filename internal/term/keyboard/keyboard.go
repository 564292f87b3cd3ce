// Package keyboard reads single keys, or lines, from a terminal or from a pipe.
package keyboard

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"sync"
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

// input delivers what is read. A goroutine reads, because a read from a terminal cannot be cancelled. It ends
// with the input, or with the first read that ends after stop.
type input[T any] struct {
	C    <-chan T // closed at the end of the input
	err  error    // the reason, when C is closed
	stop func()   // ends the goroutine; may be called twice
}

// deliver begins to read.
func deliver[T any](read func() (T, error)) *input[T] {
	c, stopped := make(chan T), make(chan struct{})
	i := &input[T]{C: c, stop: sync.OnceFunc(func() { close(stopped) })}
	go func() {
		defer close(c)
		for {
			var what T
			if what, i.err = read(); i.err != nil {
				return
			}
			select {
			case c <- what:
			case <-stopped:
				return
			}
		}
	}()
	return i
}

// Keyboard is a source of single keys.
type Keyboard struct {
	*input[rune]
	fd     int
	before *term.State // of a terminal, to be restored; nil for a pipe
}

var noSingleKeys = i18n.New("the terminal gives no single keys: {error}")

// Open reads single keys from a terminal, until Close; from anything else it is [Piped].
func Open(in io.Reader) (*Keyboard, error) {
	f, ok := Terminal(in)
	if !ok {
		return Piped(in), nil
	}
	k := &Keyboard{fd: int(f.Fd())}
	var err error
	if k.before, err = term.MakeRaw(k.fd); err != nil {
		return nil, noSingleKeys.Args("error", err)
	}
	from := bufio.NewReader(in)
	k.input = deliver(func() (rune, error) {
		key, _, err := from.ReadRune()
		switch key {
		case '\x1b': // an arrow, for example: discard the rest of its bytes
			_, err = from.Discard(from.Buffered())
		case '\x04': // Ctrl-D
			key = 'q'
		}
		return key, err
	})
	return k, nil
}

// Piped reads keys from a pipe or from lines, and skips spaces.
func Piped(in io.Reader) *Keyboard {
	from := bufio.NewReader(in)
	return &Keyboard{input: deliver(func() (key rune, err error) {
		for key = ' '; err == nil && unicode.IsSpace(key); {
			key, _, err = from.ReadRune()
		}
		return key, err
	})}
}

// IsTerminal reports whether the keys come from a terminal.
func (k *Keyboard) IsTerminal() bool { return k.before != nil }

// Interrupt is the key Ctrl-C of a terminal.
const Interrupt = '\x03'

// NextOn draws a screen and waits for the next key. If the terminal is resized meanwhile it draws
// again. The error is io.EOF when there are no more keys, and that of the context when it ends.
func (k *Keyboard) NextOn(ctx context.Context, screen any, draw func()) (rune, error) {
	drawn := size(screen)
	draw()
	for {
		select {
		case key, ok := <-k.C:
			if !ok {
				return 0, k.err
			}
			return key, nil
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

// Close ends the reading, and restores the terminal.
func (k *Keyboard) Close() {
	k.stop()
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
