package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// closedPort is an address without a server.
const closedPort = "127.0.0.1:1"

// refusal is a command line that is refused. A "_" in it is a space in an argument.
type refusal struct {
	line, says string
}

// inBoth matches what an error contains in each language: flags, values, addresses, commands.
var inBoth = regexp.MustCompile(`--[a-z-]+|"[^"]*"|\d[\d.]*:\d+|go run \S+ \w+`)

func requireRefused(t *testing.T, want int, all []refusal) {
	t.Helper()
	for _, one := range all {
		args := strings.Split(one.line, " ")
		for i, word := range args {
			args[i] = strings.ReplaceAll(word, "_", " ")
		}
		refused := func(args ...string) string {
			status, out, errors := command(t, args...)
			require.Equal(t, want, status, one.line)
			require.Regexp(t, `^[^\n]+\n$`, errors, "one line")
			require.Empty(t, out)
			return errors
		}
		english, chinese := refused(args...), refused(append(args, "--lang", "zh")...)
		require.Contains(t, english, one.says)
		require.NotRegexp(t, `\p{Han}`, strings.ReplaceAll(english, "租约", ""))
		require.Regexp(t, `\p{Han}`, chinese)
		require.Empty(t, englishIn(chinese), one.line)
		for _, name := range inBoth.FindAllString(english, -1) {
			require.Contains(t, chinese, name)
		}
	}
}

func TestBadUsageIsOneLineThatNamesTheRemedy(t *testing.T) {
	compiler, err := exec.LookPath("go")
	require.NoError(t, err)
	bin := t.TempDir() // an empty PATH, so there is no redis-server
	require.NoError(t, os.Symlink(compiler, filepath.Join(bin, "go")))
	t.Setenv("PATH", bin)
	empty := filepath.Join(t.TempDir(), "nothing")
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "index.html"), []byte("<title>mine</title>"), 0o644))
	requireRefused(t, exitBadUsage, []refusal{
		{"shw", `there is no command "shw"; did you mean show?`},
		{"kata chek", `there is no command "chek"; did you mean check`},
		{"--colour", "there is no flag --colour; there are: --all, --documents, "},
		{"show oom --stag 1", "there is no flag --stag; did you mean --stage?"},
		{"list -x", "there is no flag -x; there are: --help, "},
		{"list --json=x", `--json does not take "x": print the catalogue as JSON`},
		{"explore --bound x", `--bound does not take "x": the most faults, 0 to 9; `},
		{"demo --hold 5", `--hold does not take "5": how long the work takes, such as 5s or 300ms`},
		{"--steps --documents", "--documents, --steps exclude each other: give one of them"},
		{"--family waiter", `did you mean "waiters"?`},
		{"--family dogs", `--family "dogs": there is no such family; there are: "lease", "owner", "watchdog", `},
		{"--live", "there is no redis-server: install one"},
		{"--live --redis " + closedPort, "leave out --redis and lockkata starts its own"},
		{"--redis " + closedPort, "--redis names the Redis for --live: add --live"},

		{"show", `the arguments "" do not fit "show FAILURE"; for example: go run . show check-then-delete`},
		{"show a b", `the arguments "a b" do not fit "show FAILURE"; for example: `},
		{"show check-than-delete", `there is no failure "check-than-delete"; did you mean check-then-delete?`},
		{"show foreign", `there is no failure "foreign"; did you mean one of these: delete-foreign, `},
		{"show delete-foreign --stage 9", `there is no stage "9"; there are: 1, 2, 3, 4, 5, 6.1, 6.2, 6.3, 6.4, 6.5, 6`},
		{"show delete-foreign --edit nx-dropped", "--edit names an edit of one lock: add --stage"},
		{"show delete-foreign --stage 2 --edit nx", `stage 2 has no edit "nx"; there are: nx-dropped, `},
		{"show delete-foreign --stage 1 --before-after", "--before-after, --stage exclude each other: give one of them"},
		{"show process-pause --before-after", "no stage fixes process-pause, so there is no before and after: go run . show process-pause --stage 6"},
		{"show token-after-grant --steps --before-after", "show token-after-grant --stage 6.5"},
		{"show oom --svg --json", "--json, --svg exclude each other"},
		{"show oom --html x --before-after", "--before-after, --html exclude each other"},
		{"show wake-lost --svg --stage 1", "there is nothing to draw: wake-lost on stage 1 is"},

		{"list stage1", `the arguments "stage1" do not fit "list"; for example: go run . list`},
		{"diff", `the arguments "" do not fit "diff STAGE"; for example: go run . diff 4`},
		{"diff 1", "no stage comes before stage 1; diff takes: 2, 3, 4, 5, 6"},

		{"explore --stage 7", `there is no stage "7"; there are: 1, 2, 3, 4, 5, 6`},
		{"explore --env nowhere", `there is no environment "nowhere"`},
		{"explore --clients 0", "--clients 0: it can be 2 to 3"},
		{"explore --bound -1", "--bound -1: it can be 0 to 9"},
		{"explore --property leak --env pause", "there is no search for leak in pause"},

		{"replay", `the arguments "" do not fit "replay SCHEDULE"; for example: go run . replay v1/`},
		{"replay v1/stage9/2c/1x/async/leak/a", `there is no lock "stage9" to schedule: there are stage1, stage2`},
		{"replay v1/stage3/9c/1x/async/leak/a", `"9c" in the schedule: there are 2c or 3c`},
		{"replay v1/stage3/2c/1x/async/leak/a.q7", `step 2 of the schedule, "q7", is no step: replay --help tells`},
		{"replay v1/stage3/2c/1x/async/wake-up/a", "wake-up is about pub/sub, which stage 3 does not have; there are leak, wron"},

		{"play --goal win", `there is no property "win": there are leak`},
		{"play --env mars", `there is no environment "mars": there are async`},
		{"play --stage 3 --goal wake-up", "wake-up is about pub/sub, which stage 3 does not have;"},
		{"play --clients 4", "--clients 4: it can be 2 to 3"},
		{"play --attempts 3", "--attempts 3: it can be 1 to 2"},
		{"interview --minutes 241", "--minutes 241: it can be 1 to 240"},
		{"interview --minutes 1h", `--minutes does not take "1h": how long it lasts, in minutes`},
		{"interview --level boss", "--level boss: there are junior, senior, staff"},
		{"interview --theme fencing --must --level junior", "no question fits --theme fencing --level junior --must: leave one"},

		{"kata check --dir " + empty, "no exercise is under way in " + empty + ": begin with go run . kata start --dir " + empty},
		{"kata start --dir usage.go", "usage.go is a file: name a folder"},
		{"kata start --dir .", "holds other files and no progress.txt"},
		{"kata start 7 --dir " + empty, "there is no exercise 7; there are 1 to 5, 6.1 to 6.5, 6, and r1 to r11"},
		{"kata start 1 2", `the arguments "1 2" do not fit "start [N]"; for example: go run . kata start 3`},

		{"grade", `the arguments "" do not fit "grade DIR | grade -- COMMAND…"; for example: go run . grade stage4_lua_unlock`},
		{"grade python3 worker.py", "a worker stands after --, as in go run . grade -- python3 worker.py"},
		{"grade grade_test.go", "there is no folder "},
		{"grade ../kata --stop", "--shared and --stop are for a worker"},
		{"grade --only check-than-delete ../kata", "did you mean check-then-delete?"},
		{"grade ../kata --only check-then-delete --expect x --update", "leave out --only"},
		{"grade ../kata --update", "--update writes the file of --expect"},
		{"grade ../kata --has wheels", `--has "wheels": no failure is about that; there are: force, watchdog, `},

		{"serve --addr nonsense", `--addr "nonsense": address nonsense: missing port in address; give host:port`},
		{"serve --file ", `--file "": name a file in a folder that exists, such as lockkata.html`},
		{"serve --file /nowhere/page.html", `--file "/nowhere/page.html": name a file`},
		{"serve --file x --addr 127.0.0.1:0", "--addr, --file exclude each other"},
		{"serve --file x --out y", "--file, --out exclude each other"},
		{"serve --file cli.go", `--file "cli.go": cli.go is no page of lockkata and would be lost`},
		{"serve --out ", `--out "": name a folder, or a new one in a folder that exists, such as site`},
		{"serve --out cli.go", `--out "cli.go": name a folder`},
		{"serve --out /nowhere/at/all", `--out "/nowhere/at/all": name a folder`},
		{"serve --out " + foreign, "index.html is no page of lockkata and would be lost: delete it, or choose another place"},

		{"demo --redis " + closedPort, "no usable Redis at " + closedPort + ": "},
		{"demo --redis localhost", "missing port in address; start one there, or leave out --redis"},
	})
	require.NoDirExists(t, empty)
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestWriteErrorIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"diff", "2"}, {"--help"}} {
		var errors bytes.Buffer
		require.Equal(t, exitFailed, Run(t, os.DirFS("../.."), nil, full{}, &errors, args...), args)
		require.Equal(t, "the output cannot be written: no space left on device\n", errors.String())
	}
}

func TestImpossibleCommandFailsInOneLine(t *testing.T) {
	requireRefused(t, exitFailed, []refusal{{"show oom --html /nowhere/at/all.html", "cannot write the page: open /nowhere/at/all.html"}})
	t.Chdir(t.TempDir())
	status, _, errors := command(t, "serve", "--file", "page.html")
	require.Equal(t, exitFailed, status)
	const why = "the page has no engine: it is built from lockkata's own folder, with Go: this folder is in no module\n"
	require.Contains(t, errors, why)
	status, _, errors = command(t, "serve", "--out", "site")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errors, why)
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, left)
}
