package world

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockkata/failures_test/trace"
)

var endOfLine = []byte("\r\n")

// parseCommand removes the first complete command, an array of bulk strings, from buf, the bytes
// that a client wrote. It returns nil args while the command is incomplete.
func parseCommand(buf []byte) (args []string, rest []byte, err error) {
	header, after, ok := bytes.Cut(buf, endOfLine)
	if !ok {
		return nil, buf, nil
	}
	count, err := length(header, '*')
	if err != nil {
		return nil, buf, err
	}
	args = make([]string, 0, count)
	for range count {
		header, body, ok := bytes.Cut(after, endOfLine)
		if !ok {
			return nil, buf, nil
		}
		size, err := length(header, '$')
		if err != nil {
			return nil, buf, err
		}
		if len(body) < size+2 {
			return nil, buf, nil
		}
		args = append(args, string(body[:size]))
		after = body[size+2:]
	}
	return args, after, nil
}

func length(header []byte, kind byte) (int, error) {
	digits, isMarked := bytes.CutPrefix(header, []byte{kind})
	n, err := strconv.Atoi(string(digits))
	if !isMarked || err != nil || n < 0 {
		return 0, fmt.Errorf("world: the client sent %q where a length marked %q belongs", header, kind)
	}
	return n, nil
}

// replyText returns a reply as redis-cli would show it, on one line, and the bytes after the reply.
// Nested arrays, maps and sets are in brackets.
func replyText(raw []byte) (text string, rest []byte) {
	line, rest, ok := bytes.Cut(raw, endOfLine)
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
		return trace.ErrorPrefix + body, rest
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

// isTracking reports whether a command makes Redis push a message when a key that the client has
// read changes.
func isTracking(args []string) bool {
	return len(args) > 2 && strings.EqualFold(args[0], "CLIENT") && strings.EqualFold(args[1], "TRACKING") &&
		strings.EqualFold(args[2], "ON")
}

// blocking lists the commands that block in Redis until data arrives.
var blocking = []string{"BLPOP", "BRPOP", "BLMPOP", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "BRPOPLPUSH", "BLMOVE"}

// isBlocking reports whether a command can block in Redis.
func isBlocking(args []string) bool {
	name := strings.ToUpper(args[0])
	isBlock := func(arg string) bool { return strings.EqualFold(arg, "BLOCK") }
	return slices.Contains(blocking, name) || strings.HasPrefix(name, "XREAD") && slices.ContainsFunc(args, isBlock)
}
