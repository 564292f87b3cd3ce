// Package build builds the page's engine as WebAssembly, with the locks' sources and every edit of
// the suite. The go command caches it; it is never part of the repository.
package build

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"lockkata/internal/edits"
	"lockkata/internal/i18n"
	"lockkata/internal/stages"
)

// command is the package of the engine, and generated its file that only this build has.
const (
	command   = "lockkata/internal/page/wasm"
	generated = "internal/page/wasm/generated.go"
)

var (
	notHere = i18n.New("it is built from lockkata's own folder, with Go: {why}")
	isOther = i18n.New("this is {name}")
	isNone  = i18n.New("this folder is in no module")
)

// Wasm builds the engine from the module of the folder, and returns it compressed by gzip. sources
// is the module's root.
func Wasm(ctx context.Context, folder string, sources fs.FS) ([]byte, error) {
	module, err := run(ctx, folder, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	name, root, _ := strings.Cut(strings.TrimSpace(module), " ")
	if name == "command-line-arguments" { // the answer of go list outside all modules
		return nil, notHere.Args("why", isNone.Args())
	}
	if err != nil || name != "lockkata" {
		return nil, notHere.Args("why", cmp.Or(err, error(isOther.Args("name", strconv.Quote(name)))))
	}
	kept, err := cache(root)
	if err != nil {
		return nil, err
	}
	files, err := files(sources)
	if err != nil {
		return nil, err
	}
	list, err := edits.Overlay(kept, root, files)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(kept, "engine.wasm")
	if _, err := run(ctx, root, "go", "build", "-trimpath", "-ldflags=-s -w", "-overlay", list, "-o", file, command); err != nil {
		return nil, err
	}
	return compressed(file)
}

// Runner returns Go's own JavaScript for running WebAssembly.
func Runner(ctx context.Context, folder string) (string, error) {
	goroot, err := run(ctx, folder, "go", "env", "GOROOT")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "lib", "wasm", "wasm_exec.js"))
	return string(text), err
}

// cache returns the folder of a module's last build: the go command does not link again if nothing
// has changed.
func cache(root string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(user, "lockkata", fmt.Sprintf("engine-%x", sha256.Sum256([]byte(root)))[:20])
	return folder, os.MkdirAll(folder, 0o700)
}

// compressed returns the file compressed by gzip. It reuses the .gz file if that is newer.
func compressed(file string) ([]byte, error) {
	was, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	beside := file + ".gz"
	if is, err := os.Stat(beside); err == nil && is.ModTime().After(was.ModTime()) {
		return os.ReadFile(beside)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	packed, err := compress(raw)
	if err != nil {
		return nil, err
	}
	return packed, os.WriteFile(beside, packed, 0o600)
}

// compress compresses by gzip, to the smallest size.
func compress(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// run runs a command in a folder, with the environment for the browser, and returns its output. An
// error has the command's error output.
func run(ctx context.Context, folder, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, args[0], err, bytes.TrimSpace(complaints.Bytes()))
	}
	return string(out), err
}

// files returns the files that only this build has, by their paths in the repository.
func files(sources fs.FS) (map[string]string, error) {
	files, err := edits.Files(sources)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString("//go:build js && wasm\n\npackage main\n\nimport (\n\t\"testing/fstest\"\n\n\t\"" + edits.Package + "\"\n)\n\nfunc init() {\n\tforce = func(i int) { edited.Active = i }\n\tsources = fstest.MapFS{\n")
	for _, c := range stages.All() {
		names, err := fs.Glob(sources, c.Dir+"/*")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if ext := path.Ext(name); ext != ".lua" && ext != ".go" || strings.HasSuffix(name, "_test.go") {
				continue
			}
			raw, err := fs.ReadFile(sources, name)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "\t\t%q: {Data: []byte(%q)},\n", name, raw)
		}
	}
	text.WriteString("\t}\n}\n")
	files[generated] = text.String()
	return files, nil
}
