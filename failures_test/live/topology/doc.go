// Package topology runs the final lock on real redis-server processes that depend
// on each other: a master and its replica, a Sentinel group, a Cluster. There a
// lock can be forgotten by a failover, and can move while it is held.
//
// Whether a hold is safe is judged by a fenced ledger: it refuses a write whose
// token is older than one it has seen.
//
//	go test -tags live ./failures_test/live/topology
package topology
