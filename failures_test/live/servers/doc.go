// Package servers tests what docs/servers.md says about Redis, Valkey, go-redis and miniredis. A test
// knows the answers of the servers in known. To run it on one that is not redis-server in PATH:
//
//	LOCKKATA_REDIS_SERVER=/path/to/valkey-server go test -tags servers ./failures_test/live/servers
package servers
