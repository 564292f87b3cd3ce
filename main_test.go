package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asProgram is an environment variable that makes the test binary run the program.
const asProgram = "LOCKKATA_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// "go run" turns every failing status into 1, so the test runs the program itself. It runs in an
// empty folder: all files that it needs are embedded.
func TestProgramExitsWithItsStatus(t *testing.T) {
	binary, err := os.Executable()
	require.NoError(t, err)
	for args, want := range map[string]int{
		"diff 3":                      0,
		"show oom --stage 1 --html -": 0,
		"interview --lang zh":         0,
		"replay v1/stage3/2c/1x/async/wrong-delete/a.A.b.wa": 1, // no such step
		"show no-such-failure":                               2,
		"show delete-foreign -v":                             2, // the testing package's flags are not ours
	} {
		t.Run("lockkata "+args, func(t *testing.T) {
			cmd := exec.Command(binary, strings.Fields(args)...)
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), asProgram+"=1", "XDG_CONFIG_HOME="+t.TempDir())
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				require.NoError(t, err)
			}
			require.Equal(t, want, cmd.ProcessState.ExitCode(), said.String())
			require.NotContains(t, out.String(), "PASS")
			require.Equal(t, want == 0, out.Len() > 0 && said.Len() == 0, said.String())
		})
	}
}
