// Package stage6 tests the final lock on real redis-servers, one for each test: servers
// that die, are stopped, run full or lose their data; clients with hooks, small pools and
// few rights; networks that break, delay or drop. A test's name is a promise of the lock.
package stage6
