package build_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/playground/build"
)

func TestX(t *testing.T) {
	b, err := build.Wasm(t.Context(), "../../..", os.DirFS("../../.."))
	require.NoError(t, err)
	t.Log(len(b.Wasm), len(b.Exec))
	require.NoError(t, os.WriteFile("/tmp/wasm0/p.wasm.gz", b.Wasm, 0o600))
	require.NoError(t, os.WriteFile("/tmp/wasm0/wasm_exec.js", []byte(b.Exec), 0o600))
}
