package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"lockkata/failures_test/live/fleet"
	"lockkata/failures_test/live/redisserver"
)

// site is a redis-server, a connection of our own to ask it, and the processes that
// use it.
type site struct {
	*bench
	server  *redisserver.Server
	rdb     *redis.Client
	workers []worker
}

// onSite measures on a redis-server of its own, which ends with all that uses it.
func (b *bench) onSite(measure func(*site)) {
	server, err := redisserver.Start(b.ctx, redisserver.Config{Port: redisserver.AnyPort})
	check(err)
	s := &site{bench: b, server: server, rdb: redisserver.NewClient(server.Socket())}
	defer func() {
		for _, w := range s.workers {
			w.Kill()
		}
		check(errors.Join(s.rdb.Close(), server.Close()))
	}()
	check(s.rdb.Ping(b.ctx).Err()) // what connecting sends is sent
	measure(s)
}

// each measures all kinds side by side, each on a site of its own.
func (b *bench) each(measure func(s *site, kind string) string) map[string]string {
	measured := make([]string, len(kinds))
	var group errgroup.Group
	for i, kind := range kinds {
		group.Go(func() error {
			return attempt(func() { b.onSite(func(s *site) { measured[i] = measure(s, kind) }) })
		})
	}
	check(group.Wait())
	return cells(func(kind string) string { return measured[slices.Index(kinds, kind)] })
}

// cells has what is said of each kind.
func cells(of func(kind string) string) map[string]string {
	all := map[string]string{}
	for _, kind := range kinds {
		all[kind] = of(kind)
	}
	return all
}

// rest lets some time pass.
func (b *bench) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
		check(b.ctx.Err())
	}
}

// info is a number of INFO.
func (s *site) info(section, field string) int {
	text, err := s.rdb.Info(s.ctx, section).Result()
	check(err)
	_, rest, _ := strings.Cut(text, "\n"+field+":")
	number, _, _ := strings.Cut(rest, "\r")
	n, err := strconv.Atoi(number)
	check(err)
	return n
}

// counts says how often clients have sent each command, by its name in lower case.
type counts map[string]int

// sum is how many commands there were.
func (c counts) sum() (n int) {
	for _, each := range c {
		n += each
	}
	return n
}

// sent counts the commands that clients send while work is done, as MONITOR shows
// them: it marks those that scripts call, which do not count.
func (s *site) sent(work func()) counts {
	conn, err := net.Dial("unix", s.server.Socket())
	check(err)
	defer conn.Close()
	_, err = conn.Write([]byte("MONITOR\r\n"))
	check(err)
	lines := bufio.NewReader(conn)
	_, err = lines.ReadString('\n') // +OK
	check(err)
	seen := make(chan counts, 1)
	go func() { seen <- count(lines) }()
	work()
	check(s.rdb.Echo(s.ctx, endOfCount).Err())
	return <-seen
}

// endOfCount is what nobody else echoes.
const endOfCount = "the end of what is counted"

// count counts to the end of what is counted. The lines are such as
//
//	+1753000000.123456 [0 127.0.0.1:40000] "evalsha" "…" "1" "order:1001"
//	+1753000000.123460 [0 lua] "hset" "order:1001" "…" "1"
func count(lines *bufio.Reader) counts {
	sent := counts{}
	for {
		line, err := lines.ReadString('\n')
		if err != nil || strings.Contains(line, endOfCount) {
			return sent
		}
		head, command, _ := strings.Cut(line, `] "`)
		name, _, _ := strings.Cut(command, `"`)
		if !strings.HasSuffix(head, " lua") {
			sent[strings.ToLower(name)]++
		}
	}
}

// worker is another process of this program, with a locker of its own.
type worker struct{ *fleet.Process }

// start starts a worker, which ends with the site.
func (s *site) start(t task) worker {
	t.Addr = s.server.Addr()
	p, err := fleet.Start(fleet.Again(t))
	check(err)
	w := worker{p}
	s.workers = append(s.workers, w)
	return w
}

// holder starts a worker that holds N locks.
func (s *site) holder(t task, name string, n int) worker {
	w := s.start(t)
	w.ask(order{Do: holdOrder, Name: name, N: n})
	return w
}

// tell gives an order.
func (w worker) tell(o order) { check(w.Tell(o)) }

// hear waits for an answer. Those to several orders come in any order.
func (w worker) hear() (a answer) {
	check(w.Hear(&a))
	if a.Error != "" {
		check(fmt.Errorf("bench: a worker says: %s", a.Error))
	}
	return a
}

// ask gives an order and waits for the answer.
func (w worker) ask(o order) answer {
	w.tell(o)
	return w.hear()
}
