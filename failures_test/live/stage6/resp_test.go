package stage6_test

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
	line, err := readLine(r, &copied)
	if err != nil {
		return nil, nil, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(line, "*"))
	if err != nil {
		return nil, nil, fmt.Errorf("%q begins no command", line)
	}
	for range n {
		before := copied.Len()
		header, err := readValue(r, &copied)
		if err != nil {
			return nil, nil, err
		}
		body := copied.Bytes()[before+len(header)+2:]
		args = append(args, string(body[:len(body)-2]))
	}
	return args, copied.Bytes(), nil
}

// readReply reads one reply, and what Redis pushes before it, as the bytes that came.
func readReply(r *bufio.Reader) ([]byte, error) {
	var raw bytes.Buffer
	for {
		header, err := readValue(r, &raw)
		if err != nil {
			return nil, err
		}
		if header[0] != '>' {
			return raw.Bytes(), nil
		}
	}
}

// readValue copies one value of RESP 2 or 3 and returns its first line.
func readValue(r *bufio.Reader, raw *bytes.Buffer) (string, error) {
	header, err := readLine(r, raw)
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
		if _, err := readValue(r, raw); err != nil {
			return "", err
		}
	}
	return header, nil
}

func readLine(r *bufio.Reader, raw *bytes.Buffer) (string, error) {
	line, err := r.ReadString('\n')
	raw.WriteString(line)
	line = strings.TrimRight(line, "\r\n")
	if err == nil && line == "" {
		err = io.ErrUnexpectedEOF
	}
	return line, err
}
