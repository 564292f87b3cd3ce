// Package interpreter runs a lock from its text: what a visitor of the playground writes
// becomes a [failures.Subject], which the world, the catalogue, the game and the search run
// as they run a compiled one.
//
// The text is checked by go/types against what the libraries really declare, so a mistake is
// said as a compiler says it. Then it becomes closures, which call the libraries by
// reflection: channels, timers and goroutines are Go's own, also in a bubble. What the
// interpreter does not know it refuses when it reads the text, with how to go on, and it
// guesses nothing. Each frame knows its line: so the world learns which line sent a command,
// and a lock that does not end is stopped at one.
//
// Why one of our own: yaegi's last release that a go.mod can name here is 0.16.1, of 2024.
// It loses assignments without a word, has no type checker that says what the compiler says,
// neither stops a loop nor knows the line of a command without text woven into the lock, and
// adds 2.8 MB to a page where this adds 0.4. ixgo, which is kept, is not to be had by
// go.mod, and needs the linker's checks switched off. The Go that a lock is written in is
// small enough to be told from what is not: the tests compile one program and interpret it,
// and want the same answers; the locks of the stages and steps, and those of strangers, leave
// the same traces, event by event. A generic function is compiled for each of its lists of
// type arguments; what is generic in Go's libraries is on a shelf, in Go, and interpreted too.
//
// What it cannot stop: a goroutine that blocks inside a library for good, such as in a
// sync.Once whose function waits. A page then starts its worker anew.
package interpreter

//go:generate go run ./generate
