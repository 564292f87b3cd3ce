// Package topology runs stage 6 on redis-servers that depend on each other: a master and its
// replica, a Sentinel group, a Cluster. There a failover can lose a lock, and a lock can move while
// it is held.
//
// A fencing token shows that a hold is stale: a resource that keeps the highest token refuses a
// lower one.
//
//	go test -tags live ./failures_test/live/topology
package topology
