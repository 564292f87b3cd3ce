package keyboard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"lockkata/internal/term"
)

// Lines asks for lines, one by one.
type Lines struct {
	*input[string]
	out  io.Writer
	Echo bool // prints each line, which a terminal does by itself
}

// ReadLines reads lines, and prints the prompts to out.
func ReadLines(in io.Reader, out io.Writer) *Lines {
	_, isTerminal := Terminal(in)
	from := bufio.NewReader(in)
	return &Lines{out: out, Echo: !isTerminal, input: deliver(func() (string, error) {
		line, err := from.ReadString('\n')
		if line != "" {
			err = nil // the last line may have no end
		}
		return strings.TrimSpace(line), err
	})}
}

// Close ends the reading.
func (l *Lines) Close() { l.stop() }

// Next prints a prompt and returns the next line, without the spaces around it. ok is false after q, at the end
// of the input, and when the context ends.
func (l *Lines) Next(ctx context.Context) (line string, ok bool) {
	fmt.Fprint(l.out, "> ")
	if ctx.Err() == nil {
		select {
		case line, ok = <-l.C:
		case <-ctx.Done():
		}
	}
	switch {
	case !ok:
		fmt.Fprintln(l.out)
	case l.Echo:
		fmt.Fprintln(l.out, line)
	}
	return line, ok && !strings.EqualFold(line, "q")
}

// pasteGap is the longest time between two lines of a pasted text.
const pasteGap = 50 * time.Millisecond

// NextText is [Lines.Next] for a text. In a terminal it appends the lines that come right after the first: they
// were pasted.
func (l *Lines) NextText(ctx context.Context) (text string, ok bool) {
	for text, ok = l.Next(ctx); ok && !l.Echo; {
		select {
		case more, isMore := <-l.C:
			if !isMore {
				return text, ok
			}
			text = term.Joined(text, more)
		case <-time.After(pasteGap):
			return text, ok
		}
	}
	return text, ok
}
