package interview

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// answers are the lines that the candidate types.
type answers struct {
	lines chan string
	done  chan struct{}
}

// listen reads lines. It reads in a goroutine of its own, because nothing else can
// leave a read from a terminal when Ctrl-C comes; the goroutine ends with the input, or
// with the first line after close.
func listen(in io.Reader) *answers {
	a := &answers{make(chan string), make(chan struct{})}
	go func() {
		defer close(a.lines)
		from := bufio.NewReader(in)
		for {
			line, err := from.ReadString('\n')
			if line != "" {
				select {
				case a.lines <- strings.TrimSpace(line):
				case <-a.done:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// next is the next line; false when there are no more, or nobody waits for one.
func (a *answers) next(ctx context.Context) (string, bool) {
	if ctx.Err() != nil {
		return "", false
	}
	select {
	case line, ok := <-a.lines:
		return line, ok
	case <-ctx.Done():
		return "", false
	}
}

func (a *answers) close() { close(a.done) }
