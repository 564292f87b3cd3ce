// Package redisson tests that stage 6, with its RedissonLayout, and a real Redisson can
// share one lock. Most checks run twice, with the roles of Go and Redisson exchanged.
// Another test shows that the checks fail for a stage 6 with a mistake.
//
//	go test -v -tags live ./failures_test/live/redisson
package redisson
