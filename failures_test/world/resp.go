package world

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// parseCommand takes the first complete command off buf, which holds what a
// client wrote: arrays of bulk strings. It returns nil args while the command
// is still incomplete.
func parseCommand(buf []byte) (args []string, rest []byte, err error) {
	left := bytes.NewReader(buf)
	reader := bufio.NewReaderSize(left, 16)
	parsed, err := server.ParseReply(reader)
	if errors.Is(err, io.EOF) {
		return nil, buf, nil
	}
	items, _ := parsed.([]any)
	for _, item := range items {
		if arg, isText := item.(string); isText {
			args = append(args, arg)
		}
	}
	if len(args) == 0 || len(args) < len(items) {
		return nil, buf, fmt.Errorf("world: the client sent %q, which is no command", buf)
	}
	return args, buf[len(buf)-left.Len()-reader.Buffered():], nil
}

func cutLine(buf []byte) (line, rest []byte, ok bool) {
	return bytes.Cut(buf, []byte("\r\n"))
}

// replyText renders one reply the way redis-cli would, on one line. A nested array,
// a map and a set are put in brackets. rest is what follows the reply.
func replyText(raw []byte) (text string, rest []byte) {
	line, rest, ok := cutLine(raw)
	if !ok || len(line) == 0 {
		return string(raw), nil
	}
	body := string(line[1:])
	switch line[0] {
	case '+', ':', ',', '#', '(':
		return body, rest
	case '_':
		return "(nil)", rest
	case '-':
		return "(error) " + body, rest
	case '$':
		size, err := strconv.Atoi(body)
		if err != nil || size < 0 {
			return "(nil)", rest
		}
		if len(rest) < size+2 {
			return string(raw), nil
		}
		return string(rest[:size]), rest[size+2:]
	case '*', '>', '~', '%':
		count, err := strconv.Atoi(body)
		if err != nil || count < 0 {
			return "(nil)", rest
		}
		if line[0] == '%' {
			count *= 2
		}
		items := make([]string, 0, count)
		for range count {
			var item string
			item, rest = replyText(rest)
			items = append(items, item)
		}
		return "[" + strings.Join(items, " ") + "]", rest
	}
	return string(raw), nil
}

// isTracking tells the command after which Redis pushes to a connection which of the
// keys that its client has read have changed.
func isTracking(args []string) bool {
	return len(args) > 2 && strings.EqualFold(args[0], "CLIENT") && strings.EqualFold(args[1], "TRACKING") &&
		strings.EqualFold(args[2], "ON")
}

// isSubscribe tells the commands that make a connection a subscriber's.
func isSubscribe(name string) bool {
	return slices.Contains([]string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"}, strings.ToUpper(name))
}
