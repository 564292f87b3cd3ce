// Command bench measures stage 6 beside the locks of redislock, redsync and
// rueidislock: what a lock costs, how fast it changes hands, what waiting costs,
// and what holding many costs. It starts the redis-server processes itself, and
// processes for each library, which take turns.
//
//	go run ./bench [--quick] [--rows 1,4] [--json]
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one line of the table: what is measured, and a cell for each kind of lock.
type row struct {
	Number int               `json:"row"`
	What   string            `json:"what"`
	Cells  map[string]string `json:"cells"`
}

// bench is one run. What it calls ends it by [check].
type bench struct {
	ctx   context.Context
	quick bool
}

// times is how often to do something: full, or quick with --quick.
func (b *bench) times(full, quick int) int {
	if b.quick {
		return quick
	}
	return full
}

// measures are the rows by their numbers, from 1.
var measures = []func(*bench) []row{
	(*bench).roundTrips, (*bench).alone, (*bench).sideBySide, (*bench).handOver, (*bench).idle, (*bench).crowd,
	(*bench).held, (*bench).renewing, (*bench).names,
}

func main() {
	serve()
	quick := flag.Bool("quick", false, "shorter rounds, and fewer of them: half a minute in all")
	asJSON := flag.Bool("json", false, "print the table as JSON")
	only := flag.String("rows", "", "measure only these rows, such as 1,4")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	rows, err := measure(&bench{ctx, *quick}, *only)
	stop()
	switch {
	case err != nil:
	case *asJSON:
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(rows)
	default:
		err = printTable(os.Stdout, rows)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// measure measures the rows of these numbers, such as "1,4"; of none, all.
func measure(b *bench, numbers string) (rows []row, err error) {
	chosen := strings.Split(numbers, ",")
	for _, text := range chosen {
		if n, err := strconv.Atoi(text); numbers != "" && (err != nil || n < 1 || n > len(measures)) {
			return nil, fmt.Errorf("there is no row %q: choose from 1 to %d", text, len(measures))
		}
	}
	for i, measured := range measures {
		number := strconv.Itoa(i + 1)
		if numbers != "" && !slices.Contains(chosen, number) {
			continue
		}
		began := time.Now()
		fmt.Fprintf(os.Stderr, "row %s … ", number)
		if err := attempt(func() {
			for _, r := range measured(b) {
				r.Number = i + 1
				rows = append(rows, r)
			}
		}); err != nil {
			return nil, fmt.Errorf("row %s: %w", number, err)
		}
		fmt.Fprintf(os.Stderr, "%.0f s\n", time.Since(began).Seconds())
	}
	return rows, nil
}

// printTable writes the rows as a table.
func printTable(w io.Writer, rows []row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\twhat\t%s\n", strings.Join(kinds, "\t"))
	for _, r := range rows {
		fmt.Fprintf(table, "%d\t%s", r.Number, r.What)
		for _, kind := range kinds {
			fmt.Fprint(table, "\t", r.Cells[kind])
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// failed is the panic of [check].
type failed struct{ error }

// check ends what [attempt] runs if there is an error: a measurement cannot go on
// without any of its steps.
func check(err error) {
	if err != nil {
		panic(failed{err})
	}
}

// attempt runs f and returns the error with which it failed.
func attempt(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(failed).error // any other panic goes on as one
		}
	}()
	f()
	return nil
}
