// Package stage6 tries the final lock on a real redis-server, which each test
// starts for itself: servers that die, stand still, run full or forget; clients
// with hooks, small pools and few rights; networks that break, delay or say
// nothing. A test's name is a promise of the lock.
package stage6
