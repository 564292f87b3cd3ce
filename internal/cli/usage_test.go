package cli

import (
	"bytes"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nobody is an address at which nobody listens.
const nobody = "127.0.0.1:1"

// refusal is a command line that cannot be carried out. A "_" in it is a space in a word.
type refusal struct {
	line, says string
}

// inBoth is what an error says in each language: flags, values, addresses, commands.
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
	t.Setenv("PATH", t.TempDir()) // there is no redis-server
	requireRefused(t, exitBadUsage, []refusal{
		{"shw", `there is no command "shw"; did you mean show?`},
		{"help shw", `there is no command "shw"; did you mean show?`},
		{"help kata hnt", `there is no command "hnt"; did you mean hint?`},
		{"--colour", "there is no flag --colour; there are: --all, --documents, "},
		{"show oom --stag 1", "there is no flag --stag; did you mean --stage?"},
		{"list -x", "there is no flag -x; there are: --help, "},
		{"list --json=x", `--json="x": leave out the value, or give true or false`},
		{"--=x", "--=x names no flag"},
		{"explore --bound x", `--bound "x": give a whole number`},
		{"explore --seed -1", `--seed "-1": give a whole number, 0 or more`},

		{"show", "show: which failure? go run . list prints them all; one is crash-before-expire"},
		{"show a b", "show takes one failure, not 2: a b"},
		{"show check-than-delete", `there is no failure "check-than-delete"; did you mean check-then-delete?`},
		{"show foreign", `there is no failure "foreign"; did you mean one of these: delete-foreign, `},
		{"show ", `there is no failure ""; go run . list prints all names`},
		{"show zzz", `there is no failure "zzz"; go run . list prints all names`},
		{"show oom --stage x", `there is no stage "x"; there are: 1,`},
		{"show delete-foreign --stage 9", `there is no stage "9"; there are: 1, 2, 3, 4, 5, 6.1, 6.2, 6.3, 6.4, 6.5, 6`},
		{"show delete-foreign --stage 1 --before-after", "--stage, --before-after exclude each other: give one of them"},
		{"show process-pause --before-after", "process-pause breaks every stage, so there is no after"},
		{"show second-client --before-after", "second-client breaks no stage: go run . show second-client --stage 1 shows"},
		{"show token-after-grant --before-after", "show token-after-grant --stage 6 shows"},
		{"show token-after-grant --steps --before-after", "show token-after-grant --stage 6.5 shows"},
		{"show oom --svg --json", "--json, --svg, --html exclude each other"},
		{"show oom --html x --svg", "exclude each other"},
		{"show oom --html x --before-after", "a picture shows one run"},
		{"show oom --svg --before-after", "a picture shows one run"},
		{"show oom --html ", "--html is empty"},
		{"show wake-lost --svg --stage 1", "there is nothing to draw: wake-lost on stage 1 is"},

		{"list stage1", `list takes no arguments, not "stage1"`},
		{"list --json --markdown", "--long, --json, --markdown exclude each other"},
		{"list --long --json", "--long, --json, --markdown exclude each other"},

		{"diff", "diff: which stage? There are: 2, 3, 4, 5, 6"},
		{"diff 1", "stage 1 is built on no other; diff takes: 2, 3, 4, 5, 6"},
		{"diff 12", `there is no stage "12"; there are: 1, 2, 3, 4, 5, 6`},
		{"diff four", `there is no stage "four"; there are: 1, 2, 3, 4, 5, 6`},

		{"explore 3", `explore takes no arguments, not "3"`},
		{"explore --stage x", `there is no stage "x"; there are: 1, 2, 3, 4, 5, 6`},
		{"explore --stage 7", `there is no stage "7"; there are: 1, 2, 3, 4, 5, 6`},
		{"explore --env nowhere", `there is no environment "nowhere"`},
		{"explore --property luck", `there is no property "luck"`},
		{"explore --clients 5", "--clients 5: it can be 2 or 3"},
		{"explore --clients 0", "--clients 0: it can be 2 or 3"},
		{"explore --attempts 0", "--attempts 0: it can be 1 to 3"},
		{"explore --bound 12", "--bound 12: it can be 0 to 9"},
		{"explore --bound -1", "--bound -1: it can be 0 to 9"},
		{"explore --seed 5", "--seed is for --random: add --random 1000"},
		{"kata explore --bound -1", "--bound -1: it can be 0 to 9"},
		{"explore --random -1", "--random -1: give how many schedules to run"},
		{"explore --random 0", "--random 0: give how many schedules to run"},
		{"explore --property leak --env pause", "there is no search for leak in pause"},

		{"replay", "replay takes one schedule"},
		{"replay a b", "replay takes one schedule"},
		{"replay nonsense", `"nonsense" is no schedule: one looks like v1/`},
		{"replay v2/stage3/2c/1x/async/leak/a", `"v2/stage3/2c/1x/async/leak/a" is no schedule`},
		{"replay v1/stage9/2c/1x/async/leak/a", `there is no lock "stage9" to schedule: there are stage1, stage2`},
		{"replay v1/stage3/c/1x/async/leak/a", `"c" in the schedule: it has to be a number from 1 to 9 and c, as 2c`},
		{"replay v1/stage3/9c/1x/async/leak/a", `"9c" in the schedule: there are 2c or 3c`},
		{"replay v1/stage3/2c/1x/calm/leak/a", `there is no environment "calm": there are async`},
		{"replay v1/stage3/2c/1x/async/luck/a", `there is no property "luck": there are leak`},
		{"replay v1/stage3/2c/1x/async/leak/a.q7", `step 2 of the schedule, "q7", is no step: replay --help tells`},
		{"replay v1/stage3/2c/1x/async/leak/a.", `step 2 of the schedule, "", is no step`},
		{"replay v1/stage3/2c/1x/async/wake-up/a", "wake-up is about pub/sub, which stage 3 does not have; there are leak, wron"},

		{"kata start --dir usage.go", "usage.go is a file: name a folder"},
		{"--steps --documents", "--steps, --documents exclude each other"},
		{"--json --totals", "--json, --totals exclude each other"},
		{"kata next x", `next takes no arguments, not "x"`},
		{"kata start 1 2", "start takes one exercise, not 2: 1 2"},
		{"interview --minutes 0", "--minutes 0: give a whole number of minutes, from 1 to 240"},
		{"interview --level chief", "--level chief: there are junior, senior, staff"},
		{"--family waiter", `did you mean "waiters"?`},
		{"--family dogs", `--family "dogs": there is no such family; there are: "lease", "owner", "watchdog", `},

		{"serve 8077", `serve takes no arguments, not "8077"`},
		{"serve --addr nonsense", `--addr "nonsense" is no address to listen on`},
		{"serve --addr 127.0.0.1:99999", `--addr "127.0.0.1:99999" is no address to listen on`},
		{"serve --addr ", `--addr "" is no address to listen on`},
		{"serve --file ", "--file is empty: name the file, such as lockkata.html"},
		{"serve --file .", ". is a folder: name a file, such as lockkata.html"},
		{"serve --file x --addr 127.0.0.1:0", "--addr, --file exclude each other"},

		{"demo work1", `demo takes no arguments, not "work1"`},
		{"demo --redis " + nobody, "no Redis answers at " + nobody + ": start one with redis-server --port 1, or leave --redis out\n"},
		{"demo --redis ", `--redis "" is no address: give host:port, such as 127.0.0.1:6379`},
		{"demo --redis localhost", `--redis "localhost" is no address: give host:port`},
		{"demo --redis localhost:x", `--redis "localhost:x" is no address: give host:port`},
		{"demo --redis localhost:0", `--redis "localhost:0" is no address: give host:port`},
		{"demo --redis localhost:70000", `--redis "localhost:70000" is no address: give host:port`},
		{"demo --stage 9", `there is no stage "9"; there are: 1, 2, 3, 4, 5, 6.1, 6.2, 6.3, 6.4, 6.5, 6`},
		{"demo --stage 0", `there is no stage "0"; there are: 1, 2, 3, 4, 5, 6`},
		{"demo --hold 5", `--hold "5": give a time with its unit, such as 5s or 300ms`},
		{"demo --hold -5s", "--hold -5s is negative: give the time that the work takes"},
		{"demo --name _", `--name " " does not fit on a line: use letters, such as work1`},
		{"demo --name a\nb", `--name "a\nb" does not fit on a line: use letters, such as work1`},

		{"--live", "there is no redis-server: install one"},
		{"--live --redis " + nobody, "leave out --redis and lockkata starts its own"},
		{"--redis " + nobody, "--redis names the Redis for --live: add --live"},
	})
}

// full is a disk on which there is no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputThatIsLostIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"diff", "2"}, {"--help"}} {
		var errors bytes.Buffer
		require.Equal(t, exitFailed, Run(t, os.DirFS("../.."), nil, full{}, &errors, args...), args)
		require.Equal(t, "the output cannot be written: no space left on device\n", errors.String())
		status, out, said := command(t, args...)
		require.Equal(t, exitOK, status)
		require.NotEmpty(t, out)
		require.Empty(t, said)
	}
}

func TestWhatCannotBeDoneIsAFailureInOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	requireRefused(t, exitFailed, []refusal{
		{"show oom --html /nowhere/at/all.html", "cannot write the page: open /nowhere/at/all.html"},
		{"serve --addr " + taken.Addr().String(), taken.Addr().String() + " is in use: --addr takes another one"},
		{"serve --file /nowhere/page.html", "cannot write /nowhere/page.html: stat /nowhere: no such file or directory; name a file in a folder that exists"},
		{"serve --addr 192.0.2.1:80", "cannot listen on 192.0.2.1:80"},
	})
}
