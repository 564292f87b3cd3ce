package main

import (
	"fmt"
	"time"
)

// renewals are how often in a lease the kinds renew that do.
var renewals = map[string]time.Duration{stage6Kind: 3, rueidisKind: 2}

const noRenewal = "renews nothing"

// held has one process take very many locks, and then hold them for a period of
// renewal.
func (b *bench) held() []row {
	locks := map[string]int{stage6Kind: b.times(100_000, 20_000), rueidisKind: b.times(5_000, 2_000)}
	lease := time.Duration(b.times(15, 6)) * time.Second
	return []row{{
		What: fmt.Sprintf("%d locks held (rueidislock: %d): goroutines at rest, round trips in a period of renewal",
			locks[stage6Kind], locks[rueidisKind]),
		Cells: b.each(func(s *site, kind string) string {
			if locks[kind] == 0 {
				return noRenewal
			}
			w := s.holder(task{Kind: kind, Lease: lease, Count: true}, "held", locks[kind])
			a := w.ask(order{Do: watchOrder, For: lease / renewals[kind]})
			return fmt.Sprintf("%d, %d", a.Goroutines, a.Trips)
		}),
	}}
}

// renewingLease makes the 360 periods of an hour, at the default lease of stage 6,
// pass in 22 s.
const renewingLease = 180 * time.Millisecond

func (b *bench) renewing() []row {
	watched := time.Duration(b.times(360, 60)) * renewingLease / 3
	return []row{{
		What: fmt.Sprintf("a held lock renewing for %.0f s: commands in a period", watched.Seconds()),
		Cells: b.each(func(s *site, kind string) string {
			if renewals[kind] == 0 {
				return noRenewal
			}
			s.holder(task{Kind: kind, Lease: renewingLease}, "renewing", 1)
			s.rest(renewingLease) // the scripts are loaded
			periods := float64(watched) / float64(renewingLease/renewals[kind])
			return fmt.Sprintf("%.2f", float64(s.sent(func() { s.rest(watched) }).sum())/periods)
		}),
	}}
}
