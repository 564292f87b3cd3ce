// Command others says what there is in this module: other people's Redis locks,
// through the failures of this repository, and what they cost.
package main

import "fmt"

func main() {
	fmt.Print(`Other people's Redis locks: redsync, redislock, go-zero's and rueidislock.

  go run ./cards                                          report cards: every failure of this repository on each of them
  go run ./cards show deadline-in-flight --library redsync  one card, step by step, and what the library promises
  go run ./cards defects                                  what was said of them: reproduced or refuted
  go run ./bench                                          what the whole lock costs, beside them: three minutes
  go run ./bench --quick --rows 1,4                       some rows of it, shorter

README.md says how to read both.
`)
}
