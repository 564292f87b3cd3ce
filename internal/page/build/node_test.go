//go:build live

package build_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/internal/edits"
	"lockkata/internal/page/build"
	"lockkata/internal/page/engine"
	"lockkata/internal/stages"
)

const root = "../../.."

// runner hands the engine each line of a file as a request, and prints the answers.
const runner = `
globalThis.fs = require('fs');
globalThis.path = require('path');
const requests = fs.readFileSync(process.argv[3], 'utf8').trim().split('\n');
const next = () => (requests.length > 0 ? ask(requests.shift()) : process.exit(0));
globalThis.post = (kind, text) => {
  if (kind === 'progress') return;
  if (kind === 'answer') fs.writeSync(1, text + '\n');
  setTimeout(next);
};
const go = new Go();
WebAssembly.instantiate(fs.readFileSync(process.argv[2]), go.importObject).then(({instance}) => go.run(instance))
  .then(() => process.exit(1), (error) => { console.error(error); process.exit(1); });
`

// The locks in a page are the locks of this machine: whatever is asked, the answers are the
// same, byte for byte.
func TestEngineUnderNodeAnswersAsHere(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no node is installed: apt-get install nodejs")
		}
		t.Skip("no node is installed: apt-get install nodejs")
	}
	var asked []engine.Request
	for _, c := range stages.All() {
		asked = append(asked, engine.Request{Op: "column", Stage: c.ID},
			engine.Request{Op: "replay", Stage: c.ID, Schedule: c.Challenge},
			engine.Request{Op: "run", Stage: c.ID, Failure: "process-pause"},
			engine.Request{Op: "take", Stage: c.ID, Failure: "process-pause", Step: 5}, engine.Request{Op: "choose"})
	}
	for stage, goal := range map[string]string{"1": "leak", "2": "wrong-delete", "3": "wrong-delete", "6.3": "exclusion"} {
		asked = append(asked, engine.Request{Op: "search", Stage: stage, Goal: goal, Env: "async", Bound: 2})
	}
	asked = append(asked, engine.Request{Op: "nothing"})
	asked = append(asked, engine.Request{Op: "column", Stage: "5", Lang: "zh"})
	for _, c := range stages.All() { // in Chinese
		asked = append(asked, engine.Request{Op: "lock", Stage: c.ID, Lang: "zh"},
			engine.Request{Op: "run", Stage: c.ID, Lang: "zh", Failure: "check-then-delete"}, engine.Request{Op: "game", Stage: c.ID, Lang: "zh"},
			engine.Request{Op: "hint", Lang: "zh"}, engine.Request{Op: "choose", Lang: "zh"})
	}
	here := engine.New(t, os.DirFS(root), nil)
	var want []string
	for _, r := range asked {
		raw, err := json.Marshal(r)
		require.NoError(t, err)
		want = append(want, string(here.Answer(raw, never)))
	}
	edited := len(asked)
	for _, e := range edits.All {
		c, err := e.Stage()
		require.NoError(t, err)
		asked = append(asked, engine.Request{Op: "run", Stage: c.ID, Edit: e.ID(), Failure: e.Failure})
	}
	got := underNode(t, node, asked)
	for i, r := range asked[:edited] {
		require.Equal(t, want[i], got[i], "%+v", r)
	}
	for i, e := range edits.All {
		var cell engine.Cell
		require.NoError(t, json.Unmarshal([]byte(got[edited+i]), &cell), e.Name)
		require.Equal(t, string(rune(e.Outcome)), cell.Outcome, "%s: %s", e.Name, got[edited+i][:min(300, len(got[edited+i]))])
	}
}

func never(engine.Progress) bool { return false }

// underNode asks an engine that node runs.
func underNode(t *testing.T, node string, asked []engine.Request) []string {
	t.Helper()
	packed, err := build.Wasm(t.Context(), root, os.DirFS(root))
	require.NoError(t, err)
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	wasm, err := io.ReadAll(plain)
	require.NoError(t, err)
	t.Logf("%.1f MB, %.1f MB compressed", float64(len(wasm))/1e6, float64(len(packed))/1e6)
	require.Less(t, len(packed), 6_000_000, "what a visitor loads, with every edit")
	script, err := build.Runner(t.Context(), root)
	require.NoError(t, err)
	folder := t.TempDir()
	put := func(name string, content []byte) string {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), content, 0o600))
		return filepath.Join(folder, name)
	}
	var requests bytes.Buffer
	for _, r := range asked {
		require.NoError(t, json.NewEncoder(&requests).Encode(r))
	}
	cmd := exec.CommandContext(t.Context(), node, "--stack-size=8192",
		put("run.js", []byte(script+runner)), put("engine.wasm", wasm), put("requests", requests.Bytes()))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	answers := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, answers, len(asked))
	return answers
}
