package world

import (
	"os"
	"testing"

	"github.com/redis/go-redis/v9/logging"
)

// Main lets an ordinary program run worlds: a bubble needs a *testing.T, and only
// the testing package makes one. It runs the function and exits with the status
// that it returns. The program's arguments are its own. go-redis prints nothing: each fault
// would be a line.
func Main(run func(t *testing.T, args []string) int) {
	logging.Disable()
	args := os.Args[1:]
	os.Args = os.Args[:1] // the testing package would read them as its flags
	all := func(string, string) (bool, error) { return true, nil }
	program := func(t *testing.T) { os.Exit(run(t, args)) }
	testing.Main(all, []testing.InternalTest{{Name: "main", F: program}}, nil, nil)
}
