//go:build live

package redisson_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// check is a test with both libraries. It runs once for each side in first, which plays the first
// role.
type check struct {
	name, text string // text has two %s: the first and the second side
	modes      []string
	first      []string
	run        func(r *round)
}

var (
	modes  = []string{single, cluster}
	either = []string{"Go", "Redisson"}
)

var checks = []check{
	{"exclusion", "%s holds, %s is refused", modes, either, excludes},
	{"wake-up", "%s unlocks, %s waited for it", modes, either, wakes},
	{"counts", "%s re-enters and unlocks in part, %s stays out", modes, either, counts},
	{"renewal", "%s holds for longer than its lease, %s stays out", modes[:1], either, renews},
	{"expiry", "%s's fixed lease ends, %s gets the lock", modes[:1], either, expires},
	{"force", "%[2]s forces %[1]s's lock, which is noticed", modes, either, forces},
	{"names", "%s unlocks locks of odd names, %s waited for them", modes[:1], either, namesAgree},
	{"slots", "%s can use every name that %s can", modes[1:], either[:1], slotsAgree},
	{"contention", "owners of %s and %s at once: only one holds the lock", modes[:1], either[:1], contends},
}

func excludes(r *round) {
	a, b := r.owner(r.a), r.owner(r.b)
	r.says(a, "tryLock", true)
	r.says(b, "tryLock", false, "unlock", "not held")
	r.says(a, "unlock", "ok")
	r.says(b, "tryLock", true, "unlock", "ok")
}

func wakes(r *round) {
	a := r.owner(r.a)
	r.says(a, "lock", "ok")
	next, got := r.waits(r.b)
	r.says(a, "unlock", "ok")
	r.woken(next, got)
	r.says(next, "unlock", "ok")
}

// counts compares the count in the hash and the answers of both sides after each step.
func counts(r *round) {
	a, b := r.owner(r.a), r.owner(r.b)
	count := 0
	for _, command := range []string{"lock", "lock", "lock", "unlock", "lock", "unlock", "unlock"} {
		r.says(a, command, "ok")
		if count++; command == "unlock" {
			count -= 2
		}
		if hash := fmt.Sprint(r.node.Rdb.HVals(r.ctx, r.lock).Val()); hash != fmt.Sprintf("[%d]", count) {
			r.fail("after %s's %s the count is %d, in the hash %s", a.side, command, count, hash)
		}
		r.says(a, "holdCount", count, "isLocked", true)
		r.says(b, "holdCount", 0, "isLocked", true, "tryLock", false)
	}
	r.says(a, "unlock", "ok", "isLocked", false)
	r.says(b, "isLocked", false, "tryLock", true, "unlock", "ok")
}

func renews(r *round) {
	a, b := r.owner(r.a), r.owner(r.b)
	r.says(a, "lock", "ok")
	time.Sleep(lease * 5 / 4)
	r.says(b, "tryLock", false)
	r.says(a, "unlock", "ok")
}

func expires(r *round) {
	a, b := r.owner(r.a), r.owner(r.b)
	start := time.Now()
	r.says(a, "lockBriefly", "ok")
	r.says(b, "lock", "ok")
	if late := time.Since(start) - brief; late < 0 || late > lease {
		r.fail("%s gets the lock %v after the end of the lease", b.side, late)
	}
	r.lost(a, b)
}

// forces lets b force the lock of a and take it, and force it again while another owner of a's side waits for it.
func forces(r *round) {
	a, b := r.owner(r.a), r.owner(r.b)
	r.says(a, "lock", "ok")
	r.says(b, "forceUnlock", true, "tryLock", true)
	r.lost(a, b)
	r.says(a, "lock", "ok")
	next, got := r.waits(r.a)
	r.says(b, "forceUnlock", true)
	r.woken(next, got)
	r.lost(a, next)
	r.says(b, "forceUnlock", false)
}

// agreedNames are names with complete, incomplete and no hash tags. On a single server, Go and
// Redisson have to use the same keys for each. (Stage 6 refuses an empty name, and one that starts
// with }.)
var agreedNames = []string{
	"order", "order 1001", "订单", "{order}:1001", "a{b}c", "{a}{b}", "a}b", "a{b", "{}x", "{}", "{", "{{a}}", "a*b?",
}

// named calls run with each name and a unique suffix; the braces stay the same.
func (r *round) named(run func(r *round)) {
	unique := "#" + r.lock
	for _, name := range agreedNames {
		r.lock = name + unique
		run(r)
	}
}

func namesAgree(r *round) { r.named(wakes) }

// slotsAgree checks which names work in a Cluster. Redisson's unlock has lock and channel as keys,
// stage 6's acquire has lock and token. Redis refuses keys in more than one slot.
func slotsAgree(r *round) {
	usable := func(s side) bool {
		execute, err := s.owner(r.lock)
		for _, command := range []string{"lock", "unlock"} {
			if err == nil {
				_, err = execute(r.ctx, command)
			}
		}
		return err == nil
	}
	r.named(func(r *round) {
		if !usable(r.a) && usable(r.b) {
			r.fail("only Redisson can use %q", r.lock)
		}
	})
}

// contends lets owners of both sides compete for the lock.
func contends(r *round) {
	var inside atomic.Int64
	var all sync.WaitGroup
	for _, s := range []side{r.a, r.b, r.a, r.b, r.a, r.b} {
		all.Go(func() {
			o := r.owner(s)
			for range 10 {
				r.says(o, "lock", "ok")
				if n := inside.Add(1); n != 1 {
					r.fail("%d owners hold the lock at once", n)
				}
				time.Sleep(2 * time.Millisecond) // long enough to see a second holder
				inside.Add(-1)
				r.says(o, "unlock", "ok")
			}
		})
	}
	all.Wait()
}
