// Package interview is a mock interview in a terminal. It asks the questions of
// docs/interview.md, spread over the themes, and between them shows a lock under a
// schedule that no document has and asks what happens next; the answer to that comes
// from running it. In the end it says what to read again.
package interview
