package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"lockkata/failures_test/catalogue"
	"lockkata/internal/i18n"
	"lockkata/internal/lesson"
	"lockkata/internal/page"
	"lockkata/internal/page/build"
	"lockkata/internal/stages"
)

func (a *app) serveCommand() *cobra.Command {
	var addr, file, folder string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Show every failure on every stage in a browser, step by step",
		Long: "serve runs every failure on every stage, as they are now, and serves the page that " +
			"steps through the runs. In it any run can be taken over, played and " +
			"broken: the engine for that is built in the background. Ctrl-C ends it.\n\n" +
			"With --file it writes the page with its engine into one file, which a browser opens " +
			"without a server and without Go, and ends. With --out it writes them into a folder for any " +
			"static web server, under any path: index.html, and engine.wasm.gz, which the page loads when a visitor " +
			"plays or breaks a lock. Other files in the folder stay.",
		Args: words(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case cmd.Flags().Changed("file"):
				return a.savePage(cmd.Context(), file)
			case cmd.Flags().Changed("out"):
				return a.saveFolder(cmd.Context(), folder)
			}
			return a.serve(cmd.Context(), addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:8077", "the `host:port` to listen on; port 0 takes a free one")
	cmd.Flags().StringVar(&file, "file", "", "write the page with its engine into this `FILE`, and end")
	cmd.Flags().StringVar(&folder, "out", "", "write the page and its engine into this `FOLDER`, for any web server, and end")
	cmd.MarkFlagsMutuallyExclusive("addr", "file", "out")
	return cmd
}

var (
	isServed    = i18n.New("{page} shows every run; Ctrl-C ends it")
	isBuilding  = i18n.New("building the page's engine: a minute or two the first time, more on a busy machine; seconds after that")
	isBuilt     = i18n.New("the engine is built, in {time}: {size} MB")
	noEngine    = i18n.New("the page has no engine: {error}")
	isSaved     = i18n.New("{file}: the page with its engine, {size} MB; open it in a browser")
	isWritten   = i18n.New("{folder}: index.html, {page} MB, and engine.wasm.gz, {size} MB. Copy both to any static web server; to try them here: {command}")
	badFile     = i18n.New("--file {name}: name a file in a folder that exists, such as lockkata.html")
	badFolder   = i18n.New("--out {name}: name a folder, or a new one in a folder that exists, such as site")
	notOurs     = i18n.New("{flag} {name}: {file} is no page of lockkata and would be lost: delete it, or choose another place")
	serverEnded = i18n.New("the server ended: {error}")
	cannotHear  = i18n.New("--addr {address}: {error}; give host:port, such as 127.0.0.1:8077, or port 0 for a free one")
)

// page plays the catalogue on the stages, and returns the page about it.
func (a *app) page(ctx context.Context, e page.Engine) ([]byte, error) {
	a.tell(playing.Args("n", len(catalogue.All), "locks", len(stages.Public()), "where", onEmbedded.Args()))
	defer a.doing("")
	g, err := judgeAll(ctx, catalogue.All, stages.Public(), a.here, 1)
	if err != nil {
		return nil, err
	}
	if err := a.surprises(g); err != nil {
		fmt.Fprintln(a.err, err) // the page contains the error
	}
	chapters, err := lesson.PlayAll(a.t, a.sources)
	if err != nil {
		return nil, err
	}
	others, err := page.PlayOthers(a.t, a.sources)
	if err != nil {
		return nil, err
	}
	return page.Page(page.Shown{Stages: g.columns, Rows: g.rows, Others: others, Lesson: chapters}, a.sources, e)
}

// serve serves the page until the context ends. It listens first, so that a bad address is reported
// before any work is done.
func (a *app) serve(ctx context.Context, addr string) error {
	var listener net.Listener
	_, _, err := net.SplitHostPort(addr) // the address must have a port
	if err == nil {
		listener, err = net.Listen("tcp", addr)
	}
	if err != nil {
		return cannotHear.Args("address", strconv.Quote(addr), "error", err)
	}
	defer listener.Close()
	made, engine := page.Engine{}, (func(context.Context) ([]byte, error))(nil)
	if a.builds {
		if made.Runner, err = build.Runner(ctx, "."); err != nil {
			a.note(noEngine, "error", err)
		} else {
			made.File, engine = page.EngineFile, a.buildEngine(ctx)
		}
	}
	content, err := a.page(ctx, made)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, a.say(isServed, "page", fmt.Sprintf("http://%s/", listener.Addr())))
	if engine != nil {
		a.note(isBuilding)
	}
	if err := page.Serve(ctx, listener, page.Handler(content, engine)); err != nil {
		return failedError{serverEnded.Args("error", err)}
	}
	return nil
}

// buildEngine builds the engine in the background. The returned function waits for it.
func (a *app) buildEngine(ctx context.Context) func(context.Context) ([]byte, error) {
	begun := time.Now()
	engine := sync.OnceValues(func() ([]byte, error) {
		packed, err := build.Wasm(ctx, ".", a.sources)
		if err == nil {
			a.note(isBuilt, "time", time.Since(begun).Round(100*time.Millisecond), "size", megabytes(packed))
		} else if ctx.Err() == nil {
			a.note(noEngine, "error", err)
		}
		return packed, err
	})
	go func() { _, _ = engine() }()
	return func(context.Context) ([]byte, error) { return engine() }
}

// savePage writes the page with its engine into a file.
func (a *app) savePage(ctx context.Context, name string) error {
	if name == "" || isFolder(name) || !isFolder(filepath.Dir(name)) { // checked first, since building takes a minute
		return badFile.Args("name", strconv.Quote(name))
	}
	if !mayReplace(name) {
		return notOurs.Args("flag", "--file", "name", strconv.Quote(name), "file", name)
	}
	if err := canWrite(filepath.Dir(name)); err != nil {
		return err
	}
	engine, err := a.packedEngine(ctx)
	if err != nil {
		return err
	}
	content, err := a.page(ctx, engine)
	if err != nil {
		return err
	}
	if err := writePage(name, content); err != nil {
		return err
	}
	fmt.Fprintln(a.out, a.say(isSaved, "file", name, "size", megabytes(content)))
	return nil
}

// saveFolder writes the page and its engine into a folder, each into a file of its own.
func (a *app) saveFolder(ctx context.Context, name string) error {
	folder, file := name, filepath.Join(name, "index.html")
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		folder = filepath.Dir(filepath.Clean(name)) // which gets the new one
	}
	if name == "" || !isFolder(folder) {
		return badFolder.Args("name", strconv.Quote(name))
	}
	if !mayReplace(file) {
		return notOurs.Args("flag", "--out", "name", strconv.Quote(name), "file", file)
	}
	if err := canWrite(folder); err != nil {
		return err
	}
	packed, err := a.packedEngine(ctx)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(packed.Packed) // in the address, so that no cache combines a new page with an old engine
	address := fmt.Sprintf("%s?%x", page.EngineFile, hash[:4])
	content, err := a.page(ctx, page.Engine{Runner: packed.Runner, File: address, Size: len(packed.Packed)})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return failedError{notWritten.Args("error", err)}
	}
	if err := writePage(filepath.Join(name, page.EngineFile), packed.Packed); err != nil {
		return err
	}
	if err := writePage(file, content); err != nil {
		return err
	}
	fmt.Fprintln(a.out, a.say(isWritten, "folder", name, "page", megabytes(content), "size", megabytes(packed.Packed), "command", "python3 -m http.server -d "+name))
	return nil
}

// packedEngine builds the engine.
func (a *app) packedEngine(ctx context.Context) (e page.Engine, err error) {
	if e.Runner, err = build.Runner(ctx, "."); err == nil {
		a.note(isBuilding)
		e.Packed, err = build.Wasm(ctx, ".", a.sources)
	}
	if err != nil {
		err = failedError{noEngine.Args("error", err)}
	}
	return e, err
}

// isFolder reports whether a folder of that name exists.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// canWrite returns why no file can be created in a folder.
func canWrite(folder string) error {
	f, err := os.CreateTemp(folder, ".lockkata-*")
	if err != nil {
		return failedError{notWritten.Args("error", err)}
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// mayReplace reports whether nothing is lost if a page is written there: the file is new, empty, or such a page.
func mayReplace(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return errors.Is(err, fs.ErrNotExist)
	}
	raw, err := os.ReadFile(name)
	return err == nil && (len(raw) == 0 || page.Is(raw))
}

func megabytes(raw []byte) string { return fmt.Sprintf("%.1f", float64(len(raw))/1e6) }

// note prints a line about progress to the error output.
func (a *app) note(t i18n.Text, pairs ...any) { fmt.Fprintln(a.err, a.say(t, pairs...)) }
