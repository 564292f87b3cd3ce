package world

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
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
		over := false
		go func() {
			doNext := func() bool {
				select {
				case do := <-w.asked:
					do()
					return true
				default:
					return false
				}
			}
			for !over {
				if !w.until(time.Now().Add(longestWait), doNext) {
					(<-w.asked)() // synctest reports the deadlock
				}
			}
		}()
		t.Cleanup(func() {
			w.Do(func() { over = true })
			w.close()
		})
		test(t, w)
	})
}

// longestWait is longer than any lease or pause of a test.
const longestWait = 100 * 365 * 24 * time.Hour

// Do runs do in the goroutine of a [Test]'s world, once nothing else can happen without time passing. It
// returns when do has returned. Any other goroutine of the bubble may call it.
func (w *World) Do(do func()) {
	done := make(chan struct{})
	notify(w.wake)
	w.asked <- func() { do(); close(done) }
	<-done
}

// Wait waits until nothing else can happen without time passing, as synctest.Wait does.
func (w *World) Wait() { w.Do(func() {}) }

// NewProcess starts a process without a lock, which may connect to this server.
func (n *Node) NewProcess() *Process {
	return n.world.newProcess("P"+strconv.Itoa(len(n.world.processes)+1), []*Node{n}).process
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
