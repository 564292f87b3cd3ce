// Package soak runs a lock on real processes under random faults, and checks the
// history with porcupine.
//
//	go test -v -tags live -run TestSoak ./failures_test/live/soak -for 60s
//	go test -v -tags live -run TestSoak ./failures_test/live/soak -for 10s -lock stage4
//
// Eight worker processes with sixteen goroutines each share four locks on one
// redis-server. Each lock guards a counter, the ledger, on a second redis-server. A
// worker with the lock reads the counter and writes it back plus one. Meanwhile
// workers and the server are killed and stopped, and connections are cut, silenced
// and delayed.
//
// Afterwards the locks and the ledgers must be linearizable. In addition no waiter
// may have been left at a free lock, no key may be left, and no worker may have ended
// by itself. A run without violations is no proof.
package soak
