package world

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"lockkata/failures_test/trace"
)

// parseCommand removes the first complete command, an array of strings, from buf, the bytes that a
// client wrote. It returns nil args while the command is incomplete.
func parseCommand(buf []byte) (args []string, rest []byte, err error) {
	in := bytes.NewReader(buf)
	r := bufio.NewReaderSize(in, len(buf))
	command, err := server.ParseReply(r)
	if err == io.EOF {
		return nil, buf, nil
	}
	items, isArray := command.([]any)
	for _, item := range items {
		arg, isString := item.(string)
		isArray = isArray && isString
		args = append(args, arg)
	}
	if err != nil || !isArray {
		return nil, buf, fmt.Errorf("world: the client sent %q, which is no command", buf)
	}
	return args, buf[len(buf)-r.Buffered()-in.Len():], nil
}

// replyText returns a reply as redis-cli would show it, on one line, and the bytes after the reply.
// Nested arrays, maps and sets are in brackets. Of a text of several lines, such as the reply to INFO, it returns the
// first one.
func replyText(raw []byte) (text string, rest []byte) {
	line, rest, ok := bytes.Cut(raw, []byte("\r\n"))
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
		first, _, isLong := strings.Cut(string(rest[:size]), "\r\n")
		if isLong {
			first += " …"
		}
		return first, rest[size+2:]
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
