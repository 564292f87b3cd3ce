package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every command that a document tells its reader to type works: it runs here, or
// notHere says where. So does every one in the comments of the stages.
func TestCommandsInDocumentsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands of the documents take a minute")
	}
	seen := map[command]bool{}
	for _, d := range append(documents(t), sources(t)...) {
		found, problems := commandsOf(d)
		requireNone(t, problems)
		for _, c := range found {
			once := command{line: c.line, status: c.status}
			if seen[once] {
				continue
			}
			seen[once] = true
			t.Run(c.line, func(t *testing.T) {
				t.Parallel()
				require.NoError(t, try(c), c.place)
			})
		}
	}
}

// sources are the stages' files; of their text only the commands count.
func sources(t *testing.T) (files []*document) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "stage*", "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		relative, err := filepath.Rel(root, name)
		require.NoError(t, err)
		files = append(files, &document{name: filepath.ToSlash(relative), fences: []fence{{part: part{0, string(raw)}}}})
	}
	return files
}

func TestCommandLinesAreFound(t *testing.T) {
	for text, want := range map[string][]string{
		"```sh\ngo run . list   # all\n\n# a remark\n$ go run . \\\n  diff 2\n```\n": {"go run . list", "go run . diff 2"},
		"```text\nsee: go run . diff 4\n  go run . list       the list\n```\n":       {"go run . diff 4", "go run . list"},
		"```\nThat is stage 4: go run . diff 4.\n```\n":                              {"go run . diff 4"},
		"Say `go run .` and `go run . list`, then `list` and `redis-server`.\n":      {"go run .", "go run . list"},
		"`kata hint`, `kata`, `(cd x && go run .)`, `x/run`\n":                       {"go run . kata hint", "(cd x && go run .)", "x/run"},
		"| a | b |\n|---|---|\n| `go test ./a` | `curl x` |\n":                       {"go test ./a", "curl x"},
	} {
		found, problems := commandsOf(parse("docs/x.md", text))
		require.Empty(t, problems)
		var lines []string
		for _, c := range found {
			lines = append(lines, c.line)
		}
		require.Equal(t, want, lines, text)
	}
	found, _ := commandsOf(parse("docs/x.md", "a\n\n```sh\nls\ngo run . diff 9   # no such stage # exit 2\n```\n`go run . x`（退出码 2）。 `go run . y` (exit 1)"))
	require.Equal(t, command{"go run . diff 9", 2, "docs/x.md:5", 5}, found[1])
	require.Equal(t, []int{2, 1}, []int{found[2].status, found[3].status})
}

func TestCommandsThatAreHiddenAreFound(t *testing.T) {
	for text, problem := range map[string]string{
		"Then type go run . list and look.\n": "docs/x.md:1: a command to type stands in back-quotes",
		"a\n\n```zsh\ngo run . list\n```\n":   "docs/x.md:3: ```zsh: lines to type are ```sh",
	} {
		_, problems := commandsOf(parse("docs/x.md", text))
		require.Len(t, problems, 1)
		require.Contains(t, problems[0], problem)
	}
}

func TestBadCommandsAreFound(t *testing.T) {
	for line, problem := range map[string]string{
		"go run . shwo oom":                                  "status 2, not 0: lockkata: there is no command",
		"go run . show oom --stages 2":                       "unknown flag: --stages",
		"go run . show no-such-failure":                      "there is no failure",
		"printf '2x' | go run . play --stage 9":              "there is no stage 9",
		"go run . kata strat":                                `there is no command "strat"`,
		"go run . demo --redis 127.0.0.1:6379 --nmae A":      "unknown flag: --nmae",
		"go run . dmeo --redis 127.0.0.1:6379":               `there is no command "dmeo"`,
		"go run . show FAILUR":                               `what stands for FAILUR in`,
		"go run . shwo …":                                    `there is no command "shwo"`,
		"go run . list && rm -r docs":                        "nobody tries",
		"go run . list; ls":                                  "nobody tries",
		"go run . serve --prot 80":                           "it ended with status 2 before it served a page",
		"go run . interview --minuts 3":                      "ends with status 2, not 0",
		"make test":                                          "nobody tries",
		"go test -race ./stage1_setnx_expire":                "nobody tries",
		"go test ./stage1_setnx_expire ./stage2_set_nx_ex":   "nobody tries",
		"go test -run TestNothing ./stage1_setnx_expire/...": "runs no test",
		"go test -run TestNothing ./stage0_nothing":          "stage0_nothing",
	} {
		t.Run(line, func(t *testing.T) {
			require.ErrorContains(t, try(command{line: line}), problem)
		})
	}
	require.ErrorContains(t, try(command{line: "go run . list", status: 1}), "ends with status 0, not 1")
	require.NoError(t, try(command{line: "go run . diff 9", status: 2}))
	require.NoError(t, try(command{line: "go run . show FAILURE --stage N | head -3"}))
	require.NoError(t, try(command{line: "go run . list > all.txt"}))
	require.FileExists(t, filepath.Join(scratch, "all.txt"))
	require.NoError(t, try(command{line: "go run . kata hint --dir DIR"}))
}
