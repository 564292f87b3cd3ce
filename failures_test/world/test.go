package world

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Test runs an ordinary test in a new bubble, on the servers of a new world: it calls the lock itself,
// starts goroutines and sleeps. The world executes what arrives whenever all goroutines are blocked. In
// place of synctest.Wait the test calls [World.Wait], and it calls the world's other methods in [World.Do].
// The trace has the commands, without the keys.
func Test(t *testing.T, config Config, test func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, err := newEmbeddedWorld(config)
		if err != nil {
			t.Fatal(err)
		}
		w.isTest = true
		over := make(chan struct{})
		go w.serve(over)
		t.Cleanup(func() {
			w.Do(func() { close(over) })
			w.close()
		})
		test(t, w)
	})
}

// longestWait is longer than any lease or pause of a test.
const longestWait = 100 * 365 * 24 * time.Hour

// serve runs the world until over is closed.
func (w *World) serve(over chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
			w.until(time.Now().Add(longestWait), w.doNext)
		}
	}
}

// Do runs do in the goroutine of a [Test]'s world, once nothing else can happen without time passing. It
// returns when do has returned. Any other goroutine of the bubble may call it.
func (w *World) Do(do func()) {
	done := make(chan struct{})
	w.mu.Lock()
	w.asked = append(w.asked, func() { do(); close(done) })
	w.mu.Unlock()
	notify(w.wake)
	<-done
}

// Wait waits until nothing else can happen without time passing, as synctest.Wait does.
func (w *World) Wait() { w.Do(func() {}) }

// doNext runs the next function that was given to Do, if there is one.
func (w *World) doNext() bool {
	w.mu.Lock()
	if len(w.asked) == 0 {
		w.mu.Unlock()
		return false
	}
	do := w.asked[0]
	w.asked = w.asked[1:]
	w.mu.Unlock()
	do()
	return true
}

// Connect returns a client of a new process, without a lock.
func (n *Node) Connect(change ...func(*redis.Options)) *redis.Client {
	w := n.world
	p := w.newProcess("P" + strconv.Itoa(len(w.processes)+1)).process
	p.rdbs = []*redis.Client{p.connect(n, change...)}
	return p.rdbs[0]
}

// Connections returns the number of open connections to the server.
func (n *Node) Connections() (open int) {
	for wire := range n.world.wires {
		if wire.node == n {
			open++
		}
	}
	return open
}

// Embedded returns the server of a [Test]. Any goroutine may look at its keys and change them.
func (n *Node) Embedded() *miniredis.Miniredis { return n.server.(*embedded).mini }
