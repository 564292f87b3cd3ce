// Package topology runs stage 6 on real redis-server processes that depend on each
// other: a master and its replica, a Sentinel group, a Cluster. There a lock can be
// forgotten by a failover, and can move while it is held.
//
// A fencing token shows that a hold is stale: a resource that keeps the highest token
// refuses a lower one.
//
//	go test -tags live ./failures_test/live/topology
package topology
