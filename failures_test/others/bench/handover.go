package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

func (b *bench) handOver() []row {
	return []row{
		{What: "hand-over in one process, median ms", Cells: b.handOvers(1)},
		{What: "hand-over between two processes, median ms", Cells: b.handOvers(2)},
	}
}

// pollsEvery is how many rounds come before the next one with those that poll:
// each hand-over of theirs takes some 100 ms.
const pollsEvery = 12

// handOvers measures hand-overs of all kinds, turn by turn, in one process or
// between two.
func (b *bench) handOvers(processes int) map[string]string {
	took := map[string][]float64{}
	b.onSite(func(s *site) {
		couples := map[string][]worker{} // the one that holds, and the one that is to get it next
		for _, kind := range kinds {
			first := s.start(task{Kind: kind})
			first.ask(order{Do: lockOrder, Name: kind, For: patience})
			second := first
			if processes == 2 {
				second = s.start(task{Kind: kind})
			}
			couples[kind] = []worker{first, second}
		}
		for round := range b.times(240, 36) {
			for _, kind := range kinds {
				polls := kind == bsmKind || kind == redsyncKind
				if polls && round%pollsEvery != 0 {
					continue
				}
				d := handOver(couples[kind][0], couples[kind][1], kind, polls)
				took[kind] = append(took[kind], float64(d)/float64(time.Millisecond))
				couples[kind][0], couples[kind][1] = couples[kind][1], couples[kind][0]
			}
		}
	})
	return cells(func(kind string) string { return fmt.Sprintf("%.2f", median(took[kind])) })
}

// handOver hands a lock from one to the other, which may be the same process. It
// returns how long that takes: from when unlock is called until lock returns.
func handOver(holder, waiter worker, name string, polls bool) time.Duration {
	waiter.tell(order{Do: lockOrder, Name: name, For: patience})
	// Time to begin to wait. For one that polls it is as long as a pause between
	// polls, and random, so that the unlock comes at any point of it.
	if polls {
		time.Sleep(10*time.Millisecond + rand.N(100*time.Millisecond))
	} else {
		time.Sleep(4*time.Millisecond + rand.N(2*time.Millisecond))
	}
	holder.tell(order{Do: unlockOrder, Name: name})
	one, other := holder.hear(), waiter.hear()
	return time.Duration(max(one.Locked, other.Locked) - max(one.Unlocked, other.Unlocked))
}
