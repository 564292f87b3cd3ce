// Command stages is a worker for a lock of this repository: go run ./failures_test/foreign/workers/stages 4
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockkata/failures_test/adapters"
	"lockkata/failures_test/world"
	"lockkata/internal/stages"
)

func main() {
	ms, _ := strconv.Atoi(os.Getenv("LOCK_LEASE_MS"))
	lease := time.Duration(ms) * time.Millisecond
	rdb := redis.NewClient(&redis.Options{
		Addr: os.Getenv("LOCK_REDIS"), Protocol: 2, DisableIdentity: true, MaxRetries: -1, PoolSize: 16,
		ReadTimeout: 3 * lease, WriteTimeout: 3 * lease, DialTimeout: 3 * lease, PoolTimeout: 3 * lease, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	subject := stages.MustFind(os.Args[1]).Subject
	lock, err := subject.New(adapters.Using(rdb), os.Getenv("LOCK_NAME"), lease)
	if err != nil {
		panic(err)
	}
	w := worker{lock: lock, calls: map[string]context.CancelFunc{}}
	ready := "ready 1"
	for _, has := range subject.Has {
		if has == "watchdog" || has == "re-entry" || has == "pub/sub" {
			ready += " " + string(has)
		}
	}
	w.say(ready)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		w.read(strings.Fields(in.Text()))
	}
}

type worker struct {
	lock  world.Locker
	mu    sync.Mutex
	calls map[string]context.CancelFunc
}

func (w *worker) say(words ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Println(words...)
}

// read begins a call, or cancels one.
func (w *worker) read(words []string) {
	id, op, argument := words[0], words[1], words[2]
	w.mu.Lock()
	defer w.mu.Unlock()
	if op == "cancel" {
		if cancel := w.calls[argument]; cancel != nil {
			cancel()
		}
		go w.say(id, "yes")
		return
	}
	ctx, cancel := context.WithCancel(world.WithClientName(context.Background(), argument))
	if ms, _ := strconv.Atoi(words[3]); ms > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	}
	w.calls[id] = cancel
	go w.call(ctx, id, op, argument)
}

func (w *worker) call(ctx context.Context, id, op, caller string) {
	done, err := true, error(nil)
	switch op {
	case "lock":
		err = w.lock.Lock(ctx)
	case "try":
		done, err = w.lock.TryLock(ctx)
	case "unlock":
		err = w.lock.Unlock(ctx)
	case "close":
		if closer, ok := w.lock.(io.Closer); ok {
			err = closer.Close()
		}
	}
	if op != "unlock" && op != "close" && done && err == nil {
		w.watch(ctx, caller)
	}
	var network net.Error
	var answered redis.Error
	switch {
	case err == nil && done:
		w.say(id, "yes")
	case err == nil:
		w.say(id, "no")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		w.say(id, "timeout", err)
	case errors.Is(err, io.EOF), errors.As(err, &network), errors.As(err, &answered), errors.Is(err, redis.ErrClosed):
		w.say(id, "unknown", err)
	default:
		w.say(id, "refused", err)
	}
}

// watch tells of the loss of a hold.
func (w *worker) watch(ctx context.Context, caller string) {
	noticing, ok := w.lock.(world.Noticing)
	if !ok {
		return
	}
	if ended, isLost := noticing.Lost(ctx); ended != nil {
		go func() {
			if <-ended; isLost() {
				w.say("lost", caller)
			}
		}()
	}
}
