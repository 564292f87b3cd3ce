package main

import (
	"context"
	"fmt"
	"time"
)

// idleKinds wait side by side, each at a redis-server of its own.
var idleKinds = []string{stage6Kind, rueidisKind, bsmKind, redsyncKind}

// waiting is what the waiters of one process cost.
type waiting struct {
	commands int
	cpu      float64 // seconds
}

func measureIdle(ctx context.Context, r run) ([]row, error) {
	watched := r.long(10*time.Second, 3*time.Second)
	waiters := r.times(1000, 1000)
	var began []*idleScene
	defer func() {
		for _, scene := range began {
			scene.end()
		}
	}()
	for _, kind := range idleKinds {
		scene, err := beginIdle(ctx, kind, waiters)
		if scene != nil {
			began = append(began, scene)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
	}
	for _, scene := range began {
		if err := scene.read(ctx, &scene.before, &scene.cpuBefore); err != nil {
			return nil, err
		}
	}
	select {
	case <-time.After(watched):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	cost := map[string]waiting{}
	for _, scene := range began {
		var after counts
		var cpu float64
		if err := scene.read(ctx, &after, &cpu); err != nil {
			return nil, err
		}
		cost[scene.kind] = waiting{after.since(scene.before).wire(inside(scene.kind)), cpu - scene.cpuBefore}
	}
	return idleRows(watched, cost), nil
}

func idleRows(watched time.Duration, cost map[string]waiting) []row {
	ours := cost[stage6Kind]
	return []row{
		{
			What: fmt.Sprintf("1,000 waiters idle for %v: commands", watched),
			Ours: fmt.Sprint(ours.commands),
			Beside: fmt.Sprintf("rueidislock %d, redislock %d, redsync %d",
				cost[rueidisKind].commands, cost[bsmKind].commands, cost[redsyncKind].commands),
			Target: "<= 2", Verdict: verdictOf(ours.commands <= 2),
		},
		{
			What: "CPU seconds of their process",
			Ours: fmt.Sprintf("%.3f", ours.cpu),
			Beside: fmt.Sprintf("rueidislock %.3f, redislock %.2f, redsync %.2f",
				cost[rueidisKind].cpu, cost[bsmKind].cpu, cost[redsyncKind].cpu),
			// What the runtime of Go, and the question itself, need.
			Target: "< 0.005 of the time", Verdict: verdictOf(ours.cpu < 0.005*watched.Seconds()),
		},
	}
}

// idleScene is a server, a holder of a lock there, and a process that waits.
type idleScene struct {
	kind      string
	server    *server
	holder    *locker
	waiters   *worker
	before    counts
	cpuBefore float64
}

func beginIdle(ctx context.Context, kind string, waiters int) (*idleScene, error) {
	s, err := startServer(ctx)
	if err != nil {
		return nil, err
	}
	scene := &idleScene{kind: kind, server: s}
	if scene.holder, _, err = open(kind, settings{Addr: s.addr()}); err != nil {
		return scene, err
	}
	if _, err := scene.holder.lock(ctx, "idle"); err != nil {
		return scene, err
	}
	if scene.waiters, err = startWorker(kind, settings{Addr: s.addr()}); err != nil {
		return scene, err
	}
	_, err = scene.waiters.ask(order{Do: idleOrder, Name: "idle", N: waiters, For: time.Second})
	return scene, err
}

// read reads what the server has executed and what the process has used.
func (scene *idleScene) read(ctx context.Context, executed *counts, cpu *float64) error {
	c, err := scene.server.counts(ctx)
	if err != nil {
		return err
	}
	a, err := scene.waiters.ask(order{Do: usageOrder})
	*executed, *cpu = c, a.CPU
	return err
}

// end ends what was begun. What cannot be closed any more ends with its process.
func (scene *idleScene) end() {
	if scene.waiters != nil {
		scene.waiters.end()
	}
	if scene.holder != nil {
		_ = scene.holder.close()
	}
	_ = scene.server.close()
}
