// Package redisson has stage 6, with its RedissonLayout, and a real Redisson share one
// lock: each check is run with Go as the one that holds and with Redisson. And it
// shows that the checks convict a stage 6 with a mistake.
//
//	go test -v -tags live ./failures_test/live/redisson
package redisson
