package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	failures "lockkata/failures_test"
	"lockkata/internal/columns"
	"lockkata/internal/texts"
	"lockkata/internal/theatre"
)

func (a *app) serveCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show every failure on every stage in a browser, step by step",
		Long: "serve runs every failure on every stage, as they are now, and serves the page that " +
			"steps through the runs: docs/theatre.html. In it any run can be taken over, played and " +
			"broken: the playground for that is built in the background. Ctrl-C ends it.",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilInterrupted(cmd.Context())
			defer stop()
			return a.serve(ctx, addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8077", "the `host:port` to listen on; port 0 takes a free one")
	return cmd
}

// performance is what the theatre shows: the stages as they are, with their verdicts.
type performance struct {
	columns []columns.Column
	rows    [][]failures.Verdict
	sources fs.FS
}

// perform plays the catalogue on the stages.
func (a *app) perform() (performance, error) {
	shown, err := columns.Ready(a.t, columns.Shown())
	if err != nil {
		return performance{}, failedError{err}
	}
	return performance{shown, columns.Judge(a.t, failures.All, shown), a.sources}, nil
}

// page is the theatre with an engine.
func (s performance) page(e theatre.Engine) ([]byte, error) {
	return theatre.Page(s.columns, s.rows, s.sources, e)
}

// serve serves the page until ctx ends. It listens first: an address that cannot be
// had is told before any work is done.
func (a *app) serve(ctx context.Context, addr string) error {
	listener, err := listen(addr)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }()
	runner, engine := a.buildEngine(ctx)
	shown, err := a.perform()
	if err != nil {
		return err
	}
	page, err := shown.page(engineBeside(runner))
	if err != nil {
		return err
	}
	if err := a.surprises(expecting(shown.columns, shown.rows)); err != nil {
		fmt.Fprintln(a.err, err) // the page shows it as it is
	}
	server := &http.Server{Handler: theatre.Handler(page, engine), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(a.out, a.say(isServed, "page", fmt.Sprintf("http://%s/", listener.Addr())))
	if engine != nil {
		a.note(isBuilding)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return failedError{serverEnded.With("error", err)}
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

var (
	isServed    = texts.New("{page} shows the theatre; Ctrl-C ends it")
	serverEnded = texts.New("the server ended: {error}")
	badAddress  = texts.New("--addr {address} is no address to listen on: give host:port, such as 127.0.0.1:8077")
	isTaken     = texts.New("{address} is in use: --addr takes another one, such as 127.0.0.1:0 for a free port")
	cannotHear  = texts.New("cannot listen on {address}: {error}")
)

// listen takes an address. One that is none is bad usage; one that cannot be had
// is a failure.
func listen(addr string) (net.Listener, error) {
	if _, err := net.ResolveTCPAddr("tcp", addr); err != nil || addr == "" {
		return nil, badAddress.With("address", strconv.Quote(addr))
	}
	listener, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, failedError{isTaken.With("address", addr)}
	}
	if err != nil {
		return nil, failedError{cannotHear.With("address", addr, "error", err)}
	}
	return listener, nil
}
