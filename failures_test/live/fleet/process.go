// Package fleet starts processes and exchanges lines of JSON with them: workers, which run this
// program's binary again, and other commands, such as java. A process can be killed, stopped and
// continued, together with the processes that it has started. None outlives the program that started it.
//
//	w, err := fleet.Start(fleet.Again(task{Locks: 4}))
//	defer w.Kill()
//	err = w.Tell(order{Do: "lock"})
//	var a answer
//	err = w.Hear(&a)
//
// A worker calls this at the top of main or TestMain:
//
//	fleet.Serve(func(t task, orders <-chan order, tell func(any)) error { … })
package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// ErrEnded is the error of communicating with a process that has ended. The text has its exit
// status and standard error.
var ErrEnded = errors.New("the process has ended")

// These are set in a file for each operating system.
var (
	attributes *syscall.SysProcAttr                // on Linux: the kernel kills a process when this one ends
	send       func(leader int, s os.Signal) error // on Unix: to a process and those that it has started
	stop, goOn os.Signal                           // on Unix
)

var running atomic.Int64

// Running returns how many started processes are alive.
func Running() int { return int(running.Load()) }

// Process is a started process. It reads orders from its standard input and writes answers to its
// standard output. Several goroutines may use its methods at once.
type Process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   bytes.Buffer  // its standard error; read it after ended
	killed atomic.Bool   // by Kill
	ended  chan struct{} // closed at its end
	err    error         // of Wait; read it after ended

	telling, hearing sync.Mutex
}

// Start starts a command. It keeps the standard error unless cmd.Stderr is set. If cmd.Stdout is
// set, Hear reads nothing. If the command has a context, its end also kills the processes that this one has
// started. The process ends with this program: when its input ends, if it reads it, and on Linux always, even
// while it is stopped.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	if cmd.Stderr == nil {
		cmd.Stderr = &p.said
	}
	cmd.SysProcAttr = attributes
	if cmd.Cancel != nil {
		cmd.Cancel = p.kill
	}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	// With cmd.StdoutPipe, the output could not be read after the end of the process.
	out, answers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	p.out = bufio.NewReader(out)
	if cmd.Stdout == nil {
		cmd.Stdout = answers
	}
	if err := cmd.Start(); err != nil {
		_ = out.Close() // the first error matters
		return nil, err
	}
	running.Add(1)
	go func() {
		p.err = cmd.Wait()
		_ = p.kill() // what it has started and left behind
		running.Add(-1)
		close(p.ended)
	}()
	return p, nil
}

// Tell sends a value as a line of JSON.
func (p *Process) Tell(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.TellLine(string(line))
}

// TellLine sends a line of text.
func (p *Process) TellLine(line string) error {
	p.telling.Lock()
	defer p.telling.Unlock()
	_, err := fmt.Fprintln(p.in, line)
	return err
}

// Hear waits for the next line and decodes it. After the last line it returns [ErrEnded].
func (p *Process) Hear(v any) error {
	line, err := p.HearLine()
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(line), v); err != nil {
		return fmt.Errorf("%s says %q: %w", filepath.Base(p.cmd.Path), line, err)
	}
	return nil
}

// HearLine waits for the next line, which may be any text. After the last line it returns
// [ErrEnded]. It does not return an incomplete line of a killed process.
func (p *Process) HearLine() (string, error) {
	p.hearing.Lock()
	defer p.hearing.Unlock()
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %w: %v", filepath.Base(p.cmd.Path), ErrEnded, p.Wait())
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// Wait waits until the process has ended. It returns nil if its status is 0 or Kill has ended it,
// and otherwise an error with its standard error.
func (p *Process) Wait() error {
	<-p.ended
	if p.err == nil || p.killed.Load() {
		return nil
	}
	return fmt.Errorf("%w: %s", p.err, bytes.TrimSpace(p.said.Bytes()))
}

// Ended returns a channel that is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Kill kills the process, even while it is stopped, and waits for its end.
func (p *Process) Kill() {
	p.killed.Store(true)
	_ = p.kill() // it may have ended by itself
	<-p.ended
}

func (p *Process) kill() error {
	if send == nil {
		return p.cmd.Process.Kill()
	}
	return send(p.cmd.Process.Pid, os.Kill)
}

// CanStop reports whether Stop and Continue work on this system.
func CanStop() bool { return stop != nil }

// Stop suspends the process until Continue. The signal takes a moment to arrive. On Windows it
// returns [errors.ErrUnsupported].
func (p *Process) Stop() error { return p.signal(stop) }

// Continue resumes a stopped process.
func (p *Process) Continue() error { return p.signal(goOn) }

func (p *Process) signal(s os.Signal) error {
	if s == nil {
		return fmt.Errorf("stop or continue a process: %w on this system", errors.ErrUnsupported)
	}
	return send(p.cmd.Process.Pid, s)
}
