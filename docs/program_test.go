package docs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a command of a document may take: many times what any of
// them needs.
const patience = 5 * time.Minute

// scratch is where the commands run, and what they write goes.
var scratch string

// leave are the keys with which a game is left.
const leave = "q"

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "documents"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(status)
}

// program is the command of this repository, built once.
var program = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(scratch, "lockkata")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

// outcome is what became of a command.
type outcome struct {
	status   int
	out, err string
}

// started are the commands that have run, by their line: each runs once.
var started sync.Map

// runLine runs a command line in which "go run ." is the program. Where the line
// pipes nothing into it, it gets these keys.
func runLine(line, keys string) outcome {
	run, _ := started.LoadOrStore(line+"\x00"+keys, sync.OnceValue(func() outcome {
		cmd, cancel, err := shell(line)
		if err != nil {
			return outcome{status: -1, err: err.Error()}
		}
		defer cancel()
		cmd.Stdin = strings.NewReader(keys)
		return wait(cmd)
	}))
	return run.(func() outcome)()
}

// built is how a reader calls the program.
var built = regexp.MustCompile(`go run \.|\./lockkata\b`)

// shell is a command line in which "go run ." is the program, in the scratch folder.
func shell(line string) (*exec.Cmd, context.CancelFunc, error) {
	binary, err := program()
	if err != nil {
		return nil, nil, err
	}
	line = built.ReplaceAllString(line, `"$$LOCKKATA"`)
	if strings.HasPrefix(line, `"`) {
		line = "exec " + line // so that it is the program that is told to end
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = scratch
	if strings.Contains(line, " kata") {
		cmd.Dir = root // it looks for the repository
	}
	cmd.Env = append(os.Environ(), "LOCKKATA="+binary)
	cmd.WaitDelay = time.Second
	return cmd, cancel, nil
}

func wait(cmd *exec.Cmd) outcome {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return outcome{exit.ExitCode(), out.String(), said.String()}
	case err != nil:
		return outcome{-1, out.String(), err.Error()}
	}
	return outcome{0, out.String(), said.String()}
}

// runServer starts a command that serves a page, on a port of its own, asks for the
// page once and tells the command to end.
func runServer(line string) outcome {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return outcome{status: -1, err: err.Error()}
	}
	address := listener.Addr().String()
	_ = listener.Close()
	cmd, cancel, err := shell(line + " --addr " + address)
	if err != nil {
		return outcome{status: -1, err: err.Error()}
	}
	defer cancel()
	ended := make(chan outcome, 1)
	go func() { ended <- wait(cmd) }()
	page, err := askFor("http://"+address+"/", ended)
	if err != nil {
		return outcome{status: -1, err: err.Error()}
	}
	if !strings.Contains(page, "<html") {
		return outcome{status: -1, err: "what it serves is no page: " + page[:min(len(page), 100)]}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return outcome{status: -1, err: err.Error()}
	}
	return <-ended
}

// askFor asks for a page until there is a server, or it has ended.
func askFor(url string, ended chan outcome) (string, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case o := <-ended:
			return "", fmt.Errorf("it ended with status %d before it served a page: %s", o.status, o.err)
		case <-time.After(20 * time.Millisecond):
		}
		answer, err := http.Get(url)
		if err != nil {
			continue
		}
		page, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", url, answer.Status)
		}
		return string(page), err
	}
	return "", fmt.Errorf("nobody serves %s", url)
}
