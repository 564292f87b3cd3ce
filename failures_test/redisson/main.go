// Command redisson shows that stage 6, with its RedissonLayout, and a real
// Redisson share one RLock. It starts a redis-server, a Java process with a
// Redisson in it, and runs each check in both directions.
//
//	./run                              # builds the Java side first
//	./run --layout channel-misspelt    # a lock with a mistake, which the checks convict
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	holdUntilKilled()
	target := flag.String("java", "target", "the `folder` into which Maven has built the Java side")
	layout := flag.String("layout", faithful.Name, "how the Go side names and does things: redisson, or one with a mistake")
	repeat := flag.Int("repeat", 15, "how many wake-ups are measured each way")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := show(ctx, *target, *layout, *repeat)
	stop()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// play is what is shown in one arena.
type play struct {
	title   string
	mode    mode
	variant variant
	checks  []check
}

// plays are what is shown of a lock that does as it should: on a single server, and
// in a Cluster where Redisson publishes as stage 6 does.
var plays = []play{
	{"a single server", single, faithful, checks},
	{"a Cluster, Redisson's shardedSubscriptionMode OFF", clusterUnsharded, faithful, clusterChecks},
}

// show prints the result of each check. It returns an error if one fails.
func show(ctx context.Context, target, layout string, repeat int) error {
	v, err := variantNamed(layout)
	if err != nil {
		return err
	}
	if repeat < 1 {
		return fmt.Errorf("--repeat %d measures nothing: give it 1 at least", repeat)
	}
	shown := plays
	if v.Name != faithful.Name {
		shown = []play{{"a single server, with the mistake " + v.Name, single, v, checks}}
	}
	run, failed := 0, 0
	for _, p := range shown {
		n, red, err := p.show(ctx, target, repeat)
		if err != nil {
			return err
		}
		run, failed = run+n, failed+red
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, run)
	}
	fmt.Printf("all %d checks hold\n", run)
	return nil
}

// show prints what comes of the play, and returns how many checks there were and
// how many failed.
func (p play) show(ctx context.Context, target string, repeat int) (run, failed int, err error) {
	a, err := newArena(ctx, target, p.mode)
	if err != nil {
		return 0, 0, err
	}
	fmt.Printf("stage 6 and Redisson %s on one RLock: %s\n", a.java.version, p.title)
	err = a.runChecks(ctx, p.variant, p.checks, repeat, everyCheck, func(r result) {
		r.print(os.Stdout)
		run++
		if r.Err != nil {
			failed++
		}
	})
	fmt.Println()
	return run, failed, errors.Join(err, a.Close())
}
