package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readCommand reads one command: an array of strings. It returns its arguments,
// and the bytes as they came.
func readCommand(r *bufio.Reader) (args []string, raw []byte, err error) {
	var copied bytes.Buffer
	line, err := copyLine(&copied, r)
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(line, "*"))
	if err != nil || n < 1 {
		return nil, nil, fmt.Errorf("%q begins no command", line)
	}
	for range n {
		before := copied.Len()
		header, err := copyValue(&copied, r)
		if err != nil {
			return nil, nil, err
		}
		body := copied.Bytes()[before+len(header)+2:]
		args = append(args, strings.TrimSuffix(string(body), "\r\n"))
	}
	return args, copied.Bytes(), nil
}

// readValue reads one value of RESP 2 or 3 as the bytes that came.
func readValue(r *bufio.Reader) ([]byte, error) {
	var raw bytes.Buffer
	_, err := copyValue(&raw, r)
	return raw.Bytes(), err
}

// copyValue copies one value and returns its first line.
func copyValue(raw *bytes.Buffer, r *bufio.Reader) (string, error) {
	header, err := copyLine(raw, r)
	if err != nil {
		return "", err
	}
	n, _ := strconv.Atoi(header[1:]) // only some kinds have a length
	switch header[0] {
	case '$', '=', '!':
		if n >= 0 {
			_, err = io.CopyN(raw, r, int64(n)+2)
		}
		return header, err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		n = 0
	}
	for range n {
		if _, err := copyValue(raw, r); err != nil {
			return "", err
		}
	}
	return header, nil
}

func copyLine(raw *bytes.Buffer, r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	raw.WriteString(line)
	line = strings.TrimRight(line, "\r\n")
	if err == nil && line == "" {
		err = io.ErrUnexpectedEOF
	}
	return line, err
}
