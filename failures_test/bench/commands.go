package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockkata/failures_test/redisserver"
)

// server is a redis-server of this run, and a connection of our own to ask it.
type server struct {
	process *redisserver.Server
	rdb     *redis.Client
}

func startServer(ctx context.Context) (*server, error) {
	process, err := redisserver.Start(ctx, redisserver.Config{Port: redisserver.AnyPort})
	if err != nil {
		return nil, err
	}
	return &server{process, redis.NewClient(&redis.Options{Addr: process.Addr()})}, nil
}

func (s *server) addr() string { return s.process.Addr() }

func (s *server) close() error { return errors.Join(s.rdb.Close(), s.process.Close()) }

// counts says how often a server has executed each command, by its name in lower
// case. Redis counts a command that a script calls like one that a client sends.
type counts map[string]int

// counts reads INFO commandstats.
func (s *server) counts(ctx context.Context) (counts, error) {
	info, err := s.rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return nil, err
	}
	return parseCounts(info)
}

// parseCounts reads lines such as
//
//	cmdstat_client|setinfo:calls=2,usec=5,usec_per_call=2.50,rejected_calls=0,failed_calls=0
func parseCounts(info string) (counts, error) {
	c := counts{}
	for line := range strings.Lines(info) {
		rest, ok := strings.CutPrefix(line, "cmdstat_")
		if !ok {
			continue
		}
		name, values, _ := strings.Cut(rest, ":calls=")
		calls, _, _ := strings.Cut(values, ",")
		n, err := strconv.Atoi(calls)
		if err != nil {
			return nil, fmt.Errorf("bench: cannot read %q of commandstats: %w", line, err)
		}
		c[name] = n
	}
	return c, nil
}

// since is what was executed after the other counts were read.
func (c counts) since(before counts) counts {
	diff := counts{}
	for name, n := range c {
		if n != before[name] {
			diff[name] = n - before[name]
		}
	}
	return diff
}

// scripts is how many scripts were sent.
func (c counts) scripts() int { return c["evalsha"] + c["eval"] }

// wire is how many commands clients sent, other than those of the count itself.
// inside names the commands that a library's scripts call and the library never
// sends: what it does not name counts.
func (c counts) wire(inside []string) int {
	sent := -c["info"]
	for _, n := range c {
		sent += n
	}
	for _, name := range inside {
		sent -= c[name]
	}
	return sent
}

// during counts what a server executes while work is done.
func (s *server) during(ctx context.Context, work func() error) (counts, error) {
	before, err := s.counts(ctx)
	if err != nil {
		return nil, err
	}
	if err := work(); err != nil {
		return nil, err
	}
	after, err := s.counts(ctx)
	if err != nil {
		return nil, err
	}
	return after.since(before), nil
}
