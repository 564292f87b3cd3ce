package oracle

import (
	"slices"
	"time"

	"lockkata/failures_test/trace"
	"lockkata/internal/i18n"
)

var (
	hiddenLossText = i18n.New("Unlock returned nil, but {client} had already lost the lock")
	earlyLossText  = i18n.New("the lock told {client} that its hold was lost, but its key is there, and its lease lasts for another {time}")
)

// lossReported reports Unlocks that hide a loss: they return nil although the client has lost its hold.
func lossReported(f *file) func(*trace.Scene) {
	mine := map[string][]string{} // client → the servers that still have its hold
	lost := map[string]bool{}     // client → its hold disappeared while it believed in it
	isMine := func(client string) bool { return f.IsMajority(len(mine[client])) }
	return func(s *trace.Scene) {
		e := s.Event
		for _, effect := range e.Effects {
			owner := effect.Owner.Client
			others := slices.DeleteFunc(slices.Clone(mine[owner]), func(server string) bool { return server == e.Server })
			switch effect.Kind {
			case trace.Installed:
				mine[owner] = append(others, e.Server)
			case trace.Lapsed, trace.Removed, trace.Overwritten:
				was := isMine(owner)
				mine[owner] = others
				lost[owner] = lost[owner] || was && !isMine(owner) && s.Holds(owner) > 0
			}
		}
		if e.Acquires() {
			lost[e.Client] = !isMine(e.Client)
		}
		if e.Kind != trace.Returned || e.Op != trace.OpUnlock {
			return
		}
		if lost[e.Client] && e.Result.Claim == trace.ClaimDone && !f.hasFreed(e.Call) {
			f.report(e, hiddenLossText)
		}
		if s.Holds(e.Client) == 0 { // if a hold is left, its Unlock has to report the loss too
			lost[e.Client] = false
		}
	}
}

// earlyLoss reports holders that are told of a loss before they unlock, although their key is there
// and much is left of the lease that Redis gave them last. A client that cannot reach Redis may give
// up early.
func earlyLoss(f *file) func(*trace.Scene) {
	until := map[string]time.Duration{} // client → the end of its lease, as far as it knows
	return func(s *trace.Scene) {
		e := s.Event
		switch r := s.Request; {
		case e.Kind == trace.Delivered && r != nil && r.Executed >= 0 && r.Sent >= 0:
			for _, x := range f.Events[r.Executed].Effects {
				if x.Kind == trace.Installed || x.Kind == trace.Leased {
					until[x.Owner.Client] = f.Events[r.Sent].At + f.Lease
				}
			}
		case e.Kind == trace.Cut, e.Kind == trace.Frozen, e.Kind == trace.Dropped, e.Kind == trace.Delayed:
			clear(until)
		case e.Kind == trace.Called && e.Op == trace.OpClose: // Close ends the holds of the process
			clear(until)
		case e.Kind == trace.Lost:
			lasts := until[e.Client] - e.At
			if s.Before.Holds(e.Client) > 0 && owns(f.Trace, s.Keys, e.Client) && lasts > f.Lease/3+Grace(f.Trace) {
				f.report(e, earlyLossText, "time", lasts.Truncate(time.Millisecond))
			}
		}
	}
}
