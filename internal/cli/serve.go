package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/i18n"
	"lockkata/internal/page"
	"lockkata/internal/page/build"
	"lockkata/internal/stages"
)

func (a *app) serveCommand() *cobra.Command {
	var addr, file string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show every failure on every stage in a browser, step by step",
		Long: "serve runs every failure on every stage, as they are now, and serves the page that " +
			"steps through the runs: docs/theatre.html. In it any run can be taken over, played and " +
			"broken: the engine for that is built in the background. Ctrl-C ends it.\n\n" +
			"With --file it writes the page with its engine into one file, which a browser opens " +
			"without a server and without Go, and ends.",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilInterrupted(cmd.Context())
			defer stop()
			switch isFile := cmd.Flags().Changed("file"); {
			case isFile && cmd.Flags().Changed("addr"):
				return exclude("--addr", "--file")
			case isFile:
				err := a.writePage(ctx, file)
				if err != nil && ctx.Err() != nil {
					return ctx.Err()
				}
				return err
			}
			return a.serve(ctx, addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8077", "the `host:port` to listen on; port 0 takes a free one")
	cmd.Flags().StringVar(&file, "file", "", "write the page with its engine into this `FILE`, and end")
	return cmd
}

// page plays the catalogue on the stages, and returns the page of it.
func (a *app) page(e page.Engine) ([]byte, error) {
	shown, err := stages.Ready(a.t, stages.Public())
	if err != nil {
		return nil, failedError{err}
	}
	rows := judge(a.t, failures.All, shown)
	if err := a.surprises(expecting(shown, rows)); err != nil {
		fmt.Fprintln(a.err, err) // the page shows it as it is
	}
	return page.Page(shown, rows, a.sources, e)
}

// serve serves the page until ctx ends. It listens first: an address that cannot be
// had is told before any work is done.
func (a *app) serve(ctx context.Context, addr string) error {
	listener, err := listen(addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	made, engine := page.Engine{}, (func(context.Context) ([]byte, error))(nil)
	if a.builds {
		if made.Runner, err = build.Runner(ctx, "."); err != nil {
			a.note(noEngine, "error", err)
		} else {
			made.File, engine = page.EngineFile, a.buildEngine(ctx)
		}
	}
	content, err := a.page(made)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: page.Handler(content, engine), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(a.out, a.say(isServed, "page", fmt.Sprintf("http://%s/", listener.Addr())))
	if engine != nil {
		a.note(isBuilding)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return failedError{serverEnded.Args("error", err)}
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		_ = server.Close()
	}
	<-ended
	return nil
}

// buildEngine builds the engine in the background. What it returns waits for the engine.
func (a *app) buildEngine(ctx context.Context) func(context.Context) ([]byte, error) {
	var packed []byte
	var err error
	done := make(chan struct{})
	begun := time.Now()
	go func() {
		defer close(done)
		if packed, err = build.Wasm(ctx, ".", a.sources); err == nil && ctx.Err() == nil {
			a.note(isBuilt, "time", time.Since(begun).Round(100*time.Millisecond), "size", megabytes(packed))
		} else if ctx.Err() == nil {
			a.note(noEngine, "error", err)
		}
	}()
	return func(asked context.Context) ([]byte, error) {
		select {
		case <-done:
			return packed, err
		case <-asked.Done():
			return nil, asked.Err()
		}
	}
}

// writePage writes the page with its engine inside into a file.
func (a *app) writePage(ctx context.Context, name string) error {
	if name == "" {
		return noPageFile.Args()
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return isFolder.Args("name", name, "file", filepath.Join(name, "lockkata.html"))
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return failedError{notSaved.Args("file", name, "error", err)}
	}
	runner, err := build.Runner(ctx, ".")
	if err != nil {
		return failedError{noEngine.Args("error", err)}
	}
	a.note(isBuilding)
	packed, err := build.Wasm(ctx, ".", a.sources)
	if err != nil {
		return failedError{noEngine.Args("error", err)}
	}
	content, err := a.page(page.Engine{Runner: runner, Packed: packed})
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		return failedError{notSaved.Args("file", name, "error", err)}
	}
	fmt.Fprintln(a.out, a.say(isSaved, "file", name, "size", megabytes(content)))
	return nil
}

func megabytes(raw []byte) string { return fmt.Sprintf("%.1f", float64(len(raw))/1e6) }

// saying guards what is said in the background.
var saying sync.Mutex

// note says something that happened in the background.
func (a *app) note(t i18n.Text, pairs ...any) {
	saying.Lock()
	defer saying.Unlock()
	fmt.Fprintln(a.err, a.say(t, pairs...))
}

var (
	isServed    = i18n.New("{page} shows every run; Ctrl-C ends it")
	isBuilding  = i18n.New("building the page's engine: a minute or two the first time, seconds after that")
	isBuilt     = i18n.New("the engine is built, in {time}: {size} MB")
	noEngine    = i18n.New("the page gets no engine: {error}")
	isSaved     = i18n.New("{file}: the page with its engine, {size} MB; open it in a browser")
	notSaved    = i18n.New("cannot write {file}: {error}; name a file in a folder that exists, such as lockkata.html")
	noPageFile  = i18n.New("--file is empty: name the file, such as lockkata.html")
	isFolder    = i18n.New("{name} is a folder: name a file, such as {file}")
	serverEnded = i18n.New("the server ended: {error}")
	badAddress  = i18n.New("--addr {address} is no address to listen on: give host:port, such as 127.0.0.1:8077")
	isTaken     = i18n.New("{address} is in use: --addr takes another one, such as 127.0.0.1:0 for a free port")
	cannotHear  = i18n.New("cannot listen on {address}: {error}")
)

// listen takes an address. One that is none is bad usage; one that cannot be had
// is a failure.
func listen(addr string) (net.Listener, error) {
	if _, err := net.ResolveTCPAddr("tcp", addr); err != nil || addr == "" {
		return nil, badAddress.Args("address", strconv.Quote(addr))
	}
	listener, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, failedError{isTaken.Args("address", addr)}
	}
	if err != nil {
		return nil, failedError{cannotHear.Args("address", addr, "error", err)}
	}
	return listener, nil
}
