// Command cards puts other people's locks through the failures of this repository,
// and prints report cards: what each failure does to each library, and what the
// library promises.
//
//	go run ./cards
//	go run ./cards show FAILURE LIBRARY
//	go run ./cards defects
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	failures "lockkata/failures_test"
	"lockkata/failures_test/world"
)

func main() {
	world.Main(func(t *testing.T, args []string) int { return run(t, args, os.Stdout, os.Stderr) })
}

// finding is an error that is no mistake in the command: something is not what its
// lesson says.
type finding string

// Error is a line for each surprise.
func (f finding) Error() string { return string(f) }

// run runs the command and returns its exit status: 1 for a finding, 2 for
// everything else that goes wrong.
func run(t *testing.T, args []string, out, errs io.Writer) int {
	err := command(t, args, out)
	var found finding
	switch {
	case err == nil:
		return 0
	case errors.As(err, &found):
		fmt.Fprintln(errs, err)
		return 1
	}
	fmt.Fprintf(errs, "cards: %v\n", err)
	return 2
}

func command(t *testing.T, args []string, w io.Writer) error {
	switch {
	case len(args) == 0:
		return withExaminer(t, func(e *examiner) error { return printCards(w, e) })
	case len(args) == 1 && args[0] == "defects":
		return withExaminer(t, func(e *examiner) error { return printDefects(w, e) })
	case len(args) != 3 || args[0] != "show":
		return fmt.Errorf("%q is no command: give show FAILURE LIBRARY, or defects, or nothing for all cards", strings.Join(args, " "))
	}
	f, ok := failures.Find(args[1])
	if !ok {
		return fmt.Errorf("there is no failure %q: go run ./cards lists them", args[1])
	}
	l, err := findLibrary(args[2])
	if err != nil {
		return err
	}
	return withExaminer(t, func(e *examiner) error { return show(w, e, f, l) })
}
