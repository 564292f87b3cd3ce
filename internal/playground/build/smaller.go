package build

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
)

// notInlined are packages in which no call is inlined. A search is as fast without, and a
// visitor loads a twelfth less.
var notInlined = []string{"-gcflags=go/...=-l", "-gcflags=github.com/...=-l", "-gcflags=net/...=-l"}

//go:embed tls/tls.go
var tls []byte

// withoutTLS puts a package without code in the place of Go's own crypto/tls, into a list for
// -overlay.
func withoutTLS(list, goroot string) error {
	var overlay struct{ Replace map[string]string }
	raw, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &overlay); err != nil {
		return err
	}
	folder := filepath.Join(goroot, "src", "crypto", "tls")
	own, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range own {
		overlay.Replace[file] = "" // it is not there
	}
	stub := filepath.Join(filepath.Dir(list), "tls.go")
	overlay.Replace[filepath.Join(folder, "tls.go")] = stub
	if err := os.WriteFile(stub, tls, 0o600); err != nil {
		return err
	}
	if raw, err = json.Marshal(overlay); err != nil {
		return err
	}
	return os.WriteFile(list, raw, 0o600)
}
