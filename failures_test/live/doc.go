// Package live plays the catalogue on a real redis-server: the same scenarios, in
// real time, with a lease of a second. A failure that can run there must have the
// outcome that it has in the controlled world; that is how one knows that the
// controlled world tells the truth.
//
//	servers, err := live.Start(ctx, 12)
//	defer servers.Close()
//	verdicts := servers.Play(jobs)
//
// The processes keep nothing on disk and end with Close. [At] plays on a Redis
// that is there already and leaves everything in it alone but the lock's own keys;
// failures that disturb the whole server do not run there.
package live
