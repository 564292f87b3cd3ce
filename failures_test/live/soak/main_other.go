//go:build !unix

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "soak: it stops and continues processes with signals, which this system does not have: run it on Linux or macOS")
	os.Exit(2)
}
