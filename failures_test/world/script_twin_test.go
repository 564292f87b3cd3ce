package world

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/alicebob/miniredis/v2"
	"github.com/stretchr/testify/require"
)

// twin is two embedded Redises that get the same commands at the same fake time.
// One runs scripts in Lua states that are used again, the other leaves them to
// miniredis.
type twin struct {
	t               *testing.T
	pooled, own     *embeddedLink
	toPooled, toOwn *embeddedLink // they subscribe
}

func newTwin(t *testing.T) *twin {
	miniredis.DumpMaxLineLen = 1 << 20
	pooled, err := newEmbedded()
	require.NoError(t, err)
	own, err := newEmbedded()
	require.NoError(t, err)
	pooled.start()
	own.start()
	link := func(e *embedded) *embeddedLink { return e.newLink().(*embeddedLink) }
	w := &twin{
		t: t, pooled: link(pooled), own: link(own), toPooled: link(pooled), toOwn: link(own),
	}
	w.own.special = true
	for _, subscriber := range []*embeddedLink{w.toPooled, w.toOwn} {
		_, _ = subscriber.execute([]string{"SUBSCRIBE", "news"})
	}
	return w
}

func (w *twin) close() {
	for _, subscriber := range []*embeddedLink{w.toPooled, w.toOwn} {
		subscriber.unsubscribe()
	}
	w.pooled.redis.close()
	w.own.redis.close()
}

// both sends a command to both and asks for the same reply, the same pushes and
// the same data. It returns the reply.
func (w *twin) both(args ...string) string {
	w.t.Helper()
	got, _ := w.pooled.execute(args)
	want, _ := w.own.execute(args)
	require.Equal(w.t, pointer.ReplaceAllString(string(want), "0x"), pointer.ReplaceAllString(string(got), "0x"), "%q", args)
	synctest.Wait()
	require.Equal(w.t, string(w.toOwn.pushed()), string(w.toPooled.pushed()), "pushes after %q", args)
	require.Equal(w.t, dump(w.own.redis), dump(w.pooled.redis), "data after %q", args)
	return string(got)
}

// pointer is where a table or a function is, which differs each time.
var pointer = regexp.MustCompile("0x[0-9a-f]+")

// script sends a script as its users do, three times: it is loaded, run by its
// SHA1, and run by its source.
func (w *twin) script(source string, keys []string, argv ...string) {
	w.t.Helper()
	rest := append(append([]string{strconv.Itoa(len(keys))}, keys...), argv...)
	w.both("SCRIPT", "LOAD", source)
	w.both(append([]string{"EVALSHA", compile(source).sha}, rest...)...)
	w.both(append([]string{"EVAL", source}, rest...)...)
}

// dump is everything in a Redis that a command can see.
func dump(e *embedded) string {
	var all strings.Builder
	for db := range 3 {
		e.mini.Select(db)
		fmt.Fprintf(&all, "db %d\n%s", db, e.mini.Dump())
		for _, key := range e.mini.Keys() {
			fmt.Fprintln(&all, key, e.mini.Type(key), e.mini.TTL(key))
		}
	}
	e.mini.Select(0)
	return all.String()
}

// seed fills both with one key of each type.
func (w *twin) seed() {
	for _, line := range []string{
		"FLUSHALL", "SET s text", "SET n 41 PX 5000", "HSET h f 1 g two", "RPUSH l a b c", "SADD set x", "ZADD z 1 one 2.5 two",
	} {
		w.both(strings.Fields(line)...)
	}
}

func inTwin(t *testing.T, f func(*twin)) {
	synctest.Test(t, func(t *testing.T) {
		w := newTwin(t)
		defer w.close()
		f(w)
	})
}
