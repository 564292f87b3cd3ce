package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// peer is a Java process with a Redisson in it. It ends with its input, so also
// with the program that started it.
type peer struct {
	version string // of Redisson
	cmd     *exec.Cmd
	in      io.Writer
	errs    bytes.Buffer
	ended   chan struct{} // closed when the process has ended

	mu      sync.Mutex
	last    int                    // number of the last command
	pending map[string]chan string // by number: where its answer goes
}

// startPeer starts a Java process on what Maven has built, and waits until its
// Redisson is connected.
func startPeer(ctx context.Context, target, addr string, m mode) (*peer, error) {
	classes := filepath.Join(target, "classes") + string(filepath.ListSeparator) + filepath.Join(target, "lib", "*")
	cmd := exec.Command("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m",
		"-Dslf4j.internal.verbosity=ERROR", "-cp", classes,
		"Peer", addr, strconv.FormatInt(lease.Milliseconds(), 10), string(m))
	p := &peer{cmd: cmd, ended: make(chan struct{}), pending: map[string]chan string{}}
	cmd.Stderr = &p.errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("java does not start: %w", err)
	}
	ready := make(chan string, 1)
	p.pending["ready"] = ready
	go p.listen(out)
	select {
	case p.version = <-ready:
		return p, nil
	case <-p.ended:
		return nil, p.gone()
	case <-ctx.Done():
		p.Kill()
		return nil, fmt.Errorf("java is not ready: %w: %s", ctx.Err(), p.said())
	}
}

// listen hands the answers to those who asked.
func (p *peer) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		number, answer, _ := strings.Cut(lines.Text(), " ")
		p.mu.Lock()
		asked := p.pending[number]
		delete(p.pending, number)
		p.mu.Unlock()
		if asked != nil {
			asked <- answer
		}
	}
	_ = p.cmd.Wait() // that it was killed, or what it said
	close(p.ended)
}

// Kill kills the process and waits for its end.
func (p *peer) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func (p *peer) gone() error { return fmt.Errorf("the java process has ended: %s", p.said()) }

// said is what the process has printed as errors. It must have ended.
func (p *peer) said() string { return strings.TrimSpace(p.errs.String()) }

// ask has a thread of the process execute one command, and waits for its answer.
func (p *peer) ask(ctx context.Context, thread, command, lock string, args ...string) (string, error) {
	answer := make(chan string, 1)
	p.mu.Lock()
	p.last++
	number := strconv.Itoa(p.last)
	p.pending[number] = answer
	line := strings.Join(append([]string{number, thread, command, url.QueryEscape(lock)}, args...), " ")
	_, err := io.WriteString(p.in, line+"\n")
	p.mu.Unlock()
	if err != nil {
		return "", fmt.Errorf("ask java for %s: %w", command, err)
	}
	select {
	case got := <-answer:
		if reason, failed := strings.CutPrefix(got, "error "); failed {
			return "", fmt.Errorf("redisson's %s of %s: %s", command, lock, reason)
		}
		return got, nil
	case <-p.ended:
		return "", p.gone()
	case <-ctx.Done():
		return "", fmt.Errorf("redisson's %s of %s has no answer: %w", command, lock, ctx.Err())
	}
}
