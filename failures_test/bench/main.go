// Command bench measures stage 6 beside the locks of redislock, redsync and
// rueidislock: what a lock costs, how fast it changes hands, what waiting costs,
// and what holding many costs. It starts the redis-server processes itself, runs
// the libraries turn by turn, and prints one table.
//
//	go run . [--quick] [--rows 1,4] [--json] [--strict]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"
)

// group measures the rows of one number.
type group struct {
	number  int
	subject string
	measure func(context.Context, run) ([]row, error)
}

var groups = []group{
	{1, "lock + unlock, nobody else", measureAlone},
	{2, "allocations", measureAllocations},
	{3, "64 goroutines on names of their own", measureMany},
	{4, "hand-over", measureHandOver},
	{5, "1,000 idle waiters", measureIdle},
	{6, "draining 1,000 waiters", measureDrain},
	{7, "8 processes, broadcast", measureBroadcast},
	{9, "100,000 locks held", measureHeld},
	{10, "a held lock renewing", measureRenewing},
}

// run says how long to measure.
type run struct{ quick bool }

// times is how often to do something: full, or quick with --quick.
func (r run) times(full, quick int) int {
	if r.quick {
		return quick
	}
	return full
}

// long is how long to do something.
func (r run) long(full, quick time.Duration) time.Duration {
	if r.quick {
		return quick
	}
	return full
}

var errMissed = errors.New("a target is missed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == workerCommand {
		work(ctx, os.Args[2:])
		return
	}
	if err := measure(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context) error {
	quick := flag.Bool("quick", false, "shorter rounds, and fewer of them: some 50 s in all")
	asJSON := flag.Bool("json", false, "print the table as JSON")
	strict := flag.Bool("strict", false, "exit with status 1 when a target is missed")
	only := flag.String("rows", "", "measure only these rows, such as 1,4")
	flag.Parse()
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	var rows []row
	for _, g := range chosen {
		began := time.Now()
		fmt.Fprintf(os.Stderr, "%d %s … ", g.number, g.subject)
		measured, err := g.measure(ctx, run{*quick})
		if err != nil {
			return fmt.Errorf("row %d: %w", g.number, err)
		}
		fmt.Fprintf(os.Stderr, "%.0f s\n", time.Since(began).Seconds())
		for _, r := range measured {
			r.Number = g.number
			rows = append(rows, r)
		}
	}
	if *asJSON {
		err = printJSON(os.Stdout, rows)
	} else {
		err = printTable(os.Stdout, rows)
	}
	counted := tally(rows)
	fmt.Fprintf(os.Stderr, "%d targets met, %d missed\n", counted[met], counted[missed])
	if err == nil && *strict && counted[missed] > 0 {
		err = errMissed
	}
	return err
}

// choose reads the numbers of rows; none are all.
func choose(numbers string) ([]group, error) {
	if numbers == "" {
		return groups, nil
	}
	var chosen []group
	for text := range strings.SplitSeq(numbers, ",") {
		number, err := strconv.Atoi(text)
		at := slices.IndexFunc(groups, func(g group) bool { return g.number == number })
		if err != nil || at < 0 {
			return nil, fmt.Errorf("there is no row %q: choose from 1 to %d", text, len(groups))
		}
		chosen = append(chosen, groups[at])
	}
	return chosen, nil
}
