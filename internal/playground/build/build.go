// Package build builds the playground: the engine as WebAssembly, with the locks' sources
// and every edit of the suite in it. What is built is cached by the go command, and never
// part of the repository.
package build

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"lockkata/internal/columns"
)

// command is the package of the engine, and generated its file that only a build has.
const (
	command   = "lockkata/internal/playground/wasm"
	generated = "internal/playground/wasm/generated.go"
)

// Built is a playground that was built.
type Built struct {
	Wasm []byte // compressed by gzip
	Exec string // the JavaScript that runs it: Go's own
}

// Wasm builds the playground from the module that has the folder. sources is the module's
// own folder.
func Wasm(ctx context.Context, folder string, sources fs.FS) (Built, error) {
	var built Built
	module, err := run(ctx, folder, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}")
	name, root, _ := strings.Cut(strings.TrimSpace(module), " ")
	if err != nil || name != "lockkata" {
		return built, fmt.Errorf("the playground is built from lockkata's own folder: go there, and try again (%s is of %q: %v)", folder, name, err)
	}
	kept, err := cache(root)
	if err != nil {
		return built, err
	}
	list, err := overlay(kept, root, sources)
	if err != nil {
		return built, err
	}
	file := filepath.Join(kept, "playground.wasm")
	if out, err := run(ctx, root, "go", "build", "-trimpath", "-ldflags=-s -w", "-overlay", list, "-o", file, command); err != nil {
		return built, fmt.Errorf("the playground does not build: %w\n%s", err, out)
	}
	if built.Wasm, err = compressed(file); err != nil {
		return built, err
	}
	goroot, err := run(ctx, root, "go", "env", "GOROOT")
	if err != nil {
		return built, err
	}
	exec, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "lib", "wasm", "wasm_exec.js"))
	built.Exec = string(exec)
	return built, err
}

// cache is the folder in which the last build of a module is kept: the go command does not
// link again what is still as it was.
func cache(root string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(user, "lockkata", fmt.Sprintf("playground-%x", sha256.Sum256([]byte(root)))[:24])
	return folder, os.MkdirAll(folder, 0o700)
}

// compressed is the file, compressed by gzip, from the file beside it where that is newer.
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
	packed, err := Compress(raw)
	if err != nil {
		return nil, err
	}
	return packed, os.WriteFile(beside, packed, 0o600)
}

// run runs a command of go's for the browser, and returns what it prints.
func run(ctx context.Context, folder, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Compress compresses by gzip, as small as it can.
func Compress(raw []byte) ([]byte, error) {
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

// overlay writes the files that only the build has into a folder, and a list of them for
// the go command.
func overlay(scratch, root string, sources fs.FS) (list string, err error) {
	files, err := Files(sources)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range files {
		copied := filepath.Join(scratch, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = copied
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(scratch, "overlay.json")
	return list, os.WriteFile(list, raw, 0o600)
}

// Files are the files that only the build has, by their names in the repository.
func Files(sources fs.FS) (map[string]string, error) {
	var text strings.Builder
	text.WriteString("//go:build js && wasm\n\npackage main\n\nimport \"testing/fstest\"\n\nfunc init() {\n\tsources = fstest.MapFS{\n")
	for _, c := range columns.Stairs() {
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
	return map[string]string{generated: text.String()}, nil
}
