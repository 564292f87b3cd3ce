// Package stage6 tests the final lock on real redis-servers, new ones for each test: servers that
// crash, pause, are full or lose their data; clients with hooks, small pools and few rights;
// networks that break, delay or drop. The name of a test is a promise of the lock.
package stage6
