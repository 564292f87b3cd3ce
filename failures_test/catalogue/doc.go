// Package catalogue lists the failures of Redis locks, in a file for each family.
//
// A [Failure] is data: its story, the rules that it is about, what has to happen for it to be tested,
// and the script that plays it. Package failures runs it on a lock and judges the run.
package catalogue
