// Package soak runs a lock on real processes under random faults, and checks the history with
// porcupine.
//
//	go test -v -tags live -run TestSoak ./failures_test/live/soak -for 60s
//	go test -v -tags live -run TestSoak ./failures_test/live/soak -for 10s -lock stage4
//
// Eight worker processes with sixteen goroutines each share four locks on one redis-server. Each
// lock guards a counter, the ledger, on a second redis-server. A worker that holds the lock reads
// the counter and writes it back plus one. During this, faults kill and stop workers and the
// server, and break, block and delay connections (faults_test.go).
//
// Afterwards the locks and the ledgers must be linearizable (model_test.go). A hold may end late by
// as much as probes in its process saw that timers were late (probes_test.go). In addition, no
// waiter may have waited for a free lock, no key may be left, and no worker may have ended by
// itself. A run without violations is no proof.
package soak
